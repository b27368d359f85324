# SPDX-License-Identifier: GPL-2.0-only
# 1 ms for each request, btrfs.
# shellcheck shell=bash
storage make btrfs:fs=btrfs:size_mib=1024:latency_us=1000
