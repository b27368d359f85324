# SPDX-License-Identifier: GPL-2.0-only
# 1 ms for each request, ext4, and 24 MiB of memory for the program and its page cache.
# shellcheck shell=bash
storage make small:size_mib=1024:latency_us=1000
mkdir -p /sys/fs/cgroup/small
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
echo $((24 << 20)) >/sys/fs/cgroup/small/memory.high
