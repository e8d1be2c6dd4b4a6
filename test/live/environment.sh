#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# environment.sh ROOT [CHECKOUT TAG...]
# Makes the folder ROOT into a Debian system (trixie) with PyTorch and what Megatron-LM and
# DeepSpeed need on a CPU, if it is not one yet, and puts the sources of tags of a checkout
# of one of them into it. Needs root and, to make the system, the network; runs need neither
# the network nor a GPU.
#
#   environment.sh /tmp/live ~/Megatron-LM core_v0.12.0 core_v0.19.0
#   environment.sh /tmp/live ~/DeepSpeed v0.19.5
set -eu
root=$1
shift
packages="python3-torch python3-packaging python3-psutil python3-einops python3-setuptools
  python3-six python3-requests python3-yaml python3-regex python3-tqdm"
# Of DeepSpeed.
packages="$packages python3-pydantic python3-hjson python3-cpuinfo python3-msgpack ninja-build"

if ! test -e "$root/src"; then
  test -e "$root/usr/bin/apt-get" || debootstrap --variant=minbase trixie "$root"
  # shellcheck disable=SC2086
  chroot "$root" apt-get install --yes --no-install-recommends $packages
  mkdir "$root/src"
fi

test $# -gt 0 || exit 0
checkout=$1
shift
for tag; do
  if git -C "$checkout" cat-file -e "$tag:deepspeed" 2>/dev/null; then
    sources="$root/src/deepspeed"
    paths="deepspeed op_builder accelerator csrc version.txt"
  else
    sources="$root/src/$tag"
    paths=$(git -C "$checkout" ls-tree --name-only "$tag" | grep -E '^megatron$|^tools$|\.py$')
  fi
  rm -rf "$sources"
  mkdir "$sources"
  # shellcheck disable=SC2086
  git -C "$checkout" archive "$tag" $paths | tar -x -C "$sources"
done
