// SPDX-License-Identifier: GPL-2.0-only
/*
 * persistent.c - persistent requests: what they will do, and each time that they do it.
 *
 * To be made and to be freed means nothing to anybody else, and leaves no record. A start is
 * a send or a receive, with a request of its own. A send of partitions is one when the last of
 * them is ready. It and its receive match no others: their tags are recorded as numbers below
 * -1, which no other message has.
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
		.peer_base = message->peer_base,
		.persistent = &what,
	};

	iot_mpi_request_add(handle, &request);
}

#define DEFINE_INIT(name, call, root, parameters, arguments)                                  \
	int MPI_##name parameters                                                             \
	{                                                                                     \
		const struct iot_mpi_library *mpi = iot_mpi_library();                        \
		struct iot_mpi_message message;                                               \
		bool is_known = iot_mpi_message_begin(&message, comm);                        \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                            \
                                                                                              \
		if (rc)                                                                       \
			return rc;                                                            \
		if (is_known && peer != MPI_PROC_NULL)                                        \
			made(&message, IOT_CALL_##call, peer, tag,                            \
			     iot_mpi_length_bytes(count, type), 0, *request);                 \
		else                                                                          \
			iot_mpi_request_skip(*request);                                       \
		return rc;                                                                    \
	}
IOT_MPI_SEND_INITS(DEFINE_INIT)
DEFINE_INIT(Recv_init, recv_init, 0,
	    (void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
	     MPI_Request *request),
	    (buffer, count, type, peer, tag, comm, request))

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

	if (what && (!what->partitions || is_receive(what)))
		does(enter_ns, what, id);
}

int MPI_Start(MPI_Request *request)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	bool is_on = iot_mpi_is_on();
	u64 enter_ns = is_on ? iot_mpi_now_ns() : 0;
	int rc = IOT_MPI_BELOW(mpi->MPI_Start(request));

	if (is_on && !rc)
		started(enter_ns, *request);
	return rc;
}

int MPI_Startall(int count, MPI_Request requests[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	bool is_on = iot_mpi_is_on();
	u64 enter_ns = is_on ? iot_mpi_now_ns() : 0;
	int rc = IOT_MPI_BELOW(mpi->MPI_Startall(count, requests)), i;

	for (i = 0; is_on && !rc && i < count; i++)
		started(enter_ns, requests[i]);
	return rc;
}

/* -- partitioned calls ------------------------------------------------------------------------- */

#if MPI_VERSION >= 4
static void made_partitioned(const struct iot_mpi_message *message, u32 name, int peer, int tag,
			     u64 partition_bytes, int partitions, MPI_Request handle)
{
	made(message, name, peer, -2 - tag, (u64)partitions * partition_bytes,
	     partitions, handle);
}

#define DEFINE_PARTITIONED(name, call, Const)                                                 \
	int MPI_##name(Const void *buffer, int partitions, MPI_Count count, MPI_Datatype type, \
		       int peer, int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request) \
	{                                                                                     \
		const struct iot_mpi_library *mpi = iot_mpi_library();                        \
		struct iot_mpi_message message;                                               \
		bool is_known = iot_mpi_message_begin(&message, comm);                        \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name(buffer, partitions, count, type, peer, \
						       tag, comm, info, request));            \
                                                                                              \
		if (rc)                                                                       \
			return rc;                                                            \
		if (is_known && peer != MPI_PROC_NULL)                                        \
			made_partitioned(&message, IOT_CALL_##call, peer, tag,                \
					 (u64)count * iot_mpi_length_bytes(1, type),          \
					 partitions, *request);                               \
		else                                                                          \
			iot_mpi_request_skip(*request);                                       \
		return rc;                                                                    \
	}
DEFINE_PARTITIONED(Psend_init, psend_init, const)
DEFINE_PARTITIONED(Precv_init, precv_init, )

/* Any thread may say that a partition is ready; who says it of the last one has sent. */
static void ready(u64 enter_ns, MPI_Request handle, int partitions)
{
	u64 id = 0;
	const struct iot_mpi_persistent *what = iot_mpi_request_ready(handle, partitions, &id);

	if (what)
		does(enter_ns, what, id);
}

#define DEFINE_READY(name, partitions, parameters, arguments)           \
	int MPI_##name parameters                                       \
	{                                                               \
		const struct iot_mpi_library *mpi = iot_mpi_library();  \
		bool is_on = iot_mpi_is_on();                           \
		u64 enter_ns = is_on ? iot_mpi_now_ns() : 0;            \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);      \
                                                                        \
		if (is_on && !rc)                                       \
			ready(enter_ns, request, partitions);           \
		return rc;                                              \
	}
DEFINE_READY(Pready, 1, (int partition, MPI_Request request), (partition, request))
DEFINE_READY(Pready_range, last - first + 1, (int first, int last, MPI_Request request),
	     (first, last, request))
DEFINE_READY(Pready_list, count, (int count, IOT_MPI_LIST list[], MPI_Request request),
	     (count, list, request))
#endif
