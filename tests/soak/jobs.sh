# SPDX-License-Identifier: GPL-2.0-only
# jobs.sh - runs the jobs of a round at the same time, and checks their results. Sourced by guest.
#
# Each job has a directory for its program, $data, and one for traces and messages, $out. It runs in a subshell, writes its
# reasons to fail to $out/wrong, and kills that it has made to $out/killed.
# shellcheck shell=bash disable=SC2154 # variables of the other files

# read_job NUMBER JOB: sets kind, mode, options, command, events, limit, data and out. The options include the mode.
read_job() {
	local system program words
	IFS=';' read -r kind system mode options program events limit <<<"$2"
	data=/mnt/$system/soak.$1
	out=$soak/round/$1
	read -r -a command <<<"$program"
	command[0]=$workloads/${command[0]}
	read -r -a options <<<"$options"
	case $mode in
	*' in {'*) options+=("$mode") ;; # an expression with blanks
	*) read -r -a words <<<"$mode"; options+=("${words[@]}") ;;
	esac
}

wrong() {
	echo "$*" >>"$out/wrong"
}

# -- events -------------------------------------------------------------------------------------------

# The recorder's first child is the collector, the second one the command. With one child it is not known which.
kill_one() {
	local children
	mapfile -t children < <(pgrep -P "$recorder")
	case $1-${#children[@]} in
	recorder-*) kill -9 "$recorder" ;;
	collector-[12]) kill -9 "${children[0]}" ;;
	program-2) kill -9 -- "-${children[1]}" || kill -9 "${children[1]}" ;;
	*) return ;;
	esac 2>/dev/null && echo "$1" >>"$out/killed"
}

change() { # VERB [VALUE]
	local code
	iotape ctl --quiet --mount="$data" "$@" >"$out/ctl" 2>&1
	code=$?
	[ $code -le 1 ] || wrong "ctl $*: exit code $code: $(head -n 3 "$out/ctl")"
}

act() {
	case $1 in
	kill-replay) kill -9 "$recorder" && echo replay >>"$out/killed" ;;
	int-replay) kill -INT -- "-$recorder" && echo replay >>"$out/killed" ;;
	kill-*) kill_one "${1#kill-}" ;;
	status) iotape status --json >/dev/null || wrong "status: exit code $?" ;;
	*:*) change "${1%%:*}" "${1#*:}" ;;
	*) change "$1" ;;
	esac
} 2>/dev/null

# Performs "MILLISECONDS:ACTION..." one after the other while a process runs; without one: until the end.
perform_events() { # EVENTS FUNCTION [PID]
	local begin_ms event wait_ms list
	begin_ms=$(now_ms)
	mapfile -t list < <(tr ' ' '\n' <<<"$1" | grep . | sort -n)
	for event in "${list[@]}"; do
		wait_ms=$((begin_ms + ${event%%:*} - $(now_ms)))
		[ $wait_ms -le 0 ] || sleep_ms $wait_ms
		[ -z "${3:-}" ] || ! gone "$3" || break
		"$2" "${event#*:}"
	done
}

killed() {
	grep -qx "$1" "$out/killed" 2>/dev/null
}

# -- jobs ------------------------------------------------------------------------------------------------

# limited COMMAND...: in a control group with little memory, if the job has a limit.
limited() {
	[ -n "$limit" ] || exec "$@"
	mkdir -p "$group" && echo "${limit}M" >"$group/memory.max" && echo $BASHPID >"$group/cgroup.procs" && exec "$@"
}

# A program that was not killed, and had the memory, succeeds as without a recording. A stop may precede its first operation.
expect_code() { # CODE
	if [ "$1" = 1 ] && [[ $events == *:stop* ]] && grep -q 'nothing was recorded' "$out/said"; then
		return
	fi
	killed replay || killed recorder || killed collector || killed program || [ -e "$out/starved" ] || [ "$1" = 0 ] ||
		wrong "exit code $1: $(tail -n 3 "$out/said" | tr '\n' ' ')"
	case $1 in
	0 | 1 | 137) ;;
	3) [ "$kind" = replay ] || wrong "exit code 3" ;;
	130) killed replay || wrong "exit code 130" ;;
	*) wrong "exit code $1: $(tail -n 3 "$out/said" | tr '\n' ' ')" ;;
	esac
}

