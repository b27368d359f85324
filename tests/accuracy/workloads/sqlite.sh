# SPDX-License-Identifier: GPL-2.0-only
# The SQLite shell: inserts, updates, deletions, a vacuum, with a rollback journal and a write-ahead log.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=sqlite3
programs=(sqlite3 grep tail cmp)

work() { # DIRECTORY
	"$bin/workloads/sqlite.sh" --rows=150 "$1"
}
