# Fuzz targets: libFuzzer with AddressSanitizer, built only on request and with clang:
#
#   cmake -G Ninja -B build/fuzz -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_SCAN_FOR_MODULES=OFF -DASSAY_FUZZ=ON
#   cmake --build build/fuzz --target assay_wire_fuzz && build/fuzz/bin/assay_wire_fuzz -max_total_time=60
#
#   assay_fuzz(assay_wire_fuzz SRCS wire_fuzz.cpp LIBS assay_wire)
#
# Every target is also part of the target assay_fuzz_targets.
include_guard(GLOBAL)
option(ASSAY_FUZZ "Build the fuzz targets (needs clang)" OFF)
if(ASSAY_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "ASSAY_FUZZ needs clang: configure with -DCMAKE_CXX_COMPILER=clang++-19")
endif()
if(ASSAY_FUZZ)
  add_custom_target(assay_fuzz_targets)
endif()

# Gives a module and all it uses the instrumentation that leads the fuzzer.
function(_assay_instrument target)
  get_target_property(is_instrumented ${target} ASSAY_INSTRUMENTED)
  if(is_instrumented)
    return()
  endif()
  set_target_properties(${target} PROPERTIES ASSAY_INSTRUMENTED TRUE)
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address)
  get_target_property(deps ${target} ASSAY_DEPS)
  foreach(dep IN LISTS deps)
    _assay_target_name(${dep} dep_target)
    _assay_instrument(${dep_target})
  endforeach()
endfunction()

function(assay_fuzz target)
  cmake_parse_arguments(ARG "" "" "SRCS;LIBS" ${ARGN})
  if(NOT ASSAY_FUZZ)
    return()
  endif()
  foreach(lib IN LISTS ARG_LIBS)
    _assay_instrument(${lib})
  endforeach()
  add_executable(${target} EXCLUDE_FROM_ALL ${ARG_SRCS})
  assay_set_options(${target})
  target_compile_options(${target} PRIVATE -fsanitize=fuzzer,address)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer,address)
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
  add_dependencies(assay_fuzz_targets ${target})
endfunction()
