#!/usr/bin/env bash
# What only tests need: a browser that opens the reports' pages. Any Chromium or Chrome will do.
set -euo pipefail
cd "$(dirname "$0")/.."

for browser in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$browser" >/dev/null && exit 0
done
tools/install_packages.sh tools/test_packages.txt || {
  [ -n "${CI:-}" ] && exit 3
  echo "set-up: no Chromium, so the tests of pages are skipped" >&2
}
