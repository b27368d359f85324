#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each file includes only what its layer may.
#
# "name.h" without a directory is a header that lies beside the file, and is always allowed; mpi_has.h is
# made when the MPI shim is built, and lies with its objects. Of
# another part of user space a file sees the one header that has the part's name, as in
# "compile/compile.h"; of a part of analyse, where each header is one result, any. Folders in pattern see what lies in it.
set -u

cd "$(dirname "$0")/../.." || exit 1

contract='<iotape/[a-z_]+\.h>'
core_trace='"core/(trace/)?[a-z_0-9]+\.h"'
core='"core/((trace|replay)/)?[a-z_0-9]+\.h"'
library='"lib/iotape\.h"'
kernel='<(linux|asm|net|uapi)/[a-z_0-9/-]+\.h>'
libc='<[a-zA-Z_0-9/.-]+\.h>'
user="$libc|$core|$library"
pattern='"pattern/[a-z_]+\.h"' # of its own folder, without those in it

# Of a list of parts, the headers that others may see.
parts() {
	local part headers=
	for part; do
		case $part in
		analyse) headers+='|"analyse/[a-z]+/[a-z_]+\.h"' ;;
		analyse/*) headers+="|\"$part/[a-z_]+\.h\"" ;;
		*) headers+="|\"$part/$part\\.h\"" ;;
		esac
	done
	echo "${headers#|}"
}

# The order of layers, from the bottom: a file may include what the line of its directory names,
# and that is only what stands above the line. The first line that fits a file counts.
layers=(
	"ioctl-api/include/     <linux/(types|ioctl)\.h>|$contract"
	"ioctl-api/core/port.h  $libc"
	"ioctl-api/core/trace/  $contract|$core_trace"
	"ioctl-api/core/replay/  $contract|$core"
	"ioctl-api/core/        $contract"
	"kmod/compat/           $kernel"
	"kmod/iotape/           $kernel|$contract|$core_trace|\"compat/[a-z]+\.h\""
	"kmod/tapefs/           $kernel|$contract|$core_trace|\"iotape/iotape\.h\"|\"compat/[a-z]+\.h\""
	"replayfs/              $kernel|$contract|$core|\"iotape/iotape\.h\"|\"compat/[a-z]+\.h\""
	"userspace/lib/         $libc|$core"
	"userspace/include/     <std(def|int)\.h>|<iotape/version\.h>"
	"userspace/api/         $user"
	"userspace/python/      nothing: it is Python, and loads libiotape"
	"userspace/analyse/graph/   $user"
	"userspace/analyse/order/   $user|$(parts analyse/graph)"
	"userspace/analyse/mpi/     $user|$(parts analyse/graph)"
	"userspace/analyse/passes/  $user|$(parts analyse/graph analyse/order analyse/mpi)"
	"userspace/analyse/clocks/  $user"
	"userspace/filter/      $user"
	"userspace/symbols/     $user"
	"userspace/analyse/stats/   $user|$(parts analyse/graph filter symbols)"
	"userspace/analyse/diff/    $user|$(parts analyse/graph)"
	"userspace/advise/      $user|$(parts analyse)"
	"userspace/report/      $user|$(parts analyse)"
	"userspace/export/      $user|$(parts analyse filter)"
	"userspace/collectord/  $user"
	"userspace/mpi/         $user"
	"userspace/import/      $user"
	"userspace/compile/     $user|$(parts analyse filter)"
	"userspace/discover/    $user"
	"userspace/anonymize/   $user|$(parts filter)"
	"userspace/merge/       $user|$(parts analyse)"
	"userspace/mix/         $user"
	"userspace/pattern/change/       $user|$pattern"
	"userspace/pattern/extrapolate/  $user|$pattern"
	"userspace/pattern/language/     $user|$pattern"
	"userspace/pattern/merge/        $user|$pattern"
	"userspace/pattern/trace/        $user|$pattern"
	"userspace/pattern/     $user|$(parts analyse/diff symbols)"
	"userspace/record/      $user|$(parts collectord)"
	"userspace/seal/        $user"
	"userspace/slurm/       $libc"
	"userspace/grant/       $libc"
	"userspace/transport/   $user"
	"userspace/replay/      $user|$(parts collectord transport)"
	"userspace/snapshot/    $user"
	"tools/                 $user|$(parts advise analyse anonymize collectord discover export filter mpi import compile merge mix pattern record replay report seal snapshot symbols)"
	"tests/                 .*"
)

# Sets allowed to a regular expression of the files that a file may include.
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

for layer in "${layers[@]}"; do
	[ -e "${layer%% *}" ] || complain "${BASH_SOURCE[0]}: there is no ${layer%% *}"
done

while IFS= read -r file; do
	find_allowed "$file"
	[ -n "$allowed" ] || { complain "$file:1: lies in no layer"; continue; }
	while IFS=: read -r number line; do
		[[ $line =~ ([<\"][^>\"]*[>\"]) ]] && what=${BASH_REMATCH[1]}
		if [[ $what =~ ^\"([^/]*)\"$ ]]; then
			[ -f "${file%/*}/${BASH_REMATCH[1]}" ] || [ "${BASH_REMATCH[1]}" = mpi_has.h ] ||
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
