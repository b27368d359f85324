# SPDX-License-Identifier: GPL-2.0-only
# 1 ms for each request, ext4.
# shellcheck shell=bash
storage make mid:size_mib=1024:latency_us=1000
