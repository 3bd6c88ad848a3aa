#!/usr/bin/env bash
# install_packages.sh LIST: installs the system packages of a list that are missing; quick when none is.
set -euo pipefail

missing=()
while read -r package; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done < <(grep -v '^#' "$1")
[ ${#missing[@]} -eq 0 ] && exit 0
command -v apt-get >/dev/null || {
  echo "set-up: install these by your system's own means: ${missing[*]}" >&2
  exit 3
}
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "set-up: installing system packages: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
