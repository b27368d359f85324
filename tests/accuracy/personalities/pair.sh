# SPDX-License-Identifier: GPL-2.0-only
# Two parallel devices of 4 ms and 16 MiB per second each, striped by 64 KiB, ext4.
# shellcheck shell=bash
modprobe dm_mod
for device in pair_a pair_b; do
	storage make "$device:fs=none:size_mib=512:latency_us=4000:bandwidth_mbps=16"
done
dmsetup create pair --table "0 $((1024 * 2048)) striped 2 128 /dev/pair_a 0 /dev/pair_b 0"
mkfs.ext4 -q -E assume_storage_prezeroed=1,nodiscard /dev/mapper/pair
mkdir -p /mnt/pair
mount /dev/mapper/pair /mnt/pair
