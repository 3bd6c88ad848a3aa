#!/usr/bin/env bash
# First step of the action: assay in an environment of its own, from a wheel or a requirement, on the PATH of
# the steps that follow. INPUT_WHEEL may be a pattern, "dist/assay-*.whl".
set -euo pipefail

if [ -z "${INPUT_WHEEL:-}" ]; then
  if ! command -v assay >/dev/null; then
    echo "::error title=Assay::no assay on the PATH; give the input 'wheel'"
    exit 3
  fi
  assay --version
  exit 0
fi

environment=$RUNNER_TEMP/assay-environment
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
requirement=$INPUT_WHEEL
case $requirement in
  *.whl)
    shopt -s nullglob
    # shellcheck disable=SC2206 # A pattern is expanded here.
    files=($requirement)
    if [ ${#files[@]} -ne 1 ]; then
      echo "::error title=Assay::the input 'wheel' names ${#files[@]} files: $requirement"
      exit 3
    fi
    requirement=${files[0]}
    ;;
esac
read -r -a options <<<"${INPUT_PIP_OPTIONS:-}"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check ${options[@]+"${options[@]}"} "$requirement"
echo "$environment/bin" >>"$GITHUB_PATH"
"$environment/bin/assay" --version
