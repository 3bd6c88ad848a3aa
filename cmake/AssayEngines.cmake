# What the engines share: their runners, build ids, and which of them are written in Python.
#
#   assay_runner(openvino LIBRARIES "${folder}" IN_WHEEL openvino/libs)
#   assay_build_id(id FILES …)
#   assay_python_engines(names)

# The program assay-runner-NAME of the module engines/NAME, from its main.cpp. It stands above the
# module: it brings engine and runner together. LIBRARIES: where the engine's shared libraries lie;
# IN_WHEEL: the same folder in an environment's site-packages, whose bin the program is installed to.
function(assay_runner name)
  cmake_parse_arguments(ARG "" "LIBRARIES;IN_WHEEL" "" ${ARGN})
  set(target "assay-runner-${name}")
  add_executable(${target} main.cpp)
  assay_set_options(${target})
  target_link_libraries(${target} PRIVATE assay_engines_${name} assay_runner assay_allocation)
  if(ARG_LIBRARIES)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "${ARG_LIBRARIES}")
  endif()
  if(ARG_IN_WHEEL AND Python_VERSION_MAJOR)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH
      "$ORIGIN/../lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages/${ARG_IN_WHEEL}")
  endif()
  include(GNUInstallDirs)
  install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  set_property(GLOBAL APPEND PROPERTY ASSAY_RUNNERS ${target})
  if(CMAKE_CROSSCOMPILING)
    _assay_bundle(${name} ${target} "${ARG_LIBRARIES}")
  endif()
endfunction()

# The target assay-bundle-NAME: bundle/NAME in the build folder, with the runner and all that it loads.
function(_assay_bundle name runner libraries)
  set(tool "${PROJECT_SOURCE_DIR}/tools/make_device_bundle.py")
  set(folder "${CMAKE_BINARY_DIR}/bundle/${name}")
  assay_engine_loads(${name} loads)
  list(TRANSFORM loads PREPEND "--loads=")
  set(arguments "--libraries=${libraries}" ${loads})
  if(ASSAY_BUNDLE_LOADER)
    list(APPEND arguments "--libraries=${ASSAY_SYSROOT}")
  else()
    list(APPEND arguments --no-loader)
    # The device's loader reads the path from the program; Android's knows RUNPATH only.
    set_target_properties(${runner} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
    target_link_options(${runner} PRIVATE LINKER:--enable-new-dtags)
  endif()
  if(ASSAY_TRIPLE)
    list(APPEND arguments "--triple=${ASSAY_TRIPLE}")
  endif()
  add_custom_command(
    OUTPUT "${folder}/bundle.json"
    COMMAND "${Python_EXECUTABLE}" "${tool}" "$<TARGET_FILE:${runner}>" ${arguments} --out "${folder}"
    DEPENDS ${runner} "${tool}"
    COMMENT "Collecting the bundle of ${name} for devices"
    VERBATIM)
  add_custom_target(assay-bundle-${name} DEPENDS "${folder}/bundle.json")
endfunction()

# A digest of the engine's libraries, taken when the build is configured, which a change of one
# starts again.
function(assay_build_id out)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  set(digests "")
  foreach(file IN LISTS ARG_FILES)
    file(SHA256 "${file}" digest)
    string(APPEND digests "${digest}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  string(SHA256 id "${digests}")
  set(${out} "${id}" PARENT_SCOPE)
endfunction()

# The table of engines that C++ and Python read too.
function(_assay_engine_table document count)
  set(table "${PROJECT_SOURCE_DIR}/python/assay/data/engines.json")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(READ "${table}" text)
  string(JSON length LENGTH "${text}" engines)
  set(${document} "${text}" PARENT_SCOPE)
  set(${count} "${length}" PARENT_SCOPE)
endfunction()

# Names of Assay's engines in Python.
function(assay_python_engines out)
  _assay_engine_table(document count)
  math(EXPR last "${count} - 1")
  set(names "")
  foreach(index RANGE ${last})
    string(JSON module ERROR_VARIABLE is_not GET "${document}" engines ${index} python)
    if(NOT is_not)
      string(JSON name GET "${document}" engines ${index} name)
      list(APPEND names "${name}")
    endif()
  endforeach()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Libraries, by name with * and ?, that an engine opens while it runs.
function(assay_engine_loads engine out)
  _assay_engine_table(document count)
  math(EXPR last "${count} - 1")
  set(patterns "")
  foreach(index RANGE ${last})
    string(JSON name GET "${document}" engines ${index} name)
    string(JSON length ERROR_VARIABLE has_none LENGTH "${document}" engines ${index} loads)
    if(name STREQUAL engine AND NOT has_none)
      math(EXPR last_pattern "${length} - 1")
      foreach(place RANGE ${last_pattern})
        string(JSON pattern GET "${document}" engines ${index} loads ${place})
        list(APPEND patterns "${pattern}")
      endforeach()
    endif()
  endforeach()
  set(${out} "${patterns}" PARENT_SCOPE)
endfunction()
