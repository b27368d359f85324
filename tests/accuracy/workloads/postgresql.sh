# SPDX-License-Identifier: GPL-2.0-only
# PostgreSQL: a server with its background processes, and pgbench with four clients.
# shellcheck shell=bash disable=SC2034,SC2154 # of and for lib.sh
packages=postgresql
programs=(setpriv env)
trees=(/usr/lib/postgresql /usr/share/postgresql /usr/share/zoneinfo/UTC /etc/passwd /etc/group)

as_postgres() {
	local postgres
	postgres=$(echo /usr/lib/postgresql/*/bin)
	setpriv --reuid=postgres --regid=postgres --clear-groups env -i "PATH=$postgres:$PATH" LC_ALL=C TZ=UTC \
		PGHOST=/tmp PGUSER=postgres PGDATABASE=postgres "$@"
}

prepare() { # DIRECTORY
	mkdir "$1/data" && chown postgres "$1/data" && as_postgres initdb -D "$1/data" -A trust --no-sync >/dev/null
}

work() { # DIRECTORY
	as_postgres pg_ctl -D "$1/data" -w -s -l /tmp/postgres.log -o '-c listen_addresses= -c unix_socket_directories=/tmp' \
		start || return
	as_postgres pgbench -q -i -s 1 && as_postgres pgbench -c 4 -j 2 -t 40 -n
	local code=$?
	as_postgres pg_ctl -D "$1/data" -w -s -m fast stop && return $code
}
