#!/usr/bin/env bash
# unpack_packages.sh ARCHITECTURE LIST FOLDER: unpacks the packages of a list, for another architecture, into a folder.
# The system's own apt and dpkg do not know of them. Quick when the folder has them already.
set -euo pipefail
architecture=$1 list=$2 folder=$3
stamp=$folder.sha256
wanted=$(sha256sum "$list" "${BASH_SOURCE[0]}" && . /etc/os-release && echo "$VERSION_ID $architecture")
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0

mkdir -p "$(dirname "$folder")"
work=$(mktemp -d "$(realpath "$(dirname "$folder")")/unpack.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,etc/sources.list.d,root,packages}
touch "$work/status"

# The system's own lists. Ubuntu keeps other architectures at a mirror of its own.
copy_sources() {
  local source name
  for source in /etc/apt/sources.list /etc/apt/sources.list.d/{debian,ubuntu}.sources; do
    [ -f "$source" ] || continue
    name=$(basename "$source")
    sed -E -e 's#https?://[a-z.]*(archive|security)\.ubuntu\.com/ubuntu#http://ports.ubuntu.com/ubuntu-ports#' \
      -e '/^Architectures:/d' "$source" >"$work/etc/sources.list.d/${name/%.list/-system.list}"
  done
}

options=(-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User=
  -o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
  -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/etc/sources.list.d"
  -o Acquire::Languages=none)

# The first of the names of a line, "a | b", that is in the lists; for "@a" the one that a depends on.
choose_name() {
  local name
  for name in ${1//|/ }; do
    if [ "${name#@}" != "$name" ]; then
      name=$(apt-cache "${options[@]}" depends --important "${name#@}" | sed -n 's/^ *Depends: //p' | head -1)
    fi
    apt-cache "${options[@]}" show --no-all-versions "$name" >/dev/null 2>&1 && echo "$name" && return
  done
  echo "unpack: none of '$1' is in this system's package lists for $architecture" >&2
  exit 3
}

echo "set-up: unpacking packages for $architecture into $folder"
copy_sources
apt-get "${options[@]}" update -qq
names=()
while read -r line; do
  names+=("$(choose_name "$line")")
done < <(grep -v '^#' "$list")
(cd "$work/packages" && apt-get "${options[@]}" download -qq "${names[@]}")
for package in "$work"/packages/*.deb; do
  dpkg -x "$package" "$work/root"
done
rm -rf "$folder"
mv "$work/root" "$folder"
echo "$wanted" >"$stamp"
