# What a Python wheel carries: the programs in the environment's bin, the extension module in the
# package, and under share/assay what the programs look for there. Only rules of the component
# python are installed by pip (pyproject.toml); other rules of the tree are for `cmake --install`.
if(NOT SKBUILD)
  return()
endif()
set(_component COMPONENT python)

get_property(_runners GLOBAL PROPERTY ASSAY_RUNNERS)
install(TARGETS assay assay-agent ${_runners} RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}" ${_component})
if(TARGET assay_python)
  install(TARGETS assay_python assay_host LIBRARY DESTINATION "${SKBUILD_PLATLIB_DIR}/assay" ${_component})
  install(TARGETS assay_allocation_preload LIBRARY DESTINATION "${SKBUILD_SCRIPTS_DIR}" ${_component})
  assay_python_engines(_engines)
  foreach(_engine IN LISTS _engines)
    install(PROGRAMS "${PROJECT_BINARY_DIR}/python/assay-runner-${_engine}"
            DESTINATION "${SKBUILD_SCRIPTS_DIR}" ${_component})
  endforeach()
endif()

set(_share "${SKBUILD_DATA_DIR}/share/assay")
find_file(ASSAY_VEGA_BUNDLE vega.js NO_DEFAULT_PATH
          PATHS "${PROJECT_BINARY_DIR}/share/assay" "${PROJECT_SOURCE_DIR}/build/release/share/assay")
if(ASSAY_VEGA_BUNDLE)
  install(FILES "${ASSAY_VEGA_BUNDLE}" DESTINATION "${_share}" ${_component})
endif()

# The sources that `assay engine add` builds a runner from.
install(FILES CMakeLists.txt DESTINATION "${_share}/source" ${_component})
install(DIRECTORY cmake DESTINATION "${_share}/source" ${_component})
install(DIRECTORY src/assay DESTINATION "${_share}/source/src" ${_component})
install(DIRECTORY python/assay/data DESTINATION "${_share}/source/python/assay" ${_component})
install(FILES python/runner.sh.in DESTINATION "${_share}/source/python" ${_component})
