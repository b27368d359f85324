#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A workload: SQLite, a program of another project. Inserts in transactions with a rollback
# journal and with a write-ahead log (whose index is a mapped file), reads, deletes,
# rolls back, vacuums.
#
#	sqlite.sh [--rows=N] DIRECTORY
set -eu

rows=200
dir=
for arg; do
	case $arg in
	--help)
		sed -n '4,/^[^#]/s/^# \{0,1\}//p' "$0"
		exit 0 ;;
	--rows=*) rows=${arg#*=} ;;
	-*)
		echo "sqlite.sh: $arg: unknown option, see --help" >&2
		exit 2 ;;
	*) dir=$arg ;;
	esac
done
if [ -z "$dir" ]; then
	echo "sqlite.sh: no directory given, see --help" >&2
	exit 2
fi

# Pseudo-random numbers, the same in every run.
fill() {
	echo "INSERT INTO t SELECT value, printf('name %d', value * 7919 % 1000003),
		hex(zeroblob(value * 31 % 97)) FROM generate_series($1, $2);"
}

for mode in delete wal; do
	sqlite3 -init /dev/null -bail "$dir/$mode.db" >"$dir/$mode.out" <<-END
		PRAGMA journal_mode=$mode;
		CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, filler TEXT);
		CREATE INDEX by_name ON t(name);
		BEGIN; $(fill 1 "$rows") COMMIT;
		BEGIN; $(fill $((rows + 1)) $((2 * rows))) ROLLBACK;
		BEGIN; $(fill $((rows + 1)) $((rows + rows / 2))) COMMIT;
		UPDATE t SET filler = name WHERE id % 10 = 3;
		DELETE FROM t WHERE id % 4 = 1;
		SELECT count(*), sum(id), max(name) FROM t;
		SELECT id FROM t WHERE name = 'name 15838';
		VACUUM;
		PRAGMA integrity_check;
	END
	sqlite3 -init /dev/null -bail "$dir/$mode.db" \
		'SELECT count(*), sum(length(filler)) FROM t;' >>"$dir/$mode.out"
done

for mode in delete wal; do
	cat "$dir/$mode.out"
	grep -qx ok "$dir/$mode.out"
done
tail -n +2 "$dir/delete.out" >"$dir/delete.rest"
tail -n +2 "$dir/wal.out" | cmp - "$dir/delete.rest"
