# SPDX-License-Identifier: GPL-2.0-only
# LMDB: its tools load a database, which is a mapped file, dump it and copy it.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=lmdb-utils
programs=(mdb_load mdb_dump mdb_copy awk)

pairs() { # FIRST COUNT
	awk -v first="$1" -v count="$2" 'BEGIN {
		for (i = first; i < first + count; i++)
			printf "key%08d\nvalue %d of no great meaning, but of some length\n", i * 7919 % 1000003, i
	}'
}

work() { # DIRECTORY
	mkdir "$1/db" "$1/copy" || return
	local round
	for round in 1 2 3 4 5; do
		pairs $((round * 1000)) 300 | mdb_load -T "$1/db" || return
	done
	mdb_dump "$1/db" >"$1/dump" && mdb_copy -c "$1/db" "$1/copy"
}
