# VgfBackend, by the checkout's own project; libvgf.a is in the package ai-ml-sdk-vgf-library. It compiles volk itself:
# a library of its own, whatever else is built.
set(_with_vulkan "${EXECUTORCH_BUILD_VULKAN}")
set(EXECUTORCH_BUILD_VULKAN OFF)
set(EXECUTORCH_BUILD_VGF ON)
add_subdirectory("${EXECUTORCH_ROOT}/backends/arm" arm EXCLUDE_FROM_ALL)
set(EXECUTORCH_BUILD_VULKAN "${_with_vulkan}")
assay_backend_library(executorch_backend_vgf vgf_backend "${EXECUTORCH_VGF_ROOT}/lib/libvgf.a")
