#!/usr/bin/env bash
# How many processes of tests run at a time: one for each processor from two to four, as far as memory allows.
# A process of tests that has torch, with the toolchain and the runner that it starts, takes up to 3 GB.
#
# Usage: tools/count_processes.sh [FILE_LIKE_PROC_MEMINFO]
set -euo pipefail
count=$(nproc)
gigabytes=$(awk '/^MemTotal/ { print int($2 / 1e6) }' "${1:-/proc/meminfo}")
room=$((gigabytes / 3))
[ "$room" -ge "$count" ] || count=$room
[ "$count" -le 4 ] || count=4
[ "$count" -ge 2 ] || count=2
echo "$count"
