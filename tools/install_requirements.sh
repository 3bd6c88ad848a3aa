#!/usr/bin/env bash
# install_requirements.sh VENV LIST: installs the pinned packages of LIST.txt, each checked against LIST.hashes.txt,
# and torch by its version.
set -euo pipefail
cd "$(dirname "$0")/.."
install=("$1/bin/python" -m pip install -q --disable-pip-version-check --no-deps)

"${install[@]}" --require-hashes -r "$2.hashes.txt"
! grep -q '^torch==' "$2.txt" || "${install[@]}" -r <(grep '^torch==' "$2.txt")
