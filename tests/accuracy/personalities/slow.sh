# SPDX-License-Identifier: GPL-2.0-only
# 10 ms for each request, 8 MiB per second, ext4.
# shellcheck shell=bash
storage make slow:size_mib=1024
