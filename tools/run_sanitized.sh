#!/usr/bin/env bash
# run_sanitized.sh [CTEST_ARGUMENT...]: builds the fast C++ tests with AddressSanitizer and
# UndefinedBehaviorSanitizer (preset dev) and runs them. Any finding ends the test's process.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f build/dev/build.ninja ] || .venv/bin/cmake --preset dev >/dev/null
.venv/bin/cmake --build build/dev --target assay_fast_tests | tail -1
# Tests of memory limits ask for more than there is, and want to be told so as without a sanitizer.
export ASAN_OPTIONS="allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1"
export UBSAN_OPTIONS="print_stacktrace=1"
.venv/bin/ctest --test-dir build/dev --output-on-failure -j "$(tools/count_processes.sh)" -L fast "$@"
