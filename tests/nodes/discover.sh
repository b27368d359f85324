# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2317 # a part of tests/nodes/guest
# discover --nodes: programs on two and three nodes that take turns by TCP; nodes, recorders and controllers that die during
# a delay; users that try to look at the threads of others.

relay=$top/build/tests/nodes/relay
rounds=3

# The node of each process.
hosts() { # NODES PROCESSES
	local process
	for ((process = 0; process < $2; process++)); do
		echo "node$((process / ($2 / $1)))"
	done
}

discover() { # NAME NODES PROCESSES KIND [OPTION]...
	local name=$1 nodes=$2 count=$3 kind=$4 hosts
	mapfile -t hosts < <(hosts "$nodes" "$count")
	shift 4
	"$here/enter" head timeout 250 "$iotape" discover --nodes --shared=none --mpi=off "$@" -m /srv -o "$work/$name.iot" -- \
		"$here/launch" "$nodes" "$count" '{record}' "$relay" "$kind" /srv $rounds "${hosts[@]}" >"$work/$name.said" 2>&1
	code=$?
	cat "$work/$name.said"
	return $code
}

# The orders of a trace, one a line: PROCESS OPERATION < PROCESS OPERATION; writes have a number.
orders() { # NAME
	"$iotape" dump --json --all "$work/$1.iot" | perl -MJSON::PP -ne '
		$r = decode_json($_) if /^\{/;
		push @orders, $r if $r->{kind} eq "discovered";
		next unless defined $r->{result} && $r->{path} && $r->{kind} =~ /^(open|write|flush)$/;
		$of{"$r->{task} $r->{op}"} = $r;
		END {
			for $at (sort { $of{$a}{op} <=> $of{$b}{op} } keys %of) {
				$o = $of{$at};
				$name{$at} = "$o->{path} $o->{kind}" . ($o->{kind} eq "write" ? ++$n{$o->{task}} : "");
				$name{$at} =~ s,^node\d+/turn\.,,;
			}
			print map { ($name{"$_->{task} $_->{op}"} // "?") . " < " .
				($name{"$_->{waiter} " . ($_->{waiter_op} + 1)} // "?") . "\n" } @orders;
		}' | sort
}

expected() { # PROCESSES
	local i process
	for ((i = 1; i <= rounds; i++)); do
		for ((process = 0; process + 1 < $1; process++)); do
			echo "$process write$i < $((process + 1)) write$i"
		done
		if [ $i = $rounds ]; then
			echo "$(($1 - 1)) write$i < 0 flush"
		else
			echo "$(($1 - 1)) write$i < 0 write$((i + 1))"
		fi
	done | sort
}

finds() { # NAME NODES PROCESSES KIND [OPTION]...
	discover "$@" && diff <(expected "$3") <(orders "$1") || return
	grep -qE ": [0-9]+ runs with [1-9][0-9]* delays: $(($3 * rounds)) orders, 0 of them known from other causes" "$work/$1.said" &&
		! grep -q 'were lost' "$work/$1.said"
}

# Writes in the order of their beginnings: the number of writes, and of those that begin before the one before has ended, or
# that are of the same node as the one before.
turns_of_trace() { # TRACE
	"$iotape" dump --json --kind=op "$1" | perl -MJSON::PP -ne '
		$r = decode_json($_) if /^\{/;
		push @w, $r if $r->{kind} eq "write";
		END {
			@w = sort { $a->{enter_ns} <=> $b->{enter_ns} } @w;
			$bad = grep { $w[$_]{path} eq $w[$_ - 1]{path} || $w[$_]{enter_ns} < $w[$_ - 1]{enter_ns} + $w[$_ - 1]{duration_ns} } 1 .. $#w;
			print scalar(@w), " ", $bad, "\n";
		}'
}

replays() { # NAME OUTPUT [OPTION]...
	"$iotape" compile -q "${@:3}" "$work/$1.iot" -o "$work/$2.irp" || return
	rm -rf "/mnt/fast/$2"
	mkdir "/mnt/fast/$2" && "$iotape" init -q "$work/$2.irp" --target="/mnt/fast/$2" &&
		"$iotape" replay -q "$work/$2.irp" --engine=thread --target="/mnt/fast/$2" --pace=full -o "$work/$2.out.iot"
}

keeps_turns() { # NAME NODES
	local writes bad
	replays "$1" with || return
	read -r writes bad < <(turns_of_trace "$work/with.out.iot")
	[ "$writes" = $(($2 * rounds)) ] && [ "$bad" = 0 ] || { echo "with: $writes writes, $bad out of turn"; return 1; }
	replays "$1" without --without=discovered || return
	read -r writes bad < <(turns_of_trace "$work/without.out.iot")
	[ "$writes" = $(($2 * rounds)) ] && [ "$bad" -gt 0 ] || { echo "without: $writes writes, $bad out of turn"; return 1; }
}

contents() {
	(cd "$cluster" && md5sum node*.storage/turn.*)
}

# Of the program without recorder, and after a search.
same_contents() { # NODES
	local hosts after
	mapfile -t hosts < <(hosts "$1" "$1")
	after=$(contents)
	"$here/launch" "$1" "$1" "$relay" turns /srv $rounds "${hosts[@]}" && diff <(contents) <(echo "$after")
}

# Only the threads of node1 are delayed: what others wait for is not found.
one_node() {
	discover some 2 2 turns --nodes=node1 && ! grep 'of node0 (' "$work/some.said" && grep -q 'thread 1 of node1 (' "$work/some.said" &&
		diff <(expected 2 | grep '^1') <(orders some)
}

other_node() {
	! discover other 2 2 turns --nodes=node7 && grep -q 'the command ran on no node node7' "$work/other.said" && ! ls "$work"/other.iot* 2>/dev/null
}

without_word() {
	! "$iotape" discover --nodes -- true >"$work/said" 2>&1 && grep -q 'no word of the command is {record}' "$work/said"
}

nothing_left() {
	! ls -d "$work"/*.nodes "$work"/*.run* 2>/dev/null
}

# -- a delay of an hour --------------------------------------------------------------------------------

# The thread of node0 is delayed for an hour, while that of node1 is never blocked. Sets controller and launcher.
hour_begin() { # NAME
	dir=/mnt/fast/traces.$1
	rm -rf "$dir" controls controlled.out "$cluster"/node[01].storage/turn.* && mkdir -m 700 "$dir" && mkfifo controls || return
	"$here/enter" head "$top/build/tests/nodes/controlled" "$dir/controller" node0 2 <controls >controlled.out &
	controller=$!
	exec 7>controls
	wait_until grep -qs ready controlled.out || return
	"$here/launch" 2 2 "$iotape" record --join -q --no-calibration --mpi=off -o "$dir" -m /srv --controller="$dir/controller" \
		--delay=thread=1,limit=3600s,total=3600s -- "$relay" busy /srv $rounds node0 node1 >launched 2>&1 &
	launcher=$!
	wait_until test -s "$cluster/node1.storage/turn.1" && wait_until test -e "$cluster/node0.storage/turn.0" || { cat launched; return 1; }
	sleep 2
	[ ! -s "$cluster/node0.storage/turn.0" ] || { echo "it is not delayed"; cat launched controlled.out; return 1; }
}

wait_until() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		"$@" && return
		sleep 0.1
	done
	echo "still not: $*"
	return 1
}

# The process with the session of a node leads a session of processes.
holder_of() { # NODE
	local pid words stat uts
	uts=$(readlink "/proc/$(cat "$cluster/$1.pid")/ns/uts")
	for pid in /proc/[0-9]*; do
		mapfile -d '' -t words 2>/dev/null <"$pid/cmdline" || continue
		[[ ${words[0]:-} == */iotape && ${words[1]:-} == record && $(readlink "$pid/ns/uts") == "$uts" ]] || continue
		read -r -a stat 2>/dev/null <"$pid/stat" || continue
		[ "${stat[5]}" != "${pid#/proc/}" ] || echo "${pid#/proc/}"
	done
}

has_ended() { # PID
	! kill -0 "$1" 2>/dev/null
}

# hour_end CODE: the program goes on and ends; its files are complete.
hour_end() {
	local result=0
	wait_until has_ended "$launcher" || { kill "$launcher"; return 1; }
	wait "$launcher" || result=1
	exec 7>&-
	wait "$controller"
	cat launched controlled.out
	[ "$result" = "$1" ] && [ "$(stat -c %s "$cluster/node0.storage/turn.0")" = $((rounds * 4096)) ] && wait_until no_session
}

no_session() {
	[ -z "$("$iotape" status --json)" ]
}

abandoned() {
	"$iotape" dump --json --all "$dir/node0.iot" | grep '"kind":"delayed"' >delays
	cat delays
	[ "$(wc -l <delays)" = 1 ] && grep -q '"ending":"abandoned"' delays
}

delayed_recorder_dies() {
	hour_begin one && kill -KILL "$(holder_of node0)" && hour_end 1 && grep -q '2 nodes, 1 lost, 0 released' controlled.out
}

other_recorder_dies() {
	hour_begin two && kill -KILL "$(holder_of node1)" && hour_end 1 && grep -q '2 nodes, 1 lost, 0 released' controlled.out && abandoned
}

controller_dies() {
	hour_begin three && kill -KILL $controller && hour_end 0 && abandoned
}

# A stranger connects, says nothing or nonsense, and changes nothing.
stranger() {
	local port
	hour_begin four || return
	port=$(sed -n 's/^port //p' "$dir/controller")
	"$here/enter" head bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; head -c 2000 /dev/urandom >&3; exec 4<>/dev/tcp/127.0.0.1/$port; sleep 7" 2>&1
	[ ! -s "$cluster/node0.storage/turn.0" ] && [ -z "$(cut -s -d, -f2 controlled.out)" ] || { echo "it is not delayed any more"; return 1; }
	kill -KILL $controller && hour_end 0 && abandoned
}

no_file() {
	says_no_controller "$iotape" record --join --mpi=off -o "$work/none" -m /srv --delay=limit=1s -- true &&
		! "$here/enter" node0 "$iotape" record --join --mpi=off --no-calibration -o "$work/none" -m /srv --delay=limit=1s \
			--controller=/etc/hosts -- true >"$work/said" 2>&1 && cat "$work/said" &&
		grep -q 'not a file of the controller of iotape discover' "$work/said"
}
says_no_controller() {
	! "$@" >"$work/said" 2>&1 && grep -q 'cannot be combined with --join without --controller' "$work/said"
}

part_discover() {
	mpi=nodes
	command -v ip >/dev/null || { number=$((number + 1)); echo "ok $number - discover --nodes # SKIP ip is missing (Debian: iproute2)"; return; }
	modprobe veth && modprobe bridge
	mkdir /mnt/fast/cluster
	ok "nodes with networks, names and storage of their own" cluster_open 3 /mnt/fast/cluster
	ok "hand-overs by TCP between two nodes are found" finds two 2 2 turns
	ok "the program has written the same as without recorder" same_contents 2
	ok "a replay keeps their order, and does not without it" keeps_turns two 2
	ok "hand-overs between three nodes are found" finds three 3 3 turns
	ok "a replay keeps their order, and does not without it" keeps_turns three 3
	ok "hand-overs between four processes on two nodes, which begin in another order in each run" finds four 2 4 turns
	ok "hand-overs between two spinning nodes are found" finds spin 2 2 spin
	ok "only the threads of chosen nodes are delayed" one_node
	ok "a node that does not exist is refused" other_node
	ok "a command without recorder is refused" without_word
	ok "no trace of a run is left" nothing_left
	ok "the recorder of the delayed thread is killed: it continues" delayed_recorder_dies
	ok "the recorder of another node is killed: the delayed thread continues" other_recorder_dies
	ok "the controller is killed: the delayed thread continues" controller_dies
	ok "strangers change nothing" stranger
	ok "delays on several nodes need a controller" no_file
	cluster_close
}
