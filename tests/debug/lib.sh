#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Shared by the cases of tests/debug, on top of tests/robust/lib.sh: functions to make
# allocations fail, and to find leaked memory.
# Sourced by the cases, which are scripts that run in the guest.

# shellcheck source=tests/robust/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../robust/lib.sh"

suite=debug
debug=$top/build/tests/debug
failslab=/sys/kernel/debug/failslab
kmemleak=/sys/kernel/debug/kmemleak

# All allocations count, and failures are not logged.
injection_on() {
	local point
	if [ ! -d $failslab ]; then
		insmod "$debug/inject/inject.ko"
		return
	fi
	for point in failslab fail_page_alloc; do
		echo 0 >/sys/kernel/debug/$point/verbose
	done
	echo N >$failslab/ignore-gfp-wait
	echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait
	echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
	echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}

# with_failures PER_MILLE NAME COMMAND...: lets allocations of tasks named NAME fail while the command runs. With the
# kernel's own fault injection, tasks set make-it-fail themselves.
with_failures() {
	local code per_mille=$1 name=$2
	shift 2
	if [ -d $failslab ]; then
		echo Y >$failslab/task-filter
		echo $(((per_mille + 9) / 10)) >$failslab/probability
		echo -1 >$failslab/times
		"$@"
		code=$?
		echo 0 >$failslab/probability
	else
		printf %s "$name" >/sys/module/inject/parameters/comm
		echo $((1000 / per_mille)) >/sys/module/inject/parameters/one_in
		"$@"
		code=$?
		echo 0 >/sys/module/inject/parameters/one_in
	fi
	return $code
}

# adopt WHERE FILE: prints the tests of another program as tests of this one, without plan and suite name.
adopt() {
	local line failed=0
	while IFS= read -r line; do
		case $line in
		1..* | '# suite: '*) continue ;;
		'ok '* | 'not ok '*)
			number=$((number + 1))
			[[ $line != not* ]] || failed=$((failed + 1))
			echo "${line%%ok *}ok $number - $1: ${line#*- }" ;;
		*) echo "$line" ;;
		esac
	done <"$2"
	failures=$((failures + failed))
}

# borrow WHERE COMMAND...: runs another test, and adopts its tests.
borrow() {
	local where=$1
	shift
	"$@" >"$work/borrowed" 2>&1
	adopt "$where" "$work/borrowed"
	ok "$where: the program reaches its end" grep -q '^1\.\.' "$work/borrowed"
}

# kmemleak ignores objects younger than five seconds.
leaks() {
	sleep 6
	echo scan >$kmemleak
	sleep 1
	echo scan >$kmemleak
	cat $kmemleak
	[ ! -s $kmemleak ] && [ -z "$(cat $kmemleak)" ]
}

# The operations of a task are numbered: numbers without a record must be among the lost ones.
no_loss_uncounted() {
	local lost gaps
	readable "$work/trace" complete || return
	lost=$(iotape stat --json "$work/trace" | sed -n 's/.*"lost":\([0-9]*\).*/\1/p' | head -n 1)
	gaps=$(awk '$3 ~ /^[0-9]+$/ { if (!seen[$2, $3]++) count[$2]++; if ($3 > last[$2]) last[$2] = $3 }
		END { for (task in last) gaps += last[task] - count[task]; print gaps + 0 }' "$work/dump")
	echo "lost $lost, operations without a record $gaps"
	[ "$gaps" -le "$lost" ]
}

# Replaces end: unloads the modules, so that leaked memory has no references.
end_without_leaks() {
	[ ! -d /sys/module/inject ] || rmmod inject
	ok "the modules can be unloaded" rmmod replayfs tapefs iotape
	if [ -e $kmemleak ]; then
		ok "no memory is lost" leaks # not the words of a kernel log
	else
		number=$((number + 1))
		echo "ok $number - no memory is leaked # SKIP this kernel has no kmemleak"
	fi
	modprobe -a tapefs replayfs
	end
}
