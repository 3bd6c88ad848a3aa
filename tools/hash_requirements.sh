#!/usr/bin/env bash
# make hashes: requirements/*.hashes.txt from the lists beside them, the SHA-256 of every file that the package index
# has of each pinned version, so that any platform and interpreter finds its own. torch is left out: its builds for CPUs
# and GPUs come from several indexes under one version.
set -euo pipefail
cd "$(dirname "$0")/.."

environment=build/hash-environment
[ -x $environment/bin/uv ] || {
  python3 -m venv $environment
  $environment/bin/python -m pip install -q --disable-pip-version-check uv
}
for list in requirements/{toolchain,litert,qnn,arm}; do
  {
    echo "# Written by make hashes from $list.txt, without torch. tools/install_requirements.sh installs it."
    grep -v '^torch==' $list.txt |
      $environment/bin/uv pip compile -q --no-deps --generate-hashes --no-header --no-annotate \
        --python-version 3.11 -
  } >$list.hashes.txt
done
