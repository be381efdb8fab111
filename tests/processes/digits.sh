#!/usr/bin/env bash
# Trains in one process of 8 devices and in several: the parameters are the same, bit by bit.
# Usage: digits.sh <mpirun> <digits>
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
train() { "$@" --epochs 3 --save-parameters "$folder/$name" >"$folder/$name.txt"; }

name=one PARALLAX_HOST_DEVICES=8 train "$2"
grep 'held-out accuracy' "$folder/one.txt"
for split in "2 4" "4 2" "8 1"; do
  read -r processes devices <<<"$split"
  name=$processes PARALLAX_HOST_DEVICES=$devices train "$1" -n "$processes" "$2"
  cmp "$folder/one" "$folder/$processes"
  echo "$processes processes of $devices: the same parameters"
done
