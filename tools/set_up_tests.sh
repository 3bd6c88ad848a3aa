#!/usr/bin/env bash
# What only tests need, after tools/set_up.sh: a browser that opens the reports' pages (any Chromium or
# Chrome will do), programs that pages name, Python packages that a reader may have, and Assay's programs
# for 64-bit Arm, which tests of devices run under an emulator.
set -euo pipefail
cd "$(dirname "$0")/.."

install_python_packages() {
  local stamp=.venv/test_requirements.sha256 wanted
  wanted=$(sha256sum requirements/tests.txt)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  # Within a list of && bash does not stop at an error.
  .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps \
    -r requirements/tests.txt || return
  echo "$wanted" >"$stamp"
}

wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
cp tools/test_packages.txt "$wanted"
for browser in chromium chromium-browser google-chrome google-chrome-stable; do
  if command -v "$browser" >/dev/null; then sed -i '/^chromium$/d' "$wanted"; fi
done
unpack() { tools/unpack_packages.sh arm64 tools/arm64_test_packages.txt build/test-arm64; }
build_for_arm() { make --no-print-directory aarch64; }
{ install_python_packages && tools/install_packages.sh "$wanted" && unpack && build_for_arm; } || {
  [ -z "${CI:-}" ] || exit 3
  echo "set-up: not all is installed, so some tests are skipped" >&2
}
