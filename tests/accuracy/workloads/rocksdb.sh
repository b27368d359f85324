# SPDX-License-Identifier: GPL-2.0-only
# RocksDB: threads fill a database, each record synced, and read it at random.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=rocksdb-tools
programs=(db_bench)

work() { # DIRECTORY THREADS
	db_bench --db="$1/db" --benchmarks=fillrandom,readrandom --sync --num=150 --reads=300 --threads="$2" --value_size=400 \
		--compression_type=none --seed=7 --statistics=false
}