job_record() {
	local code group=/sys/fs/cgroup/soak.$1
	(limited iotape record -q "${options[@]}" -m "$data" -o "$out/trace.iot" -- setsid "${command[@]}" "$data" >"$out/said" 2>&1) &
	recorder=$!
	perform_events "$events" act $recorder
	wait $recorder
	code=$?
	if [ -n "$limit" ]; then
		grep -q '^oom_kill 0$' $group/memory.events || touch "$out/starved"
	fi
	expect_code $code
}

# Three programs join one recording; the events concern the first one's recorder.
job_join() {
	local i
	for i in 2 3; do
		mkdir "$data/$i"
		iotape record -q --join --job="soak.$1" "${options[@]}" -m "$data" -o "$out/joined" -- "${command[@]}" "$data/$i" >"$out/said.$i" 2>&1 &
	done
	mkdir "$data/1"
	iotape record -q --join --job="soak.$1" "${options[@]}" -m "$data" -o "$out/joined" -- "${command[@]}" "$data/1" >"$out/said" 2>&1 &
	recorder=$!
	# only changes: with several recorders it is not known whose collector a kill ends
	perform_events "$(tr ' ' '\n' <<<"$events" | grep -v kill | tr '\n' ' ')" act $recorder
	wait $recorder
	expect_code $?
	wait
}

is_recording() {
	grep -q recording "$out/said" || gone "$recorder"
}

# The programs come from outside of the recording.
job_attach() {
	mount -t tapefs "$data" "$data" || { wrong "mount fails"; return; }
	iotape record --attach "${options[@]}" -m "$data" -o "$out/trace.iot" >"$out/said" 2>&1 &
	recorder=$!
	wait_for 60 is_recording || wrong "no recording"
	(cd / && setsid "${command[@]}" "$data") >"$out/program" 2>&1 &
	program=$!
	perform_events "${events//kill-program/status}" act $recorder
	wait $program || wrong "the program ends with $?: $(tail -n 2 "$out/program" | tr '\n' ' ')"
	kill -INT $recorder 2>/dev/null
	wait $recorder
	expect_code $?
	umount "$data" || wrong "umount fails"
}

# A mount in use is not unmounted, except lazily; the program continues on it.
job_busy() {
	local i
	for i in 1 2; do
		mount -t tapefs "$data" "$data" || { wrong "mount fails"; return; }
		exec 7<"$data"
		mkdir "$data/$i"
		"${command[@]}" "$data/$i" >"$out/program" 2>&1 &
		! umount "$data" 2>/dev/null || wrong "a mount in use is unmounted"
		mount -o remount,mmap=faultaround "$data" || wrong "remount fails"
		umount -l "$data" || wrong "umount -l fails"
		wait $! || wrong "the program ends with $?: $(tail -n 2 "$out/program" | tr '\n' ' ')"
		exec 7<&-
	done
}

job_replay() {
	local program=$soak/programs/${command[0]##*/}.irp
	iotape init -q "$program" --target="$data" >"$out/said" 2>&1 || { wrong "init: $(head -n 1 "$out/said")"; return; }
	setsid iotape replay -q --engine=kernel "$mode" "$program" --target="$data" -o "$out/trace.iot" >"$out/said" 2>&1 &
	recorder=$!
	perform_events "$events" act $recorder
	wait $recorder
	code=$?
	[ $code = 3 ] || expect_code $code
	[ "$(wc -l <"$out/said")" -le 1 ] || wrong "more than one sentence: $(head -n 3 "$out/said")"
}

# The file system of the trace is full soon.
job_full() {
	mkdir "$out/tiny" && mount -t tmpfs -o size="$((limit * 16))k" tiny "$out/tiny" || { wrong "mount fails"; return; }
	iotape record -q "${options[@]}" -m "$data" -o "$out/tiny/trace.iot" -- "${command[@]}" "$data" >"$out/said" 2>&1
	case $? in
	0 | 1) ;;
	*) wrong "exit code $?: $(tail -n 3 "$out/said" | tr '\n' ' ')" ;;
	esac
	umount "$out/tiny" || wrong "umount fails"
}

