#!/usr/bin/env bash
# Runs the pmap cookbook in one process of 8 devices and in several: it prints the same, but for what each process says of
# its own part.
# Usage: cookbook.sh <mpirun> <pmap_cookbook>
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# same FILE: without what depends on the number of processes: the cell whose three elements are too few for four, and
# what is said of more elements than devices, of shapes and of what was moved
same() { sed -E '\|^// \[9\]|,/^-+$/d; /^(process 0: )?compiling computation/d; /^[0-9] x 500 x/d; /^moved:/d' "$1"; }
# has FILE LINE: a line that begins so
has() { grep -q "^$2" "$folder/$1" || { echo "$1 of the processes: no line '$2'" >&2 && exit 1; }; }

PARALLAX_HOST_DEVICES=8 "$2" >"$folder/1"
for split in "2 4" "4 2"; do
  read -r processes devices <<<"$split"
  PARALLAX_HOST_DEVICES=$devices "$1" -n "$processes" "$2" >"$folder/$processes"
  diff <(same "$folder/1") <(same "$folder/$processes")
  has "$processes" "process 0: compiling computation that requires $((devices + 1)) logical devices, but only $devices "
  has "$processes" "$devices x 500 x 600"
  has "$processes" "$devices x 500 x 500"
  has "$processes" "moved: $((8 * devices)) bytes to the devices, $((4 * devices)) from the devices"
  echo "$processes processes of $devices: the same results"
done
diff <(grep -A 3 '^> pmap$' "$folder/1") <(grep -A 3 '^> pmap$' "$folder/2") # of three elements, in two processes
