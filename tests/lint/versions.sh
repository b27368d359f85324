#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Only kmod/compat knows kernel versions and their features.
set -u

cd "$(dirname "$0")/../.." || exit 1

# Whole functions of tapefs that exist for one kind of kernel only: file, probe.
exceptions='^kmod/tapefs/(acl\.c|acl\.h|lower\.h|lower_attr\.c):[0-9]+:.*\bIOT_HAVE_GET_INODE_ACL\b'

found=$(tests/lint/files '*.c' '*.h' '*Kbuild*' '*Makefile' '*.mk' ':!kmod/compat/' |
	xargs grep -nHE '\b(LINUX_VERSION_CODE|KERNEL_VERSION|RHEL_RELEASE_CODE|IOT_HAVE_[A-Z_]+)\b' |
	grep -vE "$exceptions")
[ -z "$found" ] || { echo "$found"; exit 1; }
