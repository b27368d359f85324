# SPDX-License-Identifier: GPL-2.0-only
# A device that answers at once, ext4.
# shellcheck shell=bash
storage make fast:size_mib=1024
