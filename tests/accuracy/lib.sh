# SPDX-License-Identifier: GPL-2.0-only
# Shared by the scripts of the laboratory: loads a workload, and provides the functions that workloads use.
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # for the scripts that source it

accuracy=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=$(cd "$accuracy/../.." && pwd -P)
bin=$top/build/tests
ranks=${IOTAPE_RANKS:-2}
export bin ranks

# load_workload NAME[:PARAMETER]: sets workload, parameter, packages, programs, trees, mpi, and the functions
# prepare DIRECTORY PARAMETER (creates the initial tree, neither measured nor recorded) and work
# DIRECTORY PARAMETER.
load_workload() {
	workload=${1%%:*} parameter='' packages='' mpi=''
	programs=() trees=()
	[ "$1" = "$workload" ] || parameter=${1#*:}
	prepare() { :; }
	[ -e "$accuracy/workloads/$workload.sh" ] || return
	# shellcheck source=/dev/null
	. "$accuracy/workloads/$workload.sh"
	[ -z "$mpi" ] || programs+=(mpirun orted hostname)
	[ "$mpi" != openmpi ] || trees+=(/usr/lib/x86_64-linux-gnu/openmpi /usr/lib/x86_64-linux-gnu/pmix2
		/usr/share/openmpi /usr/share/pmix /etc/openmpi /etc/pmix /etc/passwd /etc/group)
}

# launch COMMAND...: runs it as $ranks ranks.
launch() {
	mpirun --oversubscribe --bind-to none -n "$ranks" "$@"
}

# job PROGRAM...: runs a program of the laboratory as $ranks ranks.
job() {
	local program=$1
	shift
	launch "$bin/accuracy/$program" "$@"
}

# phase NAME: starts a phase. A file of that name marks the phases of a replay.
phase() {
	[ -z "${IOTAPE_PHASES:-}" ] || echo "$1 $EPOCHREALTIME" >>"$IOTAPE_PHASES"
	: >"$directory/.phase.$1"
}
