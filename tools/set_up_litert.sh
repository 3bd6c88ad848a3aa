#!/usr/bin/env bash
# Makes .venv-litert, the toolchain that makes programs for LiteRT: what it needs does not go together with
# what .venv has. Quick when nothing is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."

stamp=.venv-litert/requirements.sha256
wanted=$(sha256sum requirements/litert.txt requirements/litert.hashes.txt)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0
echo "set-up: making .venv-litert"
[ -x .venv-litert/bin/python ] || "${PYTHON:-python3}" -m venv .venv-litert
tools/install_requirements.sh .venv-litert requirements/litert
# The Python package in place, as in .venv.
site=$(.venv-litert/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$PWD/python" >"$site/assay-in-place.pth"
echo "$wanted" >"$stamp"
