# SPDX-License-Identifier: GPL-2.0-only
# 1 ms for each request, XFS.
# shellcheck shell=bash
storage make xfs:fs=xfs:size_mib=1024:latency_us=1000
