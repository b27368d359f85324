#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No file, and no directory, includes itself through others.
#
# layers.sh says what each directory may include; this check needs no table: it follows the includes that exist.
set -u

cd "$(dirname "$0")/../.." || exit 1

mapfile -t files < <(tests/lint/files '*.c' '*.h' ':!tests/')
declare -A exists
for file in "${files[@]}"; do exists[$file]=1; done

# Where the build looks for <name.h>, and for "name.h" that is not beside the file that includes it.
system=(ioctl-api/include userspace/include)
project=(ioctl-api userspace kmod)

# Sets included to the path of a file of the project, or to nothing.
find_included() { # DIRECTORY, NAME with its quotes or brackets
	local name=${2:1:-1} root roots
	included=
	if [[ $2 == \"* ]]; then
		roots=("$1" "${project[@]}")
	else
		roots=("${system[@]}")
	fi
	for root in "${roots[@]}"; do
		[ -z "${exists[$root/$name]:-}" ] || { included=$root/$name; return; }
	done
}

edges=$(mktemp)
trap 'rm -f "$edges"' EXIT
while IFS=: read -r file line; do
	[[ $line =~ ([<\"][^>\"]*[>\"]) ]] || continue
	find_included "${file%/*}" "${BASH_REMATCH[1]}"
	[ -z "$included" ] || echo "$file $included"
done < <(printf '%s\n' "${files[@]}" | xargs grep -HE '^[[:space:]]*#[[:space:]]*include') >"$edges"
[ "$(wc -l <"$edges")" -gt 500 ] || { echo "${BASH_SOURCE[0]}: hardly any includes found"; exit 1; }

bad=0
# Prints the members of circles, which tsort(1) names.
report() { # WHAT <EDGES
	local member
	while IFS= read -r member; do
		echo "$member:1: belongs to a circle of $1"
		bad=1
	done < <(tsort 2>&1 >/dev/null | sed -n 's/^tsort: \(.*\/.*\)$/\1/p')
}
report files <"$edges"
report directories < <(sed -E 's|/[^/ ]*( .*)/[^/]*$|\1|' "$edges" | awk '$1 != $2' | sort -u)
exit $bad
