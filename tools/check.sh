#!/usr/bin/env bash
# make check: format, lint, layers, fast tests. The first failure ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t cpp < <(git ls-files '*.h' '*.cpp')
# Sources for another processor are not among this one's compile commands.
mapfile -t sources < <(git ls-files 'src/*.cpp' 'bench/*.cpp' 'delegates/*.cpp' |
  grep -vE '_(test|fuzz)\.cpp$|/(aarch64|neon[a-z_]*)\.cpp$')

echo "check: clang-format"
.venv/bin/clang-format --dry-run -Werror "${cpp[@]}"
echo "check: ruff, mypy"
.venv/bin/ruff check -q python tools tests specs examples delegates bench
.venv/bin/ruff format -q --check python tools tests specs examples delegates bench
.venv/bin/mypy --no-error-summary
echo "check: layers"
.venv/bin/python tools/check_layers.py
.venv/bin/cmake --preset lint >/dev/null
echo "check: clang-tidy (only files whose content changed since it last passed)"
tools/lint_changed.py "${sources[@]}"
echo "check: fast tests"
.venv/bin/ctest --test-dir build/release --output-on-failure -j 2 -L fast --quiet
