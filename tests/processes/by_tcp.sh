#!/usr/bin/env bash
# Starts a program in several processes that find each other by an address, without MPI; fails where one of them does.
# Usage: by_tcp.sh <processes> <program and its arguments...>
set -euo pipefail

count=$1
shift
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
pids=()
for ((index = 0; index < count; ++index)); do
  PARALLAX_PROCESS_INDEX=$index PARALLAX_PROCESS_COUNT=$count PARALLAX_COORDINATOR=localhost:$port "$@" &
  pids+=($!)
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
exit "$status"
