# SPDX-License-Identifier: GPL-2.0-only
# SQLite: four processes write one database with a write-ahead log (whose index is a mapped
# file), while others read it, checkpoint it, and copy it.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages=sqlite3

version() {
	sqlite3 --version | cut -d ' ' -f 1
}

sql() {
	sqlite3 -init /dev/null -bail -cmd '.timeout 60000' "$@"
}

work() { # DIRECTORY
	local database=$1/shop.db id workers=()
	sql "$database" 'PRAGMA journal_mode=wal;
		CREATE TABLE sale(id INTEGER PRIMARY KEY, shop INTEGER, what TEXT);
		CREATE INDEX by_shop ON sale(shop);' >/dev/null || return
	for id in 1 2 3 4; do
		for batch in 1 2 3; do
			echo "BEGIN IMMEDIATE; INSERT INTO sale(shop, what) SELECT $id, printf('%d of $id', value)
				FROM generate_series(1, 100); COMMIT;
				SELECT count(*) > 0 FROM sale WHERE shop = $id;"
		done | sql "$database" >"$1/out.$id" &
		workers+=($!)
	done
	for id in "${workers[@]}"; do
		wait "$id" || return
	done
	sql "$database" 'PRAGMA wal_checkpoint(TRUNCATE);' >/dev/null || return
	sql "$database" "VACUUM INTO '$1/copy.db'" || return
	[ "$(sql "$1/copy.db" 'PRAGMA integrity_check; SELECT count(*) FROM sale;')" = $'ok\n1200' ]
}
