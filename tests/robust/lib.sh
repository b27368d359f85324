#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Shared by the cases, which are scripts that run in the guest and source this file: TAP, random
# delays, and the check that nothing is left behind.
# shellcheck disable=SC2034 # variables for the cases

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
workloads=$top/build/tests/workloads
programs=$top/build/tests/robust
storage=/mnt/fast
number=0
failures=0
rounds=${rounds:-8} # of cases that kill at random times
work=$(mktemp -d)
data=$storage/${0##*/}

# Also printed on the console: if a guest dies, the test is known.
mark() {
	echo "robust: ${0##*/}: $1" >/dev/kmsg
}

# ok WHAT COMMAND...: a test; the output of a failing command is the reason.
ok() {
	local what=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/check" 2>&1; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		head -n 30 "$work/check" | cut -c 1-300 | sed 's/^/# /'
		failures=$((failures + 1))
	fi
	mark "$number done: $what"
}

# The command must fail with this exit code and a matching message.
# says CODE PATTERN COMMAND...
says() {
	local want=$1 pattern=$2 code=0
	shift 2
	"$@" >"$work/said" 2>&1 || code=$?
	[ $code = "$want" ] || { echo "exit code $code, not $want"; cat "$work/said"; return 1; }
	grep -qE "$pattern" "$work/said" || { echo "no /$pattern/ in:"; cat "$work/said"; return 1; }
	[ "$(grep -c '^iotape' "$work/said")" = 1 ] ||
		{ echo "not one sentence:"; cat "$work/said"; return 1; }
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || { echo "still not: $*"; return 1; }
		sleep 0.02
	done
}

# Time since the boot of the guest.
now_ms() {
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

gone() {
	[ ! -d "/proc/$1" ]
}

# sleep_ms MILLISECONDS
sleep_ms() {
	sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
}

# child PID N: sets child to the Nth child of PID, as soon as it exists; fails if the parent has ended, or the kernel
# does not list children (CONFIG_PROC_CHILDREN).
child() {
	local children
	[ -e "/proc/$1/task/$1/children" ] || return
	until gone "$1"; do
		read -r -a children 2>/dev/null <"/proc/$1/task/$1/children" || :
		child=${children[$2 - 1]:-}
		[ -z "$child" ] || return 0
	done
	return 1
}

# -- is anything left behind? ------------------------------------------------------------------------

# Mounts; the project's modules with their use counts; its processes and kernel threads.
state() {
	local name used file
	printf '%s\n' "$(</proc/mounts)"
	while read -r name _ used _; do
		case $name in
		iotape | tapefs | replayfs) echo "module $name used $used" ;;
		esac
	done </proc/modules
	for file in /proc/[0-9]*/comm; do
		name=
		{ read -r name <"$file"; } 2>/dev/null
		case $name in
		iotape*) echo "process $name ${file//[!0-9]/}" ;;
		esac
	done
}

is_as_before() {
	[ "$(state)" = "$before" ]
}

remember() {
	before=$(state)
}

# The last parts of an ending process take a moment to disappear.
as_before() {
	wait_for 60 is_as_before >/dev/null && return
	echo "before and after:"
	diff <(echo "$before") <(state)
	return 1
}

clean_log() {
	dmesg | awk -v mark="robust: ${0##*/}: begins" \
		'index($0, mark) { is_on = 1 } is_on' | "$top/tests/vm/kernel-log"
}

modules_go() {
	rmmod replayfs tapefs iotape && modprobe -a tapefs replayfs
}

# -- traces -----------------------------------------------------------------------------------------

# readable TRACE complete|any: writes the dump of the trace to $work/dump.
readable() {
	iotape dump --all "$1" >"$work/dump" || { echo "$1: dump fails"; return 1; }
	[ "$2" = any ] || ! grep '^# .*not finished' "$work/dump"
}

# reasons TRACE: why it is incomplete, stated or inferred by stat; a word for each, separated by spaces.
reasons() {
	echo " $(iotape stat --json "$1" | grep -oE '"reason":"[a-z_]+"' | cut -d '"' -f 4 | tr '\n' ' ')"
}

# status FIELD: a field of the first session.
status() {
	iotape status --json | head -n 1 | sed -n "s/.*\"$1\": *\"\{0,1\}\([a-z0-9]*\).*/\1/p"
}

# -- start and end of a case ----------------------------------------------------------------------

begin() {
	echo "# suite: ${suite:-robust} ${0##*/}"
	modprobe -a tapefs replayfs || exit 1
	mkdir -p "$data"
	cd / || exit 1
	mark begins
	remember
}

end() {
	ok "nothing is left behind" as_before
	ok "the modules can be unloaded and loaded" modules_go
	ok "the kernel log is clean" clean_log
	rm -rf "$data" "$work"
	echo "1..$number"
	exit $((failures > 0))
}
