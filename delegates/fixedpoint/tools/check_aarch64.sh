#!/usr/bin/env bash
# Builds the kernels for 64-bit Arm and compares them with the definitions under qemu: once as a
# processor with the dot product of Armv8.2, once as one without. ExecuTorch is not needed.
#
# Usage: delegates/fixedpoint/tools/check_aarch64.sh [BUILD_FOLDER]
# Exit code 3: something is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/../../.venv/bin:$PATH" # a CMake that is new enough
build=${1:-../../build/fixedpoint-aarch64}
missing=()
command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(g++-aarch64-linux-gnu)
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu)
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || missing+=(qemu-user-static)
[ -f /usr/src/googletest/CMakeLists.txt ] || missing+=(googletest)
if [ ${#missing[@]} -gt 0 ]; then
  echo "fixedpoint-aarch64: install ${missing[*]}" >&2
  exit 3
fi
cmake -Wno-deprecated -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFIXEDPOINT_BACKEND=OFF >/dev/null
cmake --build "$build" | tail -1
# Each in two parts at once: all take minutes under the emulator, and one takes longer than the other.
# The scalar kernels are the same instructions on both.
parts=2
compare_as() {
  GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$2 "$qemu" -cpu "$1" "$build/fixedpoint_test" --gtest_brief=1 \
    --gtest_filter="-*SurvivesAChange*:*SurvivesSeveral*$3" >"$build/$1.$2.log" 2>&1
}
jobs=()
logs=()
for ((part = 0; part < parts; part++)); do
  for processor in max cortex-a53; do
    twice=
    [ "$processor" = max ] || twice=':*/scalar*'
    compare_as "$processor" "$part" "$twice" &
    jobs+=($!)
    logs+=("$processor.$part")
  done
done
failed=0
for index in "${!jobs[@]}"; do
  wait "${jobs[$index]}" || failed=1
  echo "fixedpoint-aarch64: as ${logs[$index]%.*}, part $((${logs[$index]##*.} + 1)) of $parts"
  cat "$build/${logs[$index]}.log"
done
exit $failed
