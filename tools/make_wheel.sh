#!/usr/bin/env bash
# make wheel: into dist/ the wheels of Assay and of the fixed-point delegate, the source distribution, and what the
# wheel contains of others (CycloneDX). The runners are built against the engines in .venv.
#   tools/make_wheel.sh --only-assay    the wheel of Assay alone
set -euo pipefail
cd "$(dirname "$0")/.."
python=$PWD/.venv/bin/python
only=${1:-}

# Where ccache is installed, the objects of build/release serve here, too: of the same compiler, by the same name.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=1
cxx=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' build/release/CMakeCache.txt 2>/dev/null || true)
[ -z "$cxx" ] || export CXX=$cxx
export CMAKE_GENERATOR=Ninja PATH=$PWD/.venv/bin:$PATH

# wheel FOLDER BUILD-FOLDER [DEFINITION…]: without isolation, for the engines to be found. Tells how far the compiler
# has come, as it takes minutes.
wheel() {
  local folder=$1 build=$2 options=() definition log step=
  log=build/$(basename "$2").log
  shift 2
  for definition in "$@"; do options+=("-Ccmake.define.$definition"); done
  echo "making the wheel of $folder; $log has all output"
  "$python" -m pip wheel -v --no-deps --no-build-isolation --no-cache-dir -w dist \
    "-Cbuild-dir=$build" "${options[@]}" "$folder" >"$log" 2>&1 &
  while sleep 5 && kill -0 $! 2>/dev/null; do
    definition=$(grep -o '\[[0-9]*/[0-9]*\]' "$log" | tail -1) || continue
    [ "$definition" = "$step" ] || echo "  compiled $definition"
    step=$definition
  done
  wait $! || {
    tail -40 "$log" >&2
    return 1
  }
}

rm -f dist/assay-*.whl dist/fixedpoint_delegate-*.whl dist/assay-*.tar.gz
mkdir -p dist
"$python" tools/make_sbom.py build/sbom/assay.cdx.json
wheel . build/wheel
if [ "$only" != --only-assay ]; then
  executorch=$("$python" -c 'import executorch; print(list(executorch.__path__)[0])')
  wheel ./delegates/fixedpoint "$PWD/build/wheel-fixedpoint" "executorch_DIR=$executorch/share/cmake"
  trap 'rm -f COMMIT' EXIT
  git describe --always '--exclude=*' --abbrev=12 --dirty >COMMIT
  "$python" -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")' >/dev/null
  cp build/sbom/assay.cdx.json dist/
fi
ls -l dist | awk 'NR > 1 { printf "%s  %.1f MB\n", $9, $5 / 1e6 }'
