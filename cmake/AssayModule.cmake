# One library per module, with its tests beside it, and the layer rule: a module may use only modules
# of lower layers. Breaking the rule stops the configuration (tools/check_layers.py does the same for
# the includes themselves).
#
#   assay_module(store LAYER 3 SRCS a.cpp b.cpp DEPS base record LIBS SQLite::SQLite3
#                TESTS a_test.cpp TEST_DEPS spec TEST_LIBS …)
#
# A module named engines/fake becomes the target assay_engines_fake, alias assay::engines_fake.
#
# The sources of a module are compiled several at a time (CMake's unity build), and so are its tests:
# most of a compilation is spent in headers. So a name in an anonymous namespace must be unique within
# the module. The linter sees each source alone (preset lint), with the headers that it includes itself.
option(ASSAY_UNITY_BUILD "Compile the sources of a module several at a time" ON)

# Compiles a target's sources in units of at most eight, so that a changed file costs one short compilation.
# The specialisations of enum_names.h must precede whatever instantiates the JSON library's serializers.
function(assay_unite target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD "${ASSAY_UNITY_BUILD}" UNITY_BUILD_BATCH_SIZE 8
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"assay/base/enum_names.h\"")
endfunction()

function(_assay_target_name module out)
  string(REPLACE "/" "_" name "${module}")
  set(${out} "assay_${name}" PARENT_SCOPE)
endfunction()

function(_assay_check_layer module layer)
  foreach(dep IN LISTS ARGN)
    _assay_target_name(${dep} dep_target)
    if(NOT TARGET ${dep_target})
      message(FATAL_ERROR "module ${module} needs ${dep}, which is not declared before it; "
                          "list it first in CMakeLists.txt or src/features/CMakeLists.txt; the core uses no feature")
    endif()
    get_target_property(dep_layer ${dep_target} ASSAY_LAYER)
    if(NOT dep_layer LESS layer)
      message(FATAL_ERROR "module ${module} (layer ${layer}) may not use ${dep} (layer ${dep_layer}): "
                          "a module uses only modules of lower layers, see ARCHITECTURE.md")
    endif()
  endforeach()
endfunction()

# What makes an error of memory an end of the process rather than somebody else's code: checks of
# bounds in the standard library and in libc, guarded stacks, addresses that nobody knows, and tables
# of the linker that nobody can write. FORTIFY needs an optimiser, and sanitizers check more than it.
option(ASSAY_HARDEN "Build with the checks of compiler, libc and linker against errors of memory" ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)

function(_assay_harden target)
  if(NOT ASSAY_HARDEN)
    return()
  endif()
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  target_compile_options(${target} PRIVATE -fstack-protector-strong)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
    target_compile_options(${target} PRIVATE -fstack-clash-protection)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  if(NOT type STREQUAL "STATIC_LIBRARY")
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
endfunction()

# For targets that are compiled with the build type's own optimisation.
function(_assay_fortify target)
  if(ASSAY_HARDEN AND NOT ASSAY_SANITIZE AND NOT ASSAY_FUZZ AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_compile_options(${target} PRIVATE "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
  endif()
endfunction()

function(assay_set_options target)
  cmake_parse_arguments(ARG "UNOPTIMISED" "" "" ${ARGN})
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${ASSAY_WARNINGS_ARE_ERRORS}>:-Werror>
                         # Designated initialisers leave the other members at their defaults on purpose.
                         -Wno-missing-field-initializers)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
  _assay_harden(${target})
  if(NOT ARG_UNOPTIMISED)
    _assay_fortify(${target})
  endif()
endfunction()

# Everything that the fast tests run, to build no more than that.
if(ASSAY_BUILD_TESTS)
  add_custom_target(assay_fast_tests)
endif()

# Tests with the label fast need no engine and no network; anything else says what it needs.
function(assay_test target)
  cmake_parse_arguments(ARG "" "LABEL" "SRCS;LIBS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL fast)
  endif()
  add_executable(${target} ${ARG_SRCS})
  assay_set_options(${target} UNOPTIMISED)
  assay_unite(${target})
  # A test runs for less time than an optimiser would spend on it; what it tests is optimised.
  target_compile_options(${target} PRIVATE -O0)
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 300)
  if(ARG_LABEL STREQUAL fast)
    add_dependencies(assay_fast_tests ${target})
  endif()
endfunction()

function(assay_module module)
  cmake_parse_arguments(ARG "" "LAYER" "SRCS;DEPS;LIBS;PRIVATE_LIBS;TESTS;TEST_DEPS;TEST_LIBS" ${ARGN})
  if(NOT DEFINED ARG_LAYER OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_module(${module}): LAYER is missing, or not understood: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  _assay_check_layer(${module} ${ARG_LAYER} ${ARG_DEPS})
  _assay_target_name(${module} target)
  add_library(${target} STATIC ${ARG_SRCS})
  set_target_properties(${target} PROPERTIES ASSAY_LAYER ${ARG_LAYER} ASSAY_DEPS "${ARG_DEPS}"
                                             POSITION_INDEPENDENT_CODE ON)
  assay_set_options(${target})
  assay_unite(${target})
  foreach(dep IN LISTS ARG_DEPS)
    _assay_target_name(${dep} dep_target)
    target_link_libraries(${target} PUBLIC ${dep_target})
  endforeach()
  target_link_libraries(${target} PUBLIC ${ARG_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
  if(ARG_TESTS AND ASSAY_BUILD_TESTS)
    set(test_libs ${target} ${ARG_TEST_LIBS})
    foreach(dep IN LISTS ARG_TEST_DEPS)
      _assay_target_name(${dep} dep_target)
      list(APPEND test_libs ${dep_target})
    endforeach()
    assay_test(${target}_test SRCS ${ARG_TESTS} LIBS ${test_libs})
  endif()
endfunction()

# A program assay_<module>_sample that writes results that are always the same, in each format:
# testing/sample_main.cpp and further sources. A test compares what it prints with tests/golden/<module>/.
function(assay_sample module)
  if(NOT ASSAY_BUILD_TESTS)
    return()
  endif()
  set(target assay_${module}_sample)
  add_executable(${target} testing/sample_main.cpp ${ARGN})
  assay_set_options(${target} UNOPTIMISED)
  target_compile_options(${target} PRIVATE -O0)
  target_link_libraries(${target} PRIVATE assay_${module} assay_report_testing)
  add_dependencies(assay_fast_tests ${target})
  find_package(Python 3.10 COMPONENTS Interpreter)
  if(Python_Interpreter_FOUND)
    add_test(NAME ${module}.PrintsWhatWasApproved
             COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/approve.py" --check ${module}/
                     --bin "$<TARGET_FILE_DIR:${target}>")
    set_tests_properties(${module}.PrintsWhatWasApproved PROPERTIES LABELS fast)
  endif()
endfunction()
