# SPDX-License-Identifier: GPL-2.0-only
# RocksDB: db_bench with four threads fills a database, reads while it writes, and compacts;
# ldb checks the result.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages=rocksdb-tools

version() {
	dpkg-query -f '${Version}' -W rocksdb-tools
}

work() { # DIRECTORY
	local num=1500
	[ -z "${small:-}" ] || num=200
	db_bench --db="$1/db" --benchmarks=fillrandom,readrandom,readwhilewriting,compact,readseq \
		--threads=4 --num="$num" --value_size=400 --write_buffer_size=131072 --sync=false \
		--max_background_jobs=3 --compression_type=none --seed=7 --statistics=false \
		>"$1/said" 2>&1 || { tail -n 5 "$1/said"; return 1; }
	ldb --db="$1/db" checkconsistency && ldb --db="$1/db" scan --max_keys=20 --key_hex >/dev/null
}
