#!/usr/bin/env bash
# boot.sh GROUP FOLDER OPTION...: the machine itself once more, with systemd as its process 1. Everything it changes goes
# into memory. Run it in a mount and process name space of its own: nothing of it outlives that, mounts included.
set -eu
group=$1 work=$2
shift 2

# A control group of its own, which the caller can remove; the older layouts have systemd's in folders below.
for root in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
  [ -e "$root/cgroup.procs" ] || continue
  mkdir -p "$root/$group"
  echo $$ >"$root/$group/cgroup.procs"
done

mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
# Where nspawn notes down what runs; not on the machine itself.
mount -t tmpfs tmpfs /run

# basic.target: whatever else is installed on this machine stays down.
exec systemd-nspawn --quiet --boot --directory="$work/root" --machine=everturn-test --register=no --keep-unit \
  --console=pipe --link-journal=no "$@" -- systemd.unit=basic.target
