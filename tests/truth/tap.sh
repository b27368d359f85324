# SPDX-License-Identifier: GPL-2.0-only
# tap.sh - TAP output for the tests of this directory, to be sourced. Sets top, the top of the
# tree; bin, the directory of test programs; and out, a directory that is removed at exit.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck disable=SC2034 # for the scripts that source this
bin=$top/build/tests
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
number=0
failures=0

# ok DESCRIPTION COMMAND...: prints one line, depending on the exit code of COMMAND, and the output of
# COMMAND if it failed.
ok() {
	local what=$1
	shift
	number=$((number + 1))
	if "$@" >"$out/check" 2>&1; then
		echo "ok $number - $what"
		return
	fi
	echo "not ok $number - $what"
	LC_ALL=C tr -cd '[:print:]\n' <"$out/check" | head -n 20 | cut -c 1-300 | sed 's/^/# /'
	failures=$((failures + 1))
}

# code EXPECTED COMMAND...: does COMMAND end with this exit code?
code() {
	local expected=$1 got=0
	shift
	"$@" || got=$?
	[ "$got" = "$expected" ] || {
		echo "exit code $got, not $expected"
		return 1
	}
}

skip() {
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

finish() {
	echo "1..$number"
	[ $failures = 0 ]
}
