# SPDX-License-Identifier: GPL-2.0-only
# Checks the MPI records of a trace against the ranks' own accounts, and against each other
# by the rules of MPI. Prints a line for each contradiction, and the number of records at the end.
#
#	awk -f check.awk ACCOUNT... DUMP
#
# ACCOUNT is rank.N of exercise; DUMP is the output of iotape dump --json --kind=mpi,task. Keys and
# request ids are text here, because they have more digits than awk's numbers.

function wrong(what, text) {
	print what ": " text
	failures++
}

function read_account() {
	if ($2 != "saw")
		account[$1 " " $2 " " $3] = $4
}

function read_json(    parts, count, i, colon, value) {
	split("", f) # clear the previous record
	count = split(substr($0, 2, length($0) - 2), parts, ",")
	for (i = 1; i <= count; i++) {
		colon = index(parts[i], ":")
		value = substr(parts[i], colon + 1)
		gsub(/"/, "", value)
		f[substr(parts[i], 2, colon - 3)] = value
	}
	for (i = 1; i <= number_count; i++)
		f[numbers[i]] += 0
	f["end_ns"] = f["enter_ns"] + f["duration_ns"]
}

function read_comm(    who) {
	who = f["comm"] " " process
	if (!(process in world_rank))
		world_rank[process] = f["world_rank"]
	if (who in rank_in)
		wrong("communicators", who ": one key for two communicators")
	if (f["comm"] in size_of && size_of[f["comm"]] != f["size"])
		wrong("communicators", f["comm"] ": of two sizes")
	if ((f["comm"] " " f["rank"]) in member)
		wrong("communicators", f["comm"] ": rank " f["rank"] " twice")
	if (f["comm"] in first_of && first_of[f["comm"]] != f["first"])
		wrong("communicators", f["comm"] ": its first group of two sizes")
	first_of[f["comm"]] = f["first"]
	rank_in[who] = f["rank"]
	size_of[f["comm"]] = f["size"]
	member[f["comm"] " " f["rank"]] = process
	members[f["comm"]]++
}

# All topologies are rings.
function read_near(    who, beside) {
	who = f["comm"] " " process
	beside = (f["source"] - rank_in[who] + size_of[f["comm"]]) % size_of[f["comm"]]
	if (f["rank"] != rank_in[who] || (beside != 1 && beside != size_of[f["comm"]] - 1))
		wrong("communicators", who ": rank " f["source"] " is no neighbour")
	sources[f["comm"] " " f["rank"]] = sources[f["comm"] " " f["rank"]] " " f["source"]
}

function read_send(    stream, n) {
	stream = f["comm"] " " rank_in[f["comm"] " " process] " " f["peer"] " " f["tag"]
	n = ++sends[stream]
	send_bytes[stream, n] = f["length_bytes"]
	send_enter_ns[stream, n] = f["enter_ns"]
	send_end_ns[stream, n] = f["call"] == "ssend" ? f["end_ns"] : 0
	if (f["request"] != "0")
		began()
}

# Request ids are unique in their process; the thread that starts a request also waits for it.
function began(    request) {
	request = process " " f["request"]
	if (request in beginner && !(f["call"] == "isendrecv" && call_of[request] == "isendrecv" && !exchanged[request]++))
		wrong("requests", request " began twice")
	call_of[request] = f["call"]
	beginner[request] = f["task"]
}

# In the order in which the receives were posted; the sender may still be unknown.
function read_receive(    n) {
	n = ++receives
	receive_comm[n] = f["comm"]
	receive_rank[n] = rank_in[f["comm"] " " process]
	receive_enter_ns[n] = f["enter_ns"]
	is_exchange[n] = f["call"] == "isendrecv" # received size unknown
	if (f["request"] != "0") {
		began()
		receive_of[process " " f["request"]] = n
		asked_peer[n] = f["peer"]
		asked_tag[n] = f["tag"]
		room[n] = f["length_bytes"]
	} else {
		receive_ended(n)
	}
}

function receive_ended(n) {
	receive_peer[n] = f["peer"]
	receive_tag[n] = f["tag"]
	receive_bytes[n] = f["length_bytes"]
	receive_end_ns[n] = f["end_ns"]
	receive_result[n] = f["result"]
}

function read_done(    request, n) {
	request = process " " f["request"]
	if (!(request in beginner))
		wrong("requests", request " ended before it began")
	else if (beginner[request] != f["task"])
		wrong("requests", request " is another thread's")
	if (ended[request]++)
		wrong("requests", request " ended twice")
	if (request in of_file && f["result"] == -125)
		wrong("requests", request " is of a file, and cannot be cancelled")
	if (!(request in receive_of)) {
		if (f["peer"] != -1 || f["tag"] != -1 || f["length_bytes"] != 0)
			wrong("requests", request " is not a receive, but received data")
		return
	}
	n = receive_of[request]
	receive_ended(n)
	if (f["result"] == -125 || (f["peer"] == -1 && f["tag"] == -1)) # cancelled, or not known
		return
	if (f["peer"] < 0 || f["peer"] >= size_of[receive_comm[n]] || (f["tag"] < 0 && asked_tag[n] >= -1))
		wrong("requests", request " received from nobody")
	if ((asked_peer[n] != -1 && asked_peer[n] != f["peer"]) ||
	    (asked_tag[n] != -1 && asked_tag[n] != f["tag"]))
		wrong("requests", request " received a message that does not match")
	if (!f["result"] && f["length_bytes"] > room[n])
		wrong("requests", request " received more than its buffer holds")
}

function read_collective(    call, who) {
	call = f["comm"] " " f["number"]
	who = f["comm"] " " process
	if (f["call"] == "intercomm_create" && !(first_of[f["comm"]] > 0 && first_of[f["comm"]] < size_of[f["comm"]]))
		wrong("communicators", f["comm"] ": is an inter-communicator, and not marked as one")
	if (f["number"] != ++collectives[who])
		wrong("collectives", who ": number " f["number"] " is the " collectives[who] "th")
	if (arrived[call]++) {
		if (root_of[call] < 0) # in an inter-communicator, not all ranks name the root
			root_of[call] = f["root"]
		if (name_of[call] != f["call"] || (f["root"] >= 0 && root_of[call] != f["root"]))
			wrong("collectives", call ": " name_of[call] " and " f["call"])
	} else {
		name_of[call] = f["call"]
		root_of[call] = f["root"]
		last_enter_ns[call] = first_end_ns[call] = 0
	}
	if (f["enter_ns"] > last_enter_ns[call])
		last_enter_ns[call] = f["enter_ns"]
	if (!first_end_ns[call] || f["end_ns"] < first_end_ns[call])
		first_end_ns[call] = f["end_ns"]
	if (f["request"] != "0")
		began()
	else if (f["call"] ~ /^neighbor/) {
		enter_ns_of[call " " rank_in[who]] = f["enter_ns"]
		end_ns_of[call " " rank_in[who]] = f["end_ns"]
	}
}

# A call may have several records, with the same start.
function check_call(    task) {
	task = f["task"]
	if (f["op"] <= last_op[task])
		wrong("calls", "task " task ": records are not in order")
	if (f["enter_ns"] != last_call_ns[task] && f["enter_ns"] < last_return_ns[task])
		wrong("calls", "task " task ": operation " f["op"] " began before the previous one ended")
	last_op[task] = f["op"]
	last_call_ns[task] = f["enter_ns"]
	last_return_ns[task] = f["end_ns"]
	if (f["result"] && f["result"] != (f["kind"] ~ /^mpi_(coll|file)$/ ? -5 : -90) && \
	    (f["kind"] != "mpi_done" || f["result"] != -125))
		wrong("calls", "task " task ": operation " f["op"] " returned " f["result"])
}

# Ready partitions are recorded before the message counts as sent; arrived partitions belong to a receive.
function read_part(    request) {
	request = process " " f["request"]
	if (f["call"] == "parrived" && !(request in receive_of))
		wrong("requests", request " is partitioned, but not a receive")
	if (parts[request " " f["call"] " " f["offset_bytes"]]++)
		wrong("requests", request ": a partition twice")
}

# A file counts as a communicator; calls of a single rank have no number.
function read_file() {
	if (f["request"] != "0")
		of_file[process " " f["request"]]
	if (f["number"] > 0)
		read_collective()
	else if (f["request"] != "0")
		began()
}

function read_record(    what) {
	if (f["kind"] == "omissions") # not counted as a record
		return
	if (f["kind"] == "mpi_file")
		f["comm"] = f["file"]
	if (f["kind"] == "task") {
		process_of[f["task"]] = f["tgid"]
		return
	}
	process = process_of[f["task"]]
	is_call = f["kind"] != "mpi_comm" && f["kind"] != "mpi_near" && f["kind"] != "mpi_view"
	if (is_call) {
		if (!(process in world_rank))
			wrong("communicators", "task " f["task"] " is no rank")
		check_call()
	}
	if (f["kind"] == "mpi_comm")
		read_comm()
	else if (f["kind"] == "mpi_near")
		read_near()
	else if (f["kind"] == "mpi_send")
		read_send()
	else if (f["kind"] == "mpi_recv")
		read_receive()
	else if (f["kind"] == "mpi_done")
		read_done()
	else if (f["kind"] == "mpi_coll")
		read_collective()
	else if (f["kind"] == "mpi_file")
		read_file()
	else if (f["kind"] == "mpi_win" && f["request"] != "0")
		began()
	if (f["kind"] == "mpi_part")
		read_part()
	if (is_call && f["kind"] !~ /^mpi_(done|part)$/ && \
	    !(f["call"] == "file_open" && f["result"] && !f["number"]) && !((f["comm"] " " process) in rank_in))
		wrong("communicators", f["comm"] ": used by " process ", which is not in it")
	what = world_rank[process] " " f["kind"] " " (is_call ? f["call"] : "-") (f["call"] ~ /^file_seek/ ? "." f["whence"] : "")
	counted[what]++
	files += f["kind"] == "mpi_file"
}

function compare_counts(    what) {
	for (what in account)
		if (account[what] != counted[what] + 0)
			wrong("counts", what ": " account[what] " done, " counted[what] + 0 " recorded")
	for (what in counted)
		if (!(what in account))
			wrong("counts", what ": none done, " counted[what] " recorded")
}

function match_receive(n,    stream, k) {
	if (!(n in receive_end_ns) || receive_result[n] == -125 || receive_peer[n] == -1)
		return
	stream = receive_comm[n] " " receive_peer[n] " " receive_rank[n] " " receive_tag[n]
	k = ++received[stream]
	if (k > sends[stream] + 0) {
		wrong("messages", stream ": receive " k " has no send")
		return
	}
	if (!receive_result[n] && !is_exchange[n] && receive_bytes[n] != send_bytes[stream, k])
		wrong("messages", stream ": " send_bytes[stream, k] " bytes sent, " \
			receive_bytes[n] " received")
	if (receive_end_ns[n] < send_enter_ns[stream, k])
		wrong("messages", stream ": received before it was sent")
	if (send_end_ns[stream, k] && send_end_ns[stream, k] < receive_enter_ns[n])
		wrong("messages", stream ": synchronous send ended before the receive began")
}

function match_messages(    n, stream) {
	for (n = 1; n <= receives; n++)
		match_receive(n)
	for (stream in sends)
		if (sends[stream] != received[stream] + 0)
			wrong("messages", stream ": " sends[stream] " sent, " received[stream] + 0 \
				" received")
	if (!receives && !files)
		wrong("messages", "none")
}

function compare_neighbours(    who, part, near, count, i) {
	for (who in end_ns_of) {
		split(who, part, " ")
		count = split(sources[part[1] " " part[3]], near, " ")
		if (count != 2)
			wrong("communicators", part[1] ": rank " part[3] " has " count " neighbours")
		for (i = 1; i <= count; i++)
			if (end_ns_of[who] < enter_ns_of[part[1] " " part[2] " " near[i]])
				wrong("collectives", who ": ended before its neighbours had called")
	}
}

function compare_collectives(    call, part, comm) {
	for (call in arrived) {
		split(call, part, " ")
		if (arrived[call] != size_of[part[1]])
			wrong("collectives", call ": " arrived[call] " of " size_of[part[1]] " ranks")
		if (name_of[call] ~ /^(barrier|allreduce|allgather|alltoall)$/ &&
		    first_end_ns[call] < last_enter_ns[call])
			wrong("collectives", call ": " name_of[call] " ended before all had called")
	}
	for (comm in size_of)
		if (members[comm] != size_of[comm])
			wrong("communicators", comm ": " members[comm] " of " size_of[comm] " ranks")
}

BEGIN {
	number_count = split("enter_ns duration_ns op result peer tag length_bytes number root rank size source first offset_bytes", numbers, " ")
}

/^\{/ { read_json(); read_record(); records++; next }
{ read_account() }

END {
	compare_counts()
	match_messages()
	compare_collectives()
	compare_neighbours()
	print "checked " records + 0
	exit failures > 0
}
