# SPDX-License-Identifier: GPL-2.0-only
# PostgreSQL: initdb, a server with its background processes, pgbench with four clients, a
# vacuum, a crash, and its recovery.
# shellcheck shell=bash disable=SC2034 # for tests/programs/guest
packages=postgresql
no_strace='it exceeds the time limit on an emulated machine'

postgres=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)

version() {
	"$postgres/postgres" --version | cut -d ' ' -f 3
}

# PostgreSQL does not run as root.
as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups env -i PATH="$postgres:$PATH" \
		LC_ALL=C small="${small:-}" PGHOST=/tmp PGUSER=postgres PGDATABASE=postgres "$@"
}

work() { # DIRECTORY
	chown postgres "$1" || return
	as_postgres bash "$here/postgresql.work" "$1"
}
