#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Links in the documentation lead to existing files.
set -u

cd "$(dirname "$0")/../.." || exit 1

bad=0
while IFS=: read -r file number link; do
	path=${link#']('}
	path=${path%')'}
	path=${path%%#*}
	[[ $path != *://* && -n $path ]] || continue # elsewhere, or in the same page
	[ -e "$(dirname "$file")/$path" ] && continue
	echo "$file:$number: there is no $path"
	bad=1
done < <(tests/lint/files '*.md' | xargs grep -nHoE '\]\([^) ]+\)')
exit $bad
