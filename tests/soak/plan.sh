# SPDX-License-Identifier: GPL-2.0-only
# plan.sh - draws the jobs of a round. All random numbers are drawn here, by the main shell, before anything runs: a subshell
# would have others. Sourced by guest.
# shellcheck shell=bash disable=SC2034 # variables for the other files

# Programs for the kernel engine.
replayed=(seqrand metadata maps forks aio locks)

# pick NAME WORD...: sets the variable to one of the words.
pick() {
	local -n picked=$1
	shift
	picked=${*:RANDOM % $# + 1:1}
}

# chance PERCENT
chance() {
	[ $((RANDOM % 100)) -lt "$1" ]
}

draw_program() {
	pick program "seqrand --blocks=32 --random=40" metadata acl openers "maps --pages=512" forks aio handover "locks --rounds=8" pipes \
		"random --seed=$RANDOM" turns
}

draw_expression() {
	pick word 'size>=4096' 'class==metadata' 'every(3)' 'duration>1ms' 'share(30%)' 'result<0' 'op in {read,write,open}||result<0'
}

# What may be combined with one another is one word here.
draw_mode() {
	pick mode '' '' filter ops counters intervals by-command flight flight-time stacks stacks-some wakes stacks-wakes seal delay
	case $mode in
	filter) draw_expression; mode="--filter=$word" ;;
	ops) pick mode --ops=metadata --ops=metadata,data --ops=mapping,sync ;;
	counters) pick mode --counters --counters=16 ;;
	intervals) mode='--counters --counters-interval=1' ;;
	by-command) mode='--counters --counters-by=command,user' ;;
	flight) mode='--flight=1M --flight-at-end --flight-latency=1' ;;
	flight-time) mode='--flight=1s --flight-on-error=any --flight-dumps=3' ;;
	stacks) mode=--stacks ;;
	stacks-some) mode=--stacks=open,data ;;
	wakes) mode=--wakes ;;
	stacks-wakes) mode='--stacks --wakes' ;;
	seal) mode=--seal=$soak/key.pub ;;
	delay) mode=--delay ;;
	esac
}

draw_options() {
	pick word block block drop
	options="--policy=$word"
	pick word 4 16 64
	options+=" --buffers=$word"
	pick word page page faultaround off
	options+=" --mmap=$word"
	pick word 10 200 2000
	options+=" --flush=$word"
	! chance 70 || options+=" --no-calibration"
}

# Each event is MILLISECONDS:ACTION.
draw_events() {
	local i=$((RANDOM % 4))
	events=
	while [ $i -gt 0 ]; do
		pick word pause resume flush counters dump stop policy:drop policy:block buffers:4 buffers:64 mmap:off mmap:page filter \
			filter:none status kill-recorder kill-collector kill-program kill-program
		if [ "$word" = filter ]; then
			draw_expression
			word="filter:${word// /}"
			[[ $word != *in\{* ]] || word=filter:size\>=1
		fi
		events+=" $((RANDOM % 4000)):$word"
		i=$((i - 1))
	done
}

# A job is KIND;FILE SYSTEM;MODE;OPTIONS;PROGRAM;EVENTS;LIMIT IN MIB.
draw_job() {
	local kind system mode='' options='' program='' events='' limit=''
	pick kind record record record record join attach busy replay replay full
	pick system "${systems[@]}"
	draw_options
	draw_program
	[ "$program $system" != "aio tmpfs" ] || program=metadata # no direct requests there
	draw_events
	case $kind in
	record | attach) draw_mode ;;
	join) pick mode '' --counters --stacks --wakes ;;
	replay)
		pick program "${replayed[@]}"
		pick mode --pace=full --pace=natural --pace=5 --window=0
		pick events '' '' "$((RANDOM % 1500)):kill-replay" "$((RANDOM % 1500)):int-replay"
		;;
	full) pick limit 1 1 2 ;; # of the file system of the trace
	esac
	[ $kind != attach ] || [ "$mode" != --delay ] || mode=--wakes # refused
	[ $kind != record ] || [ "$system" = tmpfs ] || ! chance 15 || limit=64
	jobs+=("$kind;$system;$mode;$options;$program;$events;$limit")
}

# Sets jobs, disturbances (of the system, as events), is_reload, and plan: both as text.
draw_plan() {
	local i=$((RANDOM % 3 + 1))
	jobs=()
	while [ $i -gt 0 ]; do
		draw_job
		i=$((i - 1))
	done
	disturbances=
	for i in 1 2; do
		chance 60 || continue
		pick word caches balloon "clock:3600" "clock:-3600" "clock:86400" processor processor compact
		disturbances+=" $((RANDOM % 3000)):$word"
	done
	is_reload=
	! chance 25 || is_reload=1
	plan=("round $round:$disturbances${is_reload:+, then modules are reloaded}" "${jobs[@]/#/  }")
}
