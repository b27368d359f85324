# SPDX-License-Identifier: GPL-2.0-only
# Prints a line for each collective that moves data, or is a barrier, of a trace printed by `iotape dump --json
# --kind=mpi_comm,mpi_coll,task`: rank, call, and the ranks whose data it delivers. For sources.c.

function field(name,    at, value) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	value = substr($0, at + length(name) + 3)
	sub(/^"/, "", value)
	sub(/[",}].*/, "", value)
	return value
}

# The items of a list are separated by commas.
function list(    value) {
	if (!match($0, /"tail":"[^"]*"/))
		return ""
	value = substr($0, RSTART + 8, RLENGTH - 9)
	return " " value
}

/"kind":"task"/ { process[field("task")] = field("tgid"); next }
/"kind":"mpi_comm"/ { rank[process[field("task")]] = field("world_rank"); next }
/"kind":"mpi_coll"/ && field("sources") != "unknown" {
	print rank[process[field("task")]], field("call"), field("sources") list()
}
