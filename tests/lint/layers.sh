#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each file includes only what its layer may.
#
# "name.h" without a directory is a header that lies beside the file, and is always allowed.
set -u

cd "$(dirname "$0")/../.." || exit 1

contract='<iotape/[a-z_]+\.h>'
core='"core/[a-z_0-9]+\.h"'
library='"lib/iotape\.h"'
kernel='<(linux|asm|net|uapi)/[a-z_0-9/-]+\.h>'
libc='<[a-zA-Z_0-9/.-]+\.h>'

# The first line whose directory holds the file counts.
layers=(
	"ioctl-api/include/     <linux/(types|ioctl)\.h>|$contract"
	"ioctl-api/core/port.h  $libc"
	"ioctl-api/core/        $contract"
	"kmod/compat/           $kernel"
	"kmod/iotape/           $kernel|$contract|$core"
	"kmod/tapefs/           $kernel|$contract|$core|\"iotape/iotape\.h\"|\"compat/[a-z]+\.h\""
	"replayfs/              $kernel|$contract|$core|\"iotape/iotape\.h\"|\"compat/[a-z]+\.h\""
	"userspace/lib/         $libc|$core"
	"userspace/             $libc|$core|$library"
	"tools/                 $libc|$core|$library|\"(analyse|collectord|compile|export|import|mpi|record|replay)/[a-z]+\.h\""
	"tests/                 .*"
)

# Sets allowed to a regular expression of what a file may include.
find_allowed() {
	local layer
	allowed=
	for layer in "${layers[@]}"; do
		if [[ $1 == "${layer%% *}"* ]]; then
			allowed=${layer##*  }
			return
		fi
	done
}

# Functions that have no business in the core, which has no way to include them, but one to
# declare them.
impure='\b(k?[mcz]alloc|realloc|k?free|printf|pr_[a-z]+|printk|spin_lock|mutex_lock|clock_gettime|ktime_get)\('

bad=0
complain() {
	echo "$1"
	bad=1
}

while IFS= read -r file; do
	find_allowed "$file"
	[ -n "$allowed" ] || { complain "$file:1: lies in no layer"; continue; }
	while IFS=: read -r number line; do
		[[ $line =~ ([<\"][^>\"]*[>\"]) ]] && what=${BASH_REMATCH[1]}
		# of another part only the one header that has its name
		if [[ $file == tools/* && $what =~ ^\"([a-z]+)/([a-z]+)\.h\"$ &&
			${BASH_REMATCH[1]} != core && $what != '"lib/iotape.h"' &&
			${BASH_REMATCH[1]} != "${BASH_REMATCH[2]}" ]]; then
			complain "$file:$number: may not include $what"
		elif [[ $what =~ ^\"([^/]*)\"$ ]]; then
			[ -f "${file%/*}/${BASH_REMATCH[1]}" ] ||
				complain "$file:$number: $what does not lie beside it"
		elif [[ ! $what =~ ^($allowed)$ ]]; then
			complain "$file:$number: may not include $what"
		fi
	done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file")
done < <(tests/lint/files '*.c' '*.h')

while IFS= read -r line; do
	complain "$line: not in the core"
done < <(tests/lint/files 'ioctl-api/core/*.[ch]' | xargs grep -nHoE "$impure")

exit $bad
