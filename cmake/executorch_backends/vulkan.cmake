# VulkanBackend, by the checkout's own project.
include("${EXECUTORCH_ROOT}/tools/cmake/Codegen.cmake")
executorch_load_build_variables()
set(EXECUTORCH_BUILD_VULKAN ON)
if(ASSAY_MISSING_EXTENSIONS)
  # The generator of the shaders starts in a Python that leaves some of them out.
  set(_python "${CMAKE_BINARY_DIR}/shader_python")
  list(JOIN ASSAY_MISSING_EXTENSIONS "," _extensions)
  file(CONFIGURE OUTPUT "${_python}" @ONLY NEWLINE_STYLE UNIX CONTENT [=[
#!/bin/sh
exec "@ASSAY_PYTHON@" "@CMAKE_CURRENT_SOURCE_DIR@/generate_shaders.py" "@_extensions@" "$@"
]=])
  file(CHMOD "${_python}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(PYTHON_EXECUTABLE "${_python}")
endif()
add_subdirectory("${EXECUTORCH_ROOT}/backends/vulkan" vulkan EXCLUDE_FROM_ALL)
set(PYTHON_EXECUTABLE "${ASSAY_PYTHON}")
assay_backend_library(executorch_backend_vulkan vulkan_backend)
