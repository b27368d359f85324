#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The shell scripts pass shellcheck.
set -u

cd "$(dirname "$0")/../.." || exit 1
command -v shellcheck >/dev/null || { echo "shellcheck is not installed"; exit 4; }

mapfile -t scripts < <(tests/lint/files '*' | xargs -d '\n' grep -lE -m1 '^#!/bin/(ba)?sh' 2>/dev/null)
printf '%s\0' "${scripts[@]}" |
	xargs -0 -P "$(nproc)" -n 15 shellcheck --format=gcc --severity=warning --external-sources
