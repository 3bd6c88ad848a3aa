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

set(_share "${SKBUILD_DATA_DIR}/share")
if(TARGET assay_vega_bundle)
  install(FILES "${PROJECT_BINARY_DIR}/share/assay/vega.js" DESTINATION "${_share}/assay" ${_component})
endif()

# Completions and the manual page where shells and man look, relative to the environment's bin.
set(_completion "${PROJECT_SOURCE_DIR}/src/assay/cli/completion")
install(FILES "${_completion}/assay.bash" DESTINATION "${_share}/bash-completion/completions" RENAME assay
        ${_component})
install(FILES "${_completion}/_assay" DESTINATION "${_share}/zsh/site-functions" ${_component})
install(FILES "${_completion}/assay.fish" DESTINATION "${_share}/fish/vendor_completions.d" ${_component})
set(_manual "${PROJECT_BINARY_DIR}/share/man/man1/assay.1")
add_custom_command(
  OUTPUT "${_manual}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/share/man/man1"
  COMMAND assay manual > "${_manual}"
  DEPENDS assay
  COMMENT "Writing the manual page"
  VERBATIM)
add_custom_target(assay_manual ALL DEPENDS "${_manual}")
install(FILES "${_manual}" DESTINATION "${_share}/man/man1" ${_component})

# What the wheel contains of others, as PEP 770 places it. `make wheel` writes it before.
if(EXISTS "${PROJECT_SOURCE_DIR}/build/sbom/assay.cdx.json")
  install(FILES "${PROJECT_SOURCE_DIR}/build/sbom/assay.cdx.json" DESTINATION "${SKBUILD_METADATA_DIR}/sboms"
          ${_component})
endif()

# The sources that `assay engine add` builds a runner from.
install(FILES CMakeLists.txt DESTINATION "${_share}/assay/source" ${_component})
install(DIRECTORY cmake DESTINATION "${_share}/assay/source" ${_component})
install(FILES tools/make_device_bundle.py DESTINATION "${_share}/assay/source/tools" ${_component})
install(DIRECTORY src/assay src/features DESTINATION "${_share}/assay/source/src" ${_component})
install(DIRECTORY python/assay/data DESTINATION "${_share}/assay/source/python/assay" ${_component})
install(FILES python/runner.sh.in DESTINATION "${_share}/assay/source/python" ${_component})
