#!/usr/bin/env bash
# Makes a fresh machine ready: system packages, .venv, the build folder. Quick when nothing is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."

make_venv() {
  local stamp=.venv/requirements.sha256 wanted
  wanted=$(sha256sum requirements/toolchain.txt requirements/toolchain.hashes.txt)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  echo "set-up: making .venv (about 2.3 GB the first time)"
  [ -x .venv/bin/python ] || "${PYTHON:-python3}" -m venv .venv
  tools/install_requirements.sh .venv requirements/toolchain
  # The Python package in place, so that an edit needs no new installation.
  local site
  site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$PWD/python" >"$site/assay-in-place.pth"
  echo "$wanted" >"$stamp"
}

configure() {
  [ -f build/release/build.ninja ] && return
  .venv/bin/cmake --preset release >build-configure.log 2>&1 || {
    cat build-configure.log >&2
    exit 3
  }
  mv build-configure.log build/release/configure.log
}

tools/install_packages.sh tools/system_packages.txt
make_venv
configure
