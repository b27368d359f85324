# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by tests/nodes/host and tests/nodes/guest. The caller sets iotape, mpi and target, and runs in
# a directory of its own.

# As root, and more nodes than processors; MPICH asks for neither.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none

# The command that the launcher runs on each node, before iotape.
each=()

number=0
failures=0

# ok DESCRIPTION COMMAND...: one line of TAP, depending on the exit code of COMMAND.
ok() {
	local what="$mpi: $1"
	shift
	number=$((number + 1))
	if "$@" >check.out 2>&1; then
		echo "ok $number - $what"
		return
	fi
	echo "not ok $number - $what"
	{ echo "$*"; head -n 20 check.out; } | cut -c 1-300 | sed 's/^/# /'
	failures=$((failures + 1))
}

prepare() { # NAME: the target is empty, and prepared for NAME.irp
	chmod -R u+rwx "$target" 2>/dev/null
	rm -rf "$target" out out.*
	mkdir "$target" && "$iotape" init -q "$1.irp" --target="$target"
}

# nodes COUNT NAME ENGINE [OPTION]...: stores the output in said and errors, the exit code in code.
nodes() {
	local count=$1 name=$2 engine=$3
	shift 3
	timeout 120 "mpirun.$mpi" -n "$count" "${each[@]}" "$iotape" replay --agent --engine="$engine" "$name.irp" \
		--target="$target" -o out "$@" >said 2>errors
	code=$?
	cat said errors
	[ "$code" != 124 ]
}

# The messages of iotape, without those of launchers.
sentences() {
	grep '^iotape replay: ' errors
}

first() { # KEY: the first number of this name in JSON; what is missing has one of its own behind it
	grep -oE "\"$1\":[0-9]+" | head -n 1 | sed 's/.*://'
}

value() { # KEY: a number in the summary that was printed as JSON
	first "$1" <said
}

# performed NODES NAME ENGINE: as in the trace, by this number of nodes, and no operation is missing.
performed() {
	local all sum
	prepare "$2" || return
	nodes "$1" "$2" "$3" --pace=full --json "${@:4}"
	[ "$code" = 0 ] && [ ! -s errors ] && [ "$(value nodes)" = "$1" ] && [ "$(value diverged)" = 0 ] ||
		return
	one_outcome "$1" || return
	sum=$("$iotape" dump --kind=op out | grep -vc '^#')
	all=$("$iotape" replay --engine=null --pace=full --json "$2.irp" | first operations)
	echo "$sum outcomes, $(value operations) operations of $all"
	[ "$(value operations)" = "$all" ] && [ "$sum" = "$all" ]
}

# one_outcome NODES: the outcomes of the nodes are one file, which compare reads and which is not partial.
one_outcome() {
	[ "$(ls -d out out.* 2>/dev/null)" = out ] || { ls; return 1; }
	"$iotape" compare out >compared || return
	cat compared
	! grep 'is partial\|incomplete' compared || return
	[ "$1" = 1 ] || [ "$(grep -c '^ *out  *[0-9]' compared)" = "$1" ]
}

# The same with a host name and a monotonic clock for each node, if the caller has permission to create
# these, and with the network as transport if it can be chosen.
apart() { # NODES NAME ENGINE
	local -x OMPI_MCA_btl=self,tcp
	each=("$top/tests/mpi/node" 1)
	performed "$@"
	local code=$?
	each=()
	return $code
}

# By the output of compare, each node runs some operations, and together they run all.
all_have_outcomes() { # NODES
	local counts=()
	[ "$1" != 1 ] || return 0
	mapfile -t counts < <("$iotape" compare --json out | sed 's/"omissions":{"operations"/"omissions":{"-"/' | grep -oE '"(operations|nodes)":[[0-9]*' |
		sed -n 's/"operations"://p')
	echo "${counts[*]}"
	[ ${#counts[@]} = $(($1 + 1)) ] && [[ " ${counts[*]} " != *" 0 "* ]] &&
		[ $(("${counts[0]}" * 2)) = $(($(printf '%s+' "${counts[@]}")0)) ]
}

differs() { # NODES NAME ENGINE
	prepare "$2" && nodes "$@" --pace=full && [ "$code" = 3 ]
}

finish() {
	echo "1..$number"
	exit $((failures > 0))
}
