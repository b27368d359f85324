#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Comments of modules and core have valid kernel-doc syntax.
set -u

cd "$(dirname "$0")/../.." || exit 1

# of the newest kernel with headers on this machine
tool=$(ls -d "${IOTAPE_CACHE:-build/cache}"/kernels/*/build/scripts/kernel-doc \
	/usr/lib/linux-kbuild-*/scripts/kernel-doc 2>/dev/null | sort -V | tail -n 1)
[ -n "$tool" ] || { echo "no kernel headers here that have kernel-doc"; exit 4; }
command -v perl >/dev/null || { echo "no perl"; exit 4; }

mapfile -t files < <(tests/lint/files 'kmod/*.[ch]' 'replayfs/*.[ch]' 'ioctl-api/core/*.[ch]')
found=$("$tool" -none "${files[@]}" 2>&1)
[ -z "$found" ] || { echo "$found"; exit 1; }