# -- the system ------------------------------------------------------------------------------------------

# Takes nearly all memory. If memory ends, it is the first to be killed.
balloon() {
	local mib
	mib=$(awk '/^MemAvailable:/ { print int($2 / 1024) - 100 }' /proc/meminfo)
	[ "$mib" -gt 0 ] || return
	choom -n 1000 -- perl -e '$x = "\1" x ($ARGV[0] << 20); select(undef, undef, undef, 1)' "$mib"
}

processor=/sys/devices/system/cpu/cpu1/online

disturb() {
	case $1 in
	caches) echo 3 >/proc/sys/vm/drop_caches ;;
	compact) [ ! -e /proc/sys/vm/compact_memory ] || echo 1 >/proc/sys/vm/compact_memory ;;
	balloon) balloon ;;
	clock:*) date -s "@$(($(date +%s) + ${1#*:}))" >/dev/null ;;
	processor) [ ! -e $processor ] || echo $((1 - $(<$processor))) >$processor ;;
	esac
}

# After the jobs: all processors, the right time.
calm() {
	[ ! -e $processor ] || echo 1 >$processor
	date -s "@$((boot_s + $(now_ms) / 1000))" >/dev/null
}

# -- all of them --------------------------------------------------------------------------------------------

run_job() { # NUMBER JOB
	local kind mode options command events limit data out recorder=
	read_job "$1" "$2"
	mkdir -p "$out" "$data"
	"job_$kind" "$1"
	touch "$out/over"
}

are_over() {
	[ "$(find $soak/round -maxdepth 2 -name over | wc -l)" = ${#jobs[@]} ]
}

# Jobs that do not end are shown with their kernel stacks.
run_jobs() {
	local i
	mkdir -p $soak/round
	for i in "${!jobs[@]}"; do
		(run_job "$i" "${jobs[i]}") </dev/null >"$work/job.$i" 2>&1 &
	done
	perform_events "$disturbances" disturb
	wait_for $limit_s are_over && wait && return
	is_stuck=1
	echo w >/proc/sysrq-trigger
	tail -n 3 $soak/round/*/said
	ps -eo pid,ppid,stat,wchan:30,args | grep -E 'iotape|workloads' | grep -v grep
	return 1
}

# -- results ------------------------------------------------------------------------------------------------

is_intact() { # TRACE
	if [[ $mode == --seal* ]]; then
		iotape unseal --key=$soak/key "$1" -o - >$soak/unsealed || [ -s $soak/unsealed ] || return
		[ ! -s $soak/unsealed ] || iotape verify $soak/unsealed # empty: the recorder was killed before it wrote something
	else
		iotape verify "$1"
	fi
}

# Traces are intact unless their collector was killed or lacked memory.
check_job() { # NUMBER JOB
	local kind mode options command events limit data out trace code
	read_job "$1" "$2"
	while IFS= read -r trace; do
		is_intact "$trace" >"$out/verdict" 2>&1
		code=$?
		if [ $code = 0 ] || { [ $code = 1 ] && { killed collector || [ -e "$out/starved" ]; }; }; then
			continue
		fi
		wrong "${trace##*/}: verify: exit code $code: $(head -n 2 "$out/verdict")"
	done < <(find "$out" -name '*.iot*' -type f -size +0)
	[ -e "$out/wrong" ] || return 0
	sed "s/^/job $1: /" "$out/wrong"
	cat "$out/killed" 2>/dev/null
	return 1
}

check_jobs() {
	local i code=0
	for i in "${!jobs[@]}"; do
		check_job "$i" "${jobs[i]}" || code=1
		rmdir "/sys/fs/cgroup/soak.$i" 2>/dev/null
	done
	return $code
}
