#!/usr/bin/env bash
# make lint: format, types, layers and prose beside clang-tidy, for each of them takes one processor.
set -euo pipefail
cd "$(dirname "$0")/.."

# The first failure ends it.
check_all_but_tidy() {
  mapfile -t cpp < <(git ls-files '*.h' '*.cpp')
  echo "lint: clang-format"
  .venv/bin/clang-format --dry-run -Werror "${cpp[@]}"
  echo "lint: ruff, mypy"
  .venv/bin/ruff check -q conftest.py python tools tests specs examples delegates bench studies
  .venv/bin/ruff format -q --check conftest.py python tools tests specs examples delegates bench studies
  .venv/bin/mypy --no-error-summary
  echo "lint: layers"
  .venv/bin/python tools/check_layers.py
  PYTHONPATH=python:delegates/fixedpoint/python .venv/bin/lint-imports --no-cache --no-logo
  echo "lint: prose"
  .venv/bin/python tools/check_prose.py
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
(check_all_but_tidy) >"$log" 2>&1 &
others=$!
failed=0
.venv/bin/cmake --preset lint >/dev/null
echo "lint: clang-tidy (only what changed since it last passed)"
tools/lint_changed.py || failed=1
wait "$others" || failed=1
cat "$log"
exit $failed
