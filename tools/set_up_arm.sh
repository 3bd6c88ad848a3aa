#!/usr/bin/env bash
# Makes .venv-arm, the toolchain and engines of ExecuTorch's Arm backends: a layer over .venv, whose torch and
# executorch it uses. Quick when nothing is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.venv-arm/requirements.sha256
wanted=$(sha256sum requirements/toolchain.txt requirements/arm.txt requirements/arm.hashes.txt)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0
[ -x .venv/bin/python ] || tools/set_up.sh
tools/install_packages.sh tools/arm_packages.txt
echo "set-up: making .venv-arm (about 250 MB)"
[ -x .venv-arm/bin/python ] || .venv/bin/python -m venv .venv-arm
tools/install_requirements.sh .venv-arm requirements/arm
# The Python package in place, and after it what .venv has.
site=$(.venv-arm/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
below=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$PWD/python" "import site; site.addsitedir('$below')" >"$site/assay-layer.pth"
echo "$wanted" >"$stamp"
