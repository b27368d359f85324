# SPDX-License-Identifier: GPL-2.0-only
# LMDB: its tools load a database, which is a mapped file, while others read and copy it.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages=lmdb-utils

version() {
	mdb_stat -V | cut -d ' ' -f 2 | tr -d :
}

# Pairs of lines, key and value, in the format of mdb_load -T.
pairs() { # FIRST COUNT
	awk -v first="$1" -v count="$2" 'BEGIN {
		for (i = first; i < first + count; i++)
			printf " key%08d\n value %d of no great meaning, but of some length\n", i * 7919 % 1000003, i
	}' | sed 's/^ //'
}

work() { # DIRECTORY
	local id workers=()
	mkdir "$1/db" || return
	pairs 0 300 | mdb_load -T "$1/db" || return
	for id in 1 2 3; do
		pairs $((id * 1000)) 300 | mdb_load -T "$1/db" &
		workers+=($!)
		mdb_dump "$1/db" >"$1/dump.$id" &
		workers+=($!)
	done
	for id in "${workers[@]}"; do
		wait "$id" || return
	done
	mkdir "$1/copy"
	mdb_copy -c "$1/db" "$1/copy" && mdb_stat -ef "$1/copy" >"$1/stat" &&
		[ "$(sed -n 's/.*Entries: //p' "$1/stat" | tail -n 1)" = 1200 ]
}
