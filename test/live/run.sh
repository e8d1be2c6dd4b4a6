#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh ROOT OUT < JOBS
# Runs the jobs of a table of generate.py in the environment ROOT (environment.sh), release
# by release, and writes the folder OUT/VERSION/LAYOUT of each. Jobs that are done there are
# not run again.
set -eu
root=$1
out=$(mkdir -p "$2" && cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
jobs=$(mktemp)
trap 'rm -f "$jobs"' EXIT
cat >"$jobs"
mkdir -p "$root/live" "$root/out"
for version in $(tail -n +2 "$jobs" | cut -f1 | sort -u -V); do
  program="megatron_runs.py /src/$version"
  test "$version" != torch || program=torch_runs.py
  # Mounts are those of this command only.
  # shellcheck disable=SC2016
  unshare --mount sh -c '
    mount --bind "$1" "$2/live" && mount --bind "$3" "$2/out" && mount -t proc proc "$2/proc"
    shift 1; root=$1; shift 2
    exec chroot "$root" env OUT=/out HOME=/tmp RANK=0 WORLD_SIZE=1 USE_LIBUV=0 \
      OMP_NUM_THREADS=1 GLOO_SOCKET_IFNAME=lo TORCH_CPP_LOG_LEVEL=ERROR \
      UCX_LOG_LEVEL=fatal PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=1 \
      python3 /live/"$@"' sh "$here" "$root" "$out" $program <"$jobs"
done
