// SPDX-License-Identifier: GPL-2.0-only
/*
 * persistent.c - persistent requests: their descriptions, and each of their starts.
 *
 * Creating and freeing a request does not affect other ranks and has no record. A start is recorded as
 * a send or a receive, with a request id of its own, or as a collective (collective.c). A partitioned send is
 * recorded as sent when its last partition is ready. It matches only a partitioned receive: their tags are recorded as
 * numbers below -1, which no other message has. Ready partitions, and partitions that the receiver has found to have
 * arrived, are recorded as well.
 */
#include "shim.h"

#include <stdlib.h>

/* Kept as one that is not recorded, if there is no message, so that the handle is ours. */
static void made(const struct iot_mpi_message *message, u32 name, int peer, int tag, u64 bytes,
		 int partitions, MPI_Request handle)
{
	struct iot_mpi_persistent what = {
		.call = name,
		.comm = message->comm,
		.peer = iot_mpi_peer(peer, message->peer_base),
		.tag = iot_mpi_tag(tag),
		.length_bytes = bytes,
		.peer_base = message->peer_base,
		.partitions = partitions,
	};
	struct iot_mpi_request request = {
		.is_receive = name == IOT_CALL_recv_init || name == IOT_CALL_precv_init,
		.peer = what.peer,
		.tag = what.tag,
		.peer_base = message->peer_base,
		.ranks = message->ranks,
		.persistent = &what,
	};

	if (partitions > 0 && request.is_receive) {
		int saved = errno;

		what.arrived = calloc((size_t)partitions / 8 + 1, 1);
		errno = saved;
	}
	iot_mpi_request_add(handle, &request);
}

#define DEFINE_INIT(name, call, root, parameters, arguments)                                  \
	IOT_MPI_DEFINE_POST(name, parameters, arguments, peer != MPI_PROC_NULL,               \
			    made(&post, IOT_CALL_##call, peer, tag,                           \
				 iot_mpi_length_bytes(count, type), 0, *request))
IOT_MPI_SEND_INITS(DEFINE_INIT)
IOT_MPI_RECV_INITS(DEFINE_INIT)

static bool is_receive(const struct iot_mpi_persistent *what)
{
	return what->call == IOT_CALL_recv_init || what->call == IOT_CALL_precv_init;
}

static void does(u64 enter_ns, const struct iot_mpi_persistent *what, u64 id)
{
	if (is_receive(what))
		IOT_MPI_EMIT(mpi_recv, .enter_ns = enter_ns, .call = what->call,
			     .comm = what->comm, .peer = what->peer, .tag = what->tag,
			     .length_bytes = what->length_bytes, .request = id);
	else
		IOT_MPI_EMIT(mpi_send, .enter_ns = enter_ns, .call = what->call,
			     .comm = what->comm, .peer = what->peer, .tag = what->tag,
			     .length_bytes = what->length_bytes, .request = id);
}

static void started(u64 enter_ns, MPI_Request handle)
{
	u64 id = iot_mpi_request_new();
	const struct iot_mpi_persistent *what = iot_mpi_request_begin(handle, id);

	if (what && what->round)
		iot_mpi_collective_start(enter_ns, what->call, what->round, what->started, id);
	else if (what && (!what->partitions || is_receive(what)))
		does(enter_ns, what, id);
}

static void all_started(u64 enter_ns, int count, const MPI_Request *handles)
{
	int i;

	for (i = 0; i < count; i++)
		started(enter_ns, handles[i]);
}

/* A wrapper that calls @record with the requests that the call has started. */
#define DEFINE(name, parameters, arguments, record)                     \
	int MPI_##name parameters                                       \
	{                                                               \
		const struct iot_mpi_library *mpi = iot_mpi_library();  \
		bool is_on = iot_mpi_is_on();                           \
		u64 enter_ns = is_on ? iot_mpi_now_ns() : 0;            \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);      \
                                                                        \
		if (is_on && !rc)                                       \
			record;                                         \
		return rc;                                              \
	}
DEFINE(Start, (MPI_Request *request), (request), started(enter_ns, *request))
DEFINE(Startall, (int count, MPI_Request requests[]), (count, requests),
       all_started(enter_ns, count, requests))

/* -- partitioned calls ------------------------------------------------------------------------- */

#define DEFINE_PARTITIONED(name, call, root, parameters, arguments)                           \
	IOT_MPI_DEFINE_POST(name, parameters, arguments, peer != MPI_PROC_NULL,               \
			    made(&post, IOT_CALL_##call, peer, -2 - tag,                      \
				 (u64)partitions * (u64)count * iot_mpi_length_bytes(1, type), \
				 partitions, *request))
IOT_MPI_PARTITIONED_INITS(DEFINE_PARTITIONED)

/* Partitions @first to @last of a message. */
static void parts(u64 enter_ns, u32 name, const struct iot_mpi_persistent *what, u64 id, int first, int last)
{
	u64 bytes = what->length_bytes / (u64)what->partitions;

	IOT_MPI_EMIT(mpi_part, .enter_ns = enter_ns, .call = name, .request = id,
		     .offset_bytes = bytes * (u64)first, .length_bytes = bytes * (u64)(last - first + 1));
}

/* Any thread may mark partitions as ready; the thread that marks the last one sends the message. */
IOT_MPI_OPTIONAL static void ready(u64 enter_ns, MPI_Request handle, int first, int last)
{
	struct iot_mpi_persistent what;
	u64 id;

	if (last < first || !iot_mpi_request_ready(handle, last - first + 1, &what, &id))
		return;
	parts(enter_ns, IOT_CALL_pready, &what, id, first, last);
	if (what.ready == what.partitions)
		does(enter_ns, &what, id);
}

/* Those that follow each other together. */
IOT_MPI_OPTIONAL static void ready_list(u64 enter_ns, MPI_Request handle, int count, const int *list)
{
	int first, next;

	for (first = 0; first < count; first = next) {
		for (next = first + 1; next < count && list[next] == list[next - 1] + 1; next++)
			;
		ready(enter_ns, handle, list[first], list[next - 1]);
	}
}

IOT_MPI_OPTIONAL static void arrived(u64 enter_ns, MPI_Request handle, int partition)
{
	struct iot_mpi_persistent what;
	u64 id;

	if (iot_mpi_request_arrived(handle, partition, &what, &id))
		parts(enter_ns, IOT_CALL_parrived, &what, id, partition, partition);
}

#if IOT_HAS_Psend_init
DEFINE(Pready, (int partition, MPI_Request request), (partition, request),
       ready(enter_ns, request, partition, partition))
DEFINE(Pready_range, (int low, int high, MPI_Request request), (low, high, request),
       ready(enter_ns, request, low, high))
DEFINE(Pready_list, (int count, IOT_MPI_LIST list[], MPI_Request request), (count, list, request),
       ready_list(enter_ns, request, count, list))
DEFINE(Parrived, (MPI_Request request, int partition, int *is_there), (request, partition, is_there),
       if (*is_there) arrived(enter_ns, request, partition))
#endif
