# Cross compilation for 64-bit Arm Linux, with the libraries that tools/set_up_aarch64.sh unpacks.
#
# ASSAY_SYSROOT: another folder of them. The compiler brings libc and its headers itself.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ASSAY_SYSROOT)
if(NOT ASSAY_SYSROOT)
  get_filename_component(ASSAY_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-aarch64" ABSOLUTE)
endif()
set(CMAKE_FIND_ROOT_PATH "${ASSAY_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# A package of an engine lies where its wheel was unpacked, and is named by its folder.
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_FIND_USE_SYSTEM_PACKAGE_REGISTRY OFF)
set(ENV{PKG_CONFIG_LIBDIR}
    "${ASSAY_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ASSAY_SYSROOT}/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${ASSAY_SYSROOT}")

find_program(ASSAY_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(ASSAY_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${ASSAY_QEMU};-L;${ASSAY_SYSROOT}")
endif()
