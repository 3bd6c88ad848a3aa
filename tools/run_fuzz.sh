#!/usr/bin/env bash
# make fuzz: builds every fuzz target with clang and runs each for some seconds (default 60).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
command -v clang++-19 >/dev/null || {
  echo "fuzz: install clang-19 and libclang-rt-19-dev" >&2
  exit 3
}
.venv/bin/cmake --preset fuzz >/dev/null
mapfile -t targets < <(.venv/bin/cmake --build build/fuzz --target help | grep -oE '^[a-z_]+_fuzz\b' | sort -u)
.venv/bin/cmake --build build/fuzz --target "${targets[@]}" | tail -1
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  # A delegate may have real files to begin with.
  seeds=delegates/${target%%_*}/tools/make_corpus.py
  [ -f "$seeds" ] && [ -z "$(ls "$corpus")" ] && .venv/bin/python "$seeds" "$corpus"
  echo "fuzz: $target for $seconds s"
  "build/fuzz/bin/$target" -max_total_time="$seconds" -max_len=65536 -print_final_stats=0 -verbosity=0 "$corpus"
done
