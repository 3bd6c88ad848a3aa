#!/usr/bin/env bash
# make qnn: QNN's libraries into .venv, for x86-64. Quick when nothing is left to do.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname -m)" = x86_64 ] || {
  echo "make qnn: QNN's emulator of HTP is for x86-64, this machine is $(uname -m)" >&2
  exit 3
}
tools/set_up.sh
version=$(sed -n 's/^onnxruntime-qnn==//p' requirements/qnn.txt)
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cat <<NOTICE
QNN's libraries are Qualcomm's. Whoever downloads or uses them accepts Qualcomm's AI Stack License: they may serve to
develop software and to benchmark, and may not be passed on by themselves. It will be here:
  $site/onnxruntime_qnn/Qualcomm_LICENSE.pdf
To remove them: .venv/bin/python -m pip uninstall onnxruntime-qnn
NOTICE
[ -d "$site/onnxruntime_qnn-$version.dist-info" ] || tools/install_requirements.sh .venv requirements/qnn
