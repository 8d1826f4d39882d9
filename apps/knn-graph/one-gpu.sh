#!/bin/sh
# `one-gpu.sh <n> <command...>` runs a command that sees the NVIDIA GPU n of this machine and no other: Vulkan has no
# CUDA_VISIBLE_DEVICES, and Dawn in Node cannot tell GPUs of one name apart. Needs root (a mount namespace).
set -eu
n=$1
shift
[ -e "/dev/nvidia$n" ] || { echo "there is no /dev/nvidia$n" >&2; exit 2; }
exec unshare --mount sh -eu -c '
  n=$1
  shift
  for device in /dev/nvidia[0-9]*; do
    [ "$device" = "/dev/nvidia$n" ] || mount --bind /dev/null "$device"
  done
  exec "$@"
' sh "$n" "$@"
