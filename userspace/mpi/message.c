// SPDX-License-Identifier: GPL-2.0-only
/*
 * message.c - point-to-point calls: send, receive, and their nonblocking forms.
 *
 * A call to or from MPI_PROC_NULL is not a message and gives no record; nor does a call that
 * failed, unless the message was too long for the buffer: it has been received all the same.
 */
#include "shim.h"

/**
 * iot_mpi_class() - the class of a result of MPI: MPICH's codes say more
 * @rc: it; Open MPI's own errors are negative, and MPI would not know them
 */
int iot_mpi_class(int rc)
{
	int class = rc;

	if (rc > 0)
		iot_mpi_found.PMPI_Error_class(rc, &class);
	return class;
}

/**
 * iot_mpi_result() - the result field for a result of MPI
 * @rc: it
 */
s64 iot_mpi_result(int rc)
{
	if (rc == MPI_SUCCESS)
		return 0;
	return iot_mpi_class(rc) == MPI_ERR_TRUNCATE ? -EMSGSIZE : -EIO;
}

/**
 * iot_mpi_peer() - a rank as records have it, -1 for any
 * @rank: as MPI has it
 * @base: of the communicator, see struct iot_mpi_comm
 */
s32 iot_mpi_peer(int rank, s32 base)
{
	return rank == MPI_ANY_SOURCE ? -1 : base + rank;
}

/**
 * iot_mpi_tag() - a tag as records have it, -1 for any
 * @tag: as MPI has it
 */
s32 iot_mpi_tag(int tag)
{
	return tag == MPI_ANY_TAG ? -1 : tag;
}

/**
 * iot_mpi_received_bytes() - length of a received message
 * @status: of the receive
 */
u64 iot_mpi_received_bytes(const MPI_Status *status)
{
	MPI_Count bytes = 0;

	if (iot_mpi_found.PMPI_Get_elements_x(status, iot_mpi_found.byte, &bytes) || bytes < 0)
		return 0;
	return (u64)bytes;
}

/**
 * iot_mpi_length_bytes() - length of a message to send, or of a receive buffer
 *
 * Call it only after MPI has accepted a call with the type: otherwise MPI would call the program's
 * error handler for a call that the program did not make.
 */
u64 iot_mpi_length_bytes(MPI_Count count, MPI_Datatype type)
{
	MPI_Count bytes = 0;

	if (iot_mpi_found.PMPI_Type_size_x(type, &bytes) || bytes < 0)
		return 0;
	return (u64)bytes * (u64)count;
}

/**
 * iot_mpi_message_begin() - a call begins that may be a message
 * @message: filled in
 * @comm: its communicator
 *
 * Return: false if it is not to be recorded.
 */
bool iot_mpi_message_begin(struct iot_mpi_message *message, MPI_Comm comm)
{
	struct iot_mpi_comm *state;

	if (!iot_mpi_is_on())
		return false;
	message->enter_ns = iot_mpi_now_ns();
	state = iot_mpi_comm_find(comm);
	if (state) {
		message->comm = state->key;
		message->peer_base = state->peer_base;
		message->ranks = state->ranks;
	}
	return state != NULL;
}

static void sent(const struct iot_mpi_message *message, u32 name, int peer, int tag, u64 bytes,
		 u64 request)
{
	IOT_MPI_EMIT(mpi_send, .enter_ns = message->enter_ns, .call = name, .comm = message->comm,
		     .peer = message->peer_base + peer, .tag = tag, .length_bytes = bytes,
		     .request = request);
}

static void received(const struct iot_mpi_message *message, u32 name, int peer,
		     const MPI_Status *status, int rc)
{
	s64 result = iot_mpi_result(rc);

	if (peer == MPI_PROC_NULL || result == -EIO)
		return;
	IOT_MPI_EMIT(mpi_recv, .enter_ns = message->enter_ns, .result = result, .call = name,
		     .comm = message->comm, .peer = message->peer_base + status->MPI_SOURCE,
		     .tag = status->MPI_TAG, .length_bytes = iot_mpi_received_bytes(status));
}

