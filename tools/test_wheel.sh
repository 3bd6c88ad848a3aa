#!/usr/bin/env bash
# make test-wheel: installs the wheels of dist/ into a bare Debian root and tries them there. What they need is
# downloaded before, in the versions of requirements/toolchain.txt, so that the root has no network to ask for more.
set -euo pipefail
cd "$(dirname "$0")/.."
wheelhouse=build/wheelhouse
python=$PWD/.venv/bin/python

tools/install_packages.sh tools/wheel_test_packages.txt
"$python" -m pip wheel -q --disable-pip-version-check -w $wheelhouse --find-links dist -c requirements/toolchain.txt \
  "$(ls dist/assay-*.whl)[executorch,openvino,fixedpoint]"
rm -f $wheelhouse/assay-*.whl $wheelhouse/fixedpoint_delegate-*.whl # Those of dist/ are the ones under test.
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" "$python" tests/release/bare_root.py dist $wheelhouse --work build/bare-root
