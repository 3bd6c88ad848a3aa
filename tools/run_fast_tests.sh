#!/usr/bin/env bash
# make check, after make lint: the fast tests. The first failure ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
processes=$(tools/count_processes.sh)
echo "check: fast tests"
log=build/release/test-logs/fast.txt
mkdir -p "${log%/*}"
.venv/bin/ctest --test-dir build/release --output-on-failure -j "$processes" -L fast >"$log" 2>&1 || {
  grep -vE '^ *Start |Passed +[0-9.]+ sec|\*\*\*Skipped' "$log" >&2
  exit 1
}
echo "check: fast Python tests"
log=build/release/test-logs/fast-python.txt
.venv/bin/python -m pytest -q -p no:cacheprovider -n "$processes" -m "not engine and not slow and not long" \
  tests python/tests delegates >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
