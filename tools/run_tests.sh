#!/usr/bin/env bash
# make test: every test, C++ then Python; closes with one line for all. With FAST_TESTS=done it takes
# the results of the fast tests from the logs of make check.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/release/test-logs
mkdir -p "$logs"

marks="not long"
cpp_logs=("$logs/ctest.txt")
py_logs=("$logs/pytest.txt")
if [ "${FAST_TESTS:-}" = done ]; then
  marks="not ($(cat tools/fast_tests.txt)) and $marks"
  cpp_logs+=("$logs/fast.txt")
  py_logs+=("$logs/fast-python.txt")
  set -- -LE fast "$@"
fi
.venv/bin/ctest --test-dir build/release --output-on-failure -j 2 "$@" | tee "$logs/ctest.txt"
# Files in two processes, the longest first.
.venv/bin/python -m pytest -q -p no:cacheprovider -n 2 --dist loadfile --no-loadscope-reorder \
  -m "$marks" tests python/tests delegates | tee "$logs/pytest.txt"

# sum_of PATTERN LOG...: the sum of the numbers in what last matches the pattern in each log.
sum_of() {
  local pattern=$1 sum=0 number log
  shift
  for log in "$@"; do
    number=$(grep -oE "$pattern" "$log" | tail -1 | grep -oE '[0-9]+')
    sum=$((sum + ${number:-0}))
  done
  echo "$sum"
}
cpp_total=$(sum_of 'out of [0-9]+' "${cpp_logs[@]}")
cpp_failed=$(sum_of '[0-9]+ tests? failed' "${cpp_logs[@]}")
py_passed=$(sum_of '[0-9]+ passed' "${py_logs[@]}")
py_failed=$(($(sum_of '[0-9]+ failed' "${py_logs[@]}") + $(sum_of '[0-9]+ error' "${py_logs[@]}")))
failed=$((cpp_failed + py_failed))
if [ "$cpp_total" -eq 0 ] || [ "$py_passed" -eq 0 ]; then
  echo "a test runner ran no test; see $logs" >&2
  failed=$((failed + 1))
fi
echo "$((cpp_total - cpp_failed + py_passed)) passed, $failed failed"
[ "$failed" -eq 0 ]
