#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No source is longer than 1000 lines.
set -u

cd "$(dirname "$0")/../.." || exit 1

bad=0
while IFS= read -r file; do
	lines=$(wc -l <"$file")
	if [ "$lines" -gt 1000 ]; then
		echo "$file:1000: goes on for $lines lines, split it"
		bad=1
	fi
done < <(tests/lint/files '*.c' '*.h' '*.sh' '*Makefile' 'tools/*' 'tests/*' ':!*.txt' ':!*.json' ':!*.iot')
exit $bad
