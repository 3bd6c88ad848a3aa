#!/usr/bin/env bash
# What only tests need: a browser that opens the reports' pages, and programs that pages name. Any
# Chromium or Chrome will do.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
cp tools/test_packages.txt "$wanted"
for browser in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$browser" >/dev/null; then sed -i '/^chromium$/d' "$wanted"; fi
done
tools/install_packages.sh "$wanted" || {
  [ -z "${CI:-}" ] || exit 3
  echo "set-up: not all is installed, so some tests are skipped" >&2
}
