#!/usr/bin/env bash
# make test: every test, C++ then Python; closes with one line for all.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/release/test-logs
mkdir -p "$logs"

.venv/bin/ctest --test-dir build/release --output-on-failure -j 2 "$@" | tee "$logs/ctest.txt"
# Files in two processes, the longest first.
.venv/bin/python -m pytest -q -p no:cacheprovider -n 2 --dist loadfile --no-loadscope-reorder \
  tests python/tests delegates | tee "$logs/pytest.txt"

count() { grep -oE "[0-9]+ $2" "$1" | tail -1 | grep -oE '^[0-9]+' || echo 0; }
cpp_total=$(grep -oE 'out of [0-9]+' "$logs/ctest.txt" | grep -oE '[0-9]+' || echo 0)
cpp_failed=$(grep -oE '[0-9]+ tests? failed' "$logs/ctest.txt" | grep -oE '^[0-9]+' || echo 0)
py_passed=$(count "$logs/pytest.txt" passed)
py_failed=$(($(count "$logs/pytest.txt" failed) + $(count "$logs/pytest.txt" error)))
failed=$((cpp_failed + py_failed))
if [ "$cpp_total" -eq 0 ] || [ "$py_passed" -eq 0 ]; then
  echo "a test runner ran no test; see $logs" >&2
  failed=$((failed + 1))
fi
echo "$((cpp_total - cpp_failed + py_passed)) passed, $failed failed"
[ "$failed" -eq 0 ]
