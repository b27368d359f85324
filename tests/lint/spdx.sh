#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every source begins with the licence of its part.
set -u

cd "$(dirname "$0")/../.." || exit 1

bad=0
while IFS= read -r file; do
	case $file in
	ioctl-api/* | userspace/lib/* | userspace/api/* | userspace/include/* | userspace/python/* | tests/library/*) licence='GPL-2.0-only OR MIT' ;;
	*) licence='GPL-2.0-only' ;;
	esac
	case $file in
	*.c) expected="// SPDX-License-Identifier: $licence" ;;
	*.html) expected="<!-- SPDX-License-Identifier: $licence -->" ;;
	*.h | *.css | *.js) expected="/* SPDX-License-Identifier: $licence */" ;;
	*) expected="# SPDX-License-Identifier: $licence" ;;
	esac
	line=1
	case $(head -c 2 "$file") in '#!') line=2 ;; esac
	case $(sed -n "${line}p" "$file") in '# shellcheck '*) line=$((line + 1)) ;; esac
	if [ "$(sed -n "${line}p" "$file")" != "$expected" ]; then
		echo "$file:$line: should be: $expected"
		bad=1
	fi
done < <({
	tests/lint/files '*.c' '*.h' '*.sh' '*.css' '*.js' '*.html' '*.py' '*.mk' '*Kbuild' '*Makefile' '*Kbuild.probe'
	tests/lint/files '*' | xargs -d '\n' grep -lE -m1 '^#!' 2>/dev/null
} | sort -u)
exit $bad
