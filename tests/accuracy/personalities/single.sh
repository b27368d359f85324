# SPDX-License-Identifier: GPL-2.0-only
# One device like each of pair's: 4 ms, 16 MiB per second, ext4.
# shellcheck shell=bash
storage make single:size_mib=1024:latency_us=4000:bandwidth_mbps=16
