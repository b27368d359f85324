# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Separate nodes on one machine: namespaces give each a network, a host name and mounts of its
# own; the launcher has another network namespace, in which a switch connects them. Nothing outside of them
# changes. Needs root, and iproute2.
#
# cluster_open sets cluster: a directory with, for each of node0, node1 and so on, and for head,
#	NAME.pid	a process in its namespaces
#	NAME.storage	contents of its /srv, which no other node has
#	NAME.hosts	for mpirun.openmpi and mpirun.mpich: the first NAME + 1 nodes

cluster_network=10.211.7

# A process that keeps namespaces alive. Its mounts are private.
cluster_holder() { # NAME
	mkdir "$cluster/$1.storage"
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --net --uts --mount -- sh -c '
		hostname "$1" && ip link set lo up && mount --bind "$2/hosts" /etc/hosts &&
			mount --bind "$2/$1.storage" /srv && echo $$ >"$2/$1.pid.new" &&
			mv "$2/$1.pid.new" "$2/$1.pid" && exec sleep 100000' \
		sh "$1" "$cluster" </dev/null >"$cluster/$1.log" 2>&1 &
	cluster_holders+=($!)
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		[ ! -e "$cluster/$1.pid" ] || return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	cat "$cluster/$1.log"
	return 1
}

cluster_link() { # NUMBER: a cable from the node to the switch
	local node head
	node=$(cat "$cluster/node$1.pid") head=$(cat "$cluster/head.pid")
	nsenter -t "$head" --net -- ip link add name "port$1" type veth peer name net0 netns "$node" &&
		nsenter -t "$head" --net -- ip link set "port$1" master switch up &&
		nsenter -t "$node" --net -- ip address add "$cluster_network.$(($1 + 1))/24" dev net0 &&
		nsenter -t "$node" --net -- ip link set net0 up
}

# cluster_open NODES DIR: the directory is empty and not in /srv.
cluster_open() {
	local i j
	cluster=$2 cluster_holders=()
	export CLUSTER=$cluster
	{
		echo "127.0.0.1 localhost"
		echo "$cluster_network.254 head"
		for ((i = 0; i < $1; i++)); do
			echo "$cluster_network.$((i + 1)) node$i"
		done
	} >"$cluster/hosts"
	cluster_holder head || return
	nsenter -t "$(cat "$cluster/head.pid")" --net -- sh -c "
		ip link add name switch type bridge && ip address add $cluster_network.254/24 dev switch &&
			ip link set switch up" || return
	for ((i = 0; i < $1; i++)); do
		cluster_holder "node$i" && cluster_link $i || return
		for ((j = 0; j <= i; j++)); do
			echo "node$j"
		done >"$cluster/node$i.hosts"
	done
}

cluster_close() {
	[ ${#cluster_holders[@]} = 0 ] || kill "${cluster_holders[@]}"
	wait "${cluster_holders[@]}"
	cluster_holders=()
} 2>/dev/null

# cluster_run MPI PROCESSES NODES COMMAND...: the same number of processes on each node.
cluster_run() {
	local mpi=$1 count=$2 nodes=$3 each
	shift 3
	each=$((count / nodes))
	sed "s/\$/ slots=$each/" "$cluster/node$((nodes - 1)).hosts" >"$cluster/openmpi"
	sed "s/\$/:$each/" "$cluster/node$((nodes - 1)).hosts" >"$cluster/mpich"
	if [ "$mpi" = openmpi ]; then
		set -- --hostfile "$cluster/openmpi" --map-by slot --bind-to none --mca plm rsh \
			--mca plm_rsh_agent "$top/tests/nodes/enter" --mca btl self,tcp \
			--mca oob_tcp_if_include "$cluster_network.0/24" \
			--mca btl_tcp_if_include "$cluster_network.0/24" -n "$count" "$@"
	else
		set -- -launcher rsh -launcher-exec "$top/tests/nodes/enter" -f "$cluster/mpich" -n "$count" "$@"
	fi
	"$top/tests/nodes/enter" head timeout 120 "mpirun.$mpi" "$@"
}
