# Fuzz targets. A source beside the parser defines LLVMFuzzerTestOneInput; tests/fuzz/corpus/<target>
# holds its seeds and every input that once failed.
#
#   assay_fuzz(assay_wire_fuzz SRCS wire_fuzz.cpp LIBS assay_wire)
#
# With ASSAY_FUZZ (preset fuzz, clang) the target is a libFuzzer program with AddressSanitizer and
# UndefinedBehaviorSanitizer, part of assay_fuzz_targets; `make fuzz` builds and runs them all.
# Otherwise, with the tests, <target>_replay hands the corpus to the same source: the fast test
# Fuzz.replays_<target>, with any compiler.
include_guard(GLOBAL)
option(ASSAY_FUZZ "Build the fuzz targets (needs clang)" OFF)
if(ASSAY_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "ASSAY_FUZZ needs clang: configure with the preset fuzz, or run make fuzz")
endif()
if(ASSAY_FUZZ)
  add_custom_target(assay_fuzz_targets)
endif()

set(_assay_fuzz_sanitizers address,undefined)

# Gives a module and all it uses the instrumentation that leads the fuzzer.
function(_assay_instrument target)
  get_target_property(is_instrumented ${target} ASSAY_INSTRUMENTED)
  if(is_instrumented)
    return()
  endif()
  set_target_properties(${target} PROPERTIES ASSAY_INSTRUMENTED TRUE)
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,${_assay_fuzz_sanitizers}
                                           -fno-sanitize-recover=undefined)
  get_target_property(deps ${target} ASSAY_DEPS)
  foreach(dep IN LISTS deps)
    _assay_target_name(${dep} dep_target)
    _assay_instrument(${dep_target})
  endforeach()
endfunction()

function(_assay_add_fuzzer target)
  cmake_parse_arguments(ARG "" "" "SRCS;LIBS" ${ARGN})
  foreach(lib IN LISTS ARG_LIBS)
    _assay_instrument(${lib})
  endforeach()
  add_executable(${target} EXCLUDE_FROM_ALL ${ARG_SRCS})
  assay_set_options(${target})
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer,${_assay_fuzz_sanitizers}
                                           -fno-sanitize-recover=undefined)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer,${_assay_fuzz_sanitizers})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  add_dependencies(assay_fuzz_targets ${target})
endfunction()

function(_assay_add_replay target)
  cmake_parse_arguments(ARG "" "" "SRCS;LIBS" ${ARGN})
  if(NOT TARGET assay_fuzz_replay)
    add_library(assay_fuzz_replay OBJECT "${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp")
    assay_set_options(assay_fuzz_replay UNOPTIMISED)
    target_compile_options(assay_fuzz_replay PRIVATE -O0)
    set_target_properties(assay_fuzz_replay PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  add_executable(${target}_replay ${ARG_SRCS} $<TARGET_OBJECTS:assay_fuzz_replay>)
  assay_set_options(${target}_replay UNOPTIMISED)
  target_compile_options(${target}_replay PRIVATE -O0)
  target_link_libraries(${target}_replay PRIVATE ${ARG_LIBS})
  add_test(NAME Fuzz.replays_${target}
           COMMAND ${target}_replay "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${target}")
  set_tests_properties(Fuzz.replays_${target} PROPERTIES LABELS fast TIMEOUT 300)
  add_dependencies(assay_fast_tests ${target}_replay)
endfunction()

function(assay_fuzz target)
  if(ASSAY_FUZZ)
    _assay_add_fuzzer(${target} ${ARGN})
  elseif(ASSAY_BUILD_TESTS)
    _assay_add_replay(${target} ${ARGN})
  endif()
endfunction()
