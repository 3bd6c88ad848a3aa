#!/usr/bin/env bash
# run_fuzz.sh [SECONDS [TARGET...]]: builds fuzz targets with clang, all by default, and runs each for
# some seconds (default 60), starting from its committed seeds and from what earlier runs found. An
# input that fails lies in tests/fuzz/corpus/<target> as found-*: commit it with the fix, and the fast
# tests replay it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=("${@:2}")
tools/install_packages.sh tools/fuzz_packages.txt
.venv/bin/cmake --preset fuzz >/dev/null
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(.venv/bin/cmake --build build/fuzz --target help | grep -oE '^[a-z_]+_fuzz\b' | sort -u)
fi
.venv/bin/cmake --build build/fuzz --target "${targets[@]}" >build/fuzz/build.log ||
  { tail -40 build/fuzz/build.log >&2; exit 1; }

# Stacks with functions and lines without LLVM's own symbolizer.
symbolizer=$(command -v llvm-symbolizer-19 || command -v addr2line || true)
export ASAN_OPTIONS="external_symbolizer_path=$symbolizer" UBSAN_OPTIONS="print_stacktrace=1"
failed=()
for target in "${targets[@]}"; do
  grown=build/fuzz/corpus/$target
  seeds=tests/fuzz/corpus/$target
  mkdir -p "$grown" "$seeds"
  # A delegate makes its own seeds, of real files.
  make_seeds=delegates/${target%%_*}/tools/make_corpus.py
  if [ -f "$make_seeds" ] && [ -z "$(ls "$grown")" ]; then
    .venv/bin/python "$make_seeds" "$grown" >/dev/null
  fi
  echo "fuzz: $target for $seconds s"
  "build/fuzz/bin/$target" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=1 -print_funcs=0 -verbosity=0 -artifact_prefix="$seeds/found-" "$grown" "$seeds" 2>&1 |
    sed '/# Uses: /d; /recommended dictionary/d' || failed+=("$target")
done
[ ${#failed[@]} -eq 0 ] && exit 0
echo "fuzz: failed: ${failed[*]}; the inputs are tests/fuzz/corpus/*/found-*" >&2
exit 1