#define DEFINE_SEND(name, call, root, parameters, arguments)                                                    \
	int MPI_##name parameters                                                                               \
	{                                                                                                       \
		const struct iot_mpi_library *mpi = iot_mpi_library();                                          \
		struct iot_mpi_message message;                                                                 \
		bool is_known = iot_mpi_message_begin(&message, comm);                                          \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                                              \
                                                                                                                \
		if (is_known && !rc && peer != MPI_PROC_NULL)                                                   \
			sent(&message, IOT_CALL_##call, peer, tag, iot_mpi_length_bytes(count, type), 0);       \
		return rc;                                                                                      \
	}
IOT_MPI_SENDS(DEFINE_SEND)

static void posted_send(const struct iot_mpi_message *message, u32 name, int peer, int tag,
			MPI_Count count, MPI_Datatype type, MPI_Request request)
{
	struct iot_mpi_request state = { .id = iot_mpi_request_new() };

	sent(message, name, peer, tag, iot_mpi_length_bytes(count, type), state.id);
	iot_mpi_request_add(request, &state);
}

#define DEFINE_ISEND(name, call, root, parameters, arguments)                   \
	IOT_MPI_DEFINE_POST(name, parameters, arguments, peer != MPI_PROC_NULL, \
			    posted_send(&post, IOT_CALL_##call, peer, tag, count, type, *request))
IOT_MPI_ISENDS(DEFINE_ISEND)

static void posted_receive(const struct iot_mpi_message *message, int peer, int tag, MPI_Count count,
			   MPI_Datatype type, MPI_Request request)
{
	struct iot_mpi_request state = {
		.id = iot_mpi_request_new(),
		.is_receive = true,
		.peer = iot_mpi_peer(peer, message->peer_base),
		.tag = iot_mpi_tag(tag),
		.peer_base = message->peer_base,
		.ranks = message->ranks,
	};

	IOT_MPI_EMIT(mpi_recv, .enter_ns = message->enter_ns, .call = IOT_CALL_irecv,
		     .comm = message->comm, .peer = state.peer, .tag = state.tag,
		     .length_bytes = iot_mpi_length_bytes(count, type), .request = state.id);
	iot_mpi_request_add(request, &state);
}

#define DEFINE_IRECV(name, call, root, parameters, arguments)                   \
	IOT_MPI_DEFINE_POST(name, parameters, arguments, peer != MPI_PROC_NULL, \
			    posted_receive(&post, peer, tag, count, type, *request))
IOT_MPI_IRECVS(DEFINE_IRECV)

#define DEFINE_RECV(name, call_name, root, parameters, arguments) \
	IOT_MPI_DEFINE_STATUS(name, parameters, arguments, received(&call, IOT_CALL_recv, peer, status, rc))
IOT_MPI_RECVS(DEFINE_RECV)

static void exchanged(const struct iot_mpi_message *message, int to, int to_tag, MPI_Count count,
		      MPI_Datatype type, int from, const MPI_Status *status, int rc)
{
	if (iot_mpi_result(rc) == -EIO)
		return;
	if (to != MPI_PROC_NULL)
		sent(message, IOT_CALL_sendrecv, to, to_tag, iot_mpi_length_bytes(count, type), 0);
	received(message, IOT_CALL_sendrecv, from, status, rc);
}

#define DEFINE_EXCHANGE(name, call_name, root, parameters, arguments)                          \
	IOT_MPI_DEFINE_STATUS(name, parameters, arguments,                                     \
			      exchanged(&call, to, to_tag, count, type, from, status, rc))
IOT_MPI_EXCHANGES(DEFINE_EXCHANGE)

/* -- both, with one request ------------------------------------------------------------------ */

struct exchange {
	int to;
	int to_tag;
	MPI_Count count;
	MPI_Datatype type;
	int from;
	int from_tag;
	MPI_Count from_count;
	MPI_Datatype from_type;
};

IOT_MPI_OPTIONAL static void posted_exchange(const struct iot_mpi_message *message, const struct exchange *exchange,
			    MPI_Request request)
{
	struct iot_mpi_request state = {
		.id = iot_mpi_request_new(),
		.is_as_asked = exchange->from != MPI_PROC_NULL,
		.peer = iot_mpi_peer(exchange->from, message->peer_base),
		.tag = iot_mpi_tag(exchange->from_tag),
	};

	if (exchange->to != MPI_PROC_NULL)
		sent(message, IOT_CALL_isendrecv, exchange->to, exchange->to_tag,
		     iot_mpi_length_bytes(exchange->count, exchange->type), state.id);
	if (exchange->from != MPI_PROC_NULL)
		IOT_MPI_EMIT(mpi_recv, .enter_ns = message->enter_ns, .call = IOT_CALL_isendrecv,
			     .comm = message->comm, .peer = state.peer, .tag = state.tag,
			     .length_bytes = iot_mpi_length_bytes(exchange->from_count,
								  exchange->from_type),
			     .request = state.id);
	if (state.peer < 0 || state.tag < 0)
		state.peer = state.tag = -1;
	iot_mpi_request_add(request, &state);
}

#define DEFINE_IEXCHANGE(name, call, root, parameters, arguments)                                  \
	IOT_MPI_DEFINE_POST(name, parameters, arguments,                                           \
			    to != MPI_PROC_NULL || from != MPI_PROC_NULL,                          \
			    posted_exchange(&post,                                                 \
					    &(struct exchange){ to, to_tag, count, type,           \
								from, from_tag, in_count_##name,   \
								in_type_##name },                  \
					    *request))
#define in_count_Isendrecv	   from_count
#define in_type_Isendrecv	   from_type
#define in_count_Isendrecv_replace count
#define in_type_Isendrecv_replace  type
#define in_count_Isendrecv_c	     from_count
#define in_type_Isendrecv_c	     from_type
#define in_count_Isendrecv_replace_c count
#define in_type_Isendrecv_replace_c  type
IOT_MPI_IEXCHANGES(DEFINE_IEXCHANGE)
