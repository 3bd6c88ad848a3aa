#!/usr/bin/env bash
# Makes 64-bit Arm ready as a target: the cross compiler, libraries for it in build/sysroot-aarch64, the engines' wheels
# for it in build/wheels-aarch64, and the build folder. Quick when nothing is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."
sysroot=build/sysroot-aarch64
wheels=build/wheels-aarch64

# Headers that a Debian system has in a folder of the architecture are beside the others here, where a cross compiler
# looks for them.
unpack_sysroot() {
  tools/unpack_packages.sh arm64 tools/aarch64_sysroot.txt $sysroot
  cp -rn $sysroot/usr/include/aarch64-linux-gnu/. $sysroot/usr/include/
}

# The wheel in the version of requirements/toolchain.txt, checked against the hash that is there.
unpack_wheel() {
  local name=$1 block wheel
  block=$(sed -n "/^$name==/,/[^\\\\]\$/p" requirements/toolchain.hashes.txt)
  [ "$(cat "$wheels/$name.requirement" 2>/dev/null)" = "$block" ] && return
  echo "set-up: unpacking the wheel of $name for 64-bit Arm"
  rm -rf "${wheels:?}/$name" "$wheels/download"
  mkdir -p "$wheels/download"
  .venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    --python-version 3.11 --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 \
    --platform manylinux_2_35_aarch64 -d "$wheels/download" -r <(echo "$block")
  wheel=$(ls "$wheels"/download/*.whl)
  .venv/bin/python -m zipfile -e "$wheel" "$wheels/$name"
  rm -r "$wheels/download"
  echo "$block" >"$wheels/$name.requirement"
}

configure() {
  [ build/aarch64/build.ninja -nt CMakePresets.json ] && return
  .venv/bin/cmake --preset aarch64 >build/aarch64-configure.log 2>&1 || {
    cat build/aarch64-configure.log >&2
    exit 3
  }
}

tools/set_up.sh
tools/install_packages.sh tools/aarch64_packages.txt
unpack_sysroot
unpack_wheel executorch
unpack_wheel openvino
configure
