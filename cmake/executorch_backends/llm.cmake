# Operators of language models that the wheel's libraries lack: attention with a cache of keys and values, and the
# update of such a cache. They compute with AVX2 where the processor of this machine has it and libsleef-dev is installed.
include(CheckCXXSourceRuns)
check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") ? 0 : 1; }"
  ASSAY_HAS_AVX2)
find_path(ASSAY_SLEEF sleef.h)
execute_process(
  COMMAND "${ASSAY_PYTHON}" -c
    "import importlib.util as u, pathlib as p; print(p.Path(u.find_spec('torch').origin).parent / 'include')"
  OUTPUT_VARIABLE _torch OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(_operators extension/llm/custom_ops/op_sdpa.cpp extension/llm/custom_ops/op_update_cache.cpp
    kernels/optimized/blas/BlasKernel.cpp kernels/optimized/blas/CPUBlas.cpp)
list(TRANSFORM _operators PREPEND "${EXECUTORCH_ROOT}/")
add_library(assay_llm_operators STATIC EXCLUDE_FROM_ALL ${_operators})
target_include_directories(assay_llm_operators PRIVATE "${EXECUTORCH_ROOT}/third-party/ao" "${_torch}")
target_link_libraries(assay_llm_operators PRIVATE executorch_core)
if(ASSAY_SLEEF AND ASSAY_HAS_AVX2)
  target_compile_options(assay_llm_operators PRIVATE -mavx2 -mfma -mf16c)
  target_compile_definitions(assay_llm_operators PRIVATE CPU_CAPABILITY_AVX2)
  target_include_directories(assay_llm_operators PRIVATE "${ASSAY_SLEEF}")
  set(_sleef sleef)
endif()
assay_backend_library(executorch_kernels_llm assay_llm_operators ${_sleef})
