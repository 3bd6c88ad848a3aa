# Libraries as archives: a wheel's programs run on machines that have only libc and libstdc++.
# SBOM and THIRD_PARTY_NOTICES name what they then contain (tools/third_party/components.json).
function(_assay_use_archive target name)
  find_library(ASSAY_ARCHIVE_${name} lib${name}.a REQUIRED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${ASSAY_ARCHIVE_${name}}" ${ARGN})
endfunction()

_assay_use_archive(OpenSSL::Crypto crypto)
_assay_use_archive(SQLite::SQLite3 sqlite3 INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS};Threads::Threads")
find_library(ASSAY_ARCHIVE_zstd libzstd.a REQUIRED)
set_target_properties(PkgConfig::zstd PROPERTIES INTERFACE_LINK_LIBRARIES "${ASSAY_ARCHIVE_zstd}")
# Distributions ship {fmt} as headers and a shared library. The definition is that of the shared
# library's target, so that sources compile to the same objects.
add_library(assay_fmt STATIC "${PROJECT_SOURCE_DIR}/src/assay/supervise/fmt_definitions.cpp")
target_compile_definitions(assay_fmt PUBLIC FMT_SHARED)
set_target_properties(assay_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)
set(ASSAY_FMT assay_fmt)
