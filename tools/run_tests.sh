#!/usr/bin/env bash
# make test: every test, C++ then Python; closes with one line for all. A runner that ends with an error
# of its own, as pytest does where it is interrupted, is a failure even if all tests that it made passed.
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/release/test-logs
mkdir -p "$logs"
processes=$(tools/count_processes.sh)

.venv/bin/ctest --test-dir build/release --output-on-failure -j "$processes" "$@" | tee "$logs/ctest.txt"
cpp_exit=${PIPESTATUS[0]}
# Each process takes whole files, in the order of conftest.py. pytest.xml has the time of each test.
.venv/bin/python -m pytest -q -p no:cacheprovider -n "$processes" --dist loadfile --no-loadscope-reorder \
  -m "not long" --junit-xml "$logs/pytest.xml" tests python/tests delegates | tee "$logs/pytest.txt"
py_exit=${PIPESTATUS[0]}

# number_in PATTERN LOG: the number in what last matches the pattern.
number_in() {
  local number
  number=$(grep -oE "$1" "$2" | tail -1 | grep -oE '[0-9]+')
  echo "${number:-0}"
}
cpp_total=$(number_in 'out of [0-9]+' "$logs/ctest.txt")
cpp_failed=$(number_in '[0-9]+ tests? failed' "$logs/ctest.txt")
py_passed=$(number_in '[0-9]+ passed' "$logs/pytest.txt")
py_failed=$(($(number_in '[0-9]+ failed' "$logs/pytest.txt") + $(number_in '[0-9]+ error' "$logs/pytest.txt")))
failed=$((cpp_failed + py_failed))
if [ "$cpp_total" -eq 0 ] || [ "$py_passed" -eq 0 ]; then
  echo "a test runner ran no test; see $logs" >&2
  failed=$((failed + 1))
fi
if [ $((cpp_exit + py_exit)) -ne 0 ] && [ "$failed" -eq 0 ]; then
  echo "a test runner stopped early: ctest ended with $cpp_exit, pytest with $py_exit; see $logs" >&2
  failed=1
fi
echo "$((cpp_total - cpp_failed + py_passed)) passed, $failed failed"
[ "$failed" -eq 0 ]
