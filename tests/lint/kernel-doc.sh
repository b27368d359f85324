#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Functions of modules and core that other files call have kernel-doc, and its syntax is valid.
#
# Functions that the VFS calls are described by the VFS. A family of functions that differ only in the operation is
# described once, in its header.
set -u

cd "$(dirname "$0")/../.." || exit 1

# beginning of the names of a family | the header that describes it
families='tfs_emit_ kmod/tapefs/emit.h
tfs_do_ kmod/tapefs/lower.h
rfs_do_ replayfs/run_vfs.h'

bad=0
exempt=
while read -r family header; do
	exempt+="${exempt:+|}^$family"
	grep -q "${family}\*()" "$header" || { echo "$header:1: does not describe $family*()"; bad=1; }
done <<<"$families"

mapfile -t files < <(tests/lint/files 'kmod/*.[ch]' 'replayfs/*.[ch]' 'ioctl-api/core/*.[ch]')
mapfile -t sources < <(tests/lint/files 'kmod/*.c' 'replayfs/*.c' 'ioctl-api/core/*.c')

# Prints "FILE:LINE NAME" of each definition of a function that is not static and has no kernel-doc.
undocumented() {
	awk '
	function end_of_file() { documented = ""; name = "" }
	FNR == 1 { end_of_file() }
	/^\/\*\*$/ { wants_name = 1; next }
	wants_name { documented = match($0, /[a-z_0-9]+\(\)/) ? substr($0, RSTART, RLENGTH - 2) : ""; wants_name = 0 }
	/^[a-z_]/ && !/^(static|typedef|extern|enum|union) / && match($0, /[a-z_0-9]+\(/) {
		name = substr($0, RSTART, RLENGTH - 1)
		line = FNR
	}
	/;$/ { name = "" }
	/^{/ && name { if (name != documented) print FILENAME ":" line, name; name = "" }
	' "$@"
}

# Prints "NAME FILE" of each call.
calls() {
	awk '
	/^[ \t]/ && !/^[ \t]+\*/ {
		for (rest = $0; match(rest, /[a-z_0-9]+\(/); rest = substr(rest, RSTART + RLENGTH))
			print substr(rest, RSTART, RLENGTH - 1), FILENAME
	}' "$@" | sort -u
}

while IFS= read -r found; do
	echo "$found() is called by other files and has no kernel-doc"
	bad=1
done < <(awk -v exempt="$exempt" '
	NR == FNR { callers[$1] = callers[$1] " " $2; next }
	$2 ~ exempt { next }
	{
		file = $1
		sub(/:.*/, "", file)
		others = callers[$2] " "
		gsub(" " file " ", " ", others)
		if (others ~ /[a-z]/) print $1 ":", $2
	}' <(calls "${files[@]}") <(undocumented "${sources[@]}"))
[ "$(calls "${files[@]}" | wc -l)" -gt 1000 ] || { echo "${BASH_SOURCE[0]}:1: finds hardly any calls"; bad=1; }
[ $bad = 0 ] || exit 1

# of the newest kernel with headers on this machine
tool=$(ls -d "${IOTAPE_CACHE:-build/cache}"/kernels/*/build/scripts/kernel-doc \
	/usr/lib/linux-kbuild-*/scripts/kernel-doc 2>/dev/null | sort -V | tail -n 1)
[ -n "$tool" ] || { echo "no kernel headers here that have kernel-doc"; exit 4; }
command -v perl >/dev/null || { echo "no perl"; exit 4; }

found=$("$tool" -none "${files[@]}" 2>&1)
[ -z "$found" ] || { echo "$found"; exit 1; }
