// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe.c - probes. With a matched one, a message is matched where the probe found it, and
 * received later.
 *
 * A matched probe that found a message is recorded as a receive that was posted there,
 * with a request; MPI_Mrecv, or the call that completes the request of MPI_Imrecv, finds it complete.
 */
#include "shim.h"

#include <pthread.h>
#include <stdlib.h>

/* A message that was found, and not yet received. */
struct found {
	struct found *next;
	MPI_Message message;
	struct iot_mpi_request request;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct found *list;

static void remember(MPI_Message message, const struct iot_mpi_request *request)
{
	int saved = errno;
	struct found *found = malloc(sizeof(*found));

	errno = saved;
	if (!found)
		return;
	found->message = message;
	found->request = *request;
	pthread_mutex_lock(&lock);
	found->next = list;
	list = found;
	pthread_mutex_unlock(&lock);
}

/* The request of a message, which is forgotten; its id is 0 if there is none. */
static struct iot_mpi_request take(MPI_Message message)
{
	struct iot_mpi_request request = {};
	struct found **place, *found;

	if (!iot_mpi_is_on())
		return request;
	pthread_mutex_lock(&lock);
	for (place = &list; *place && (*place)->message != message; place = &(*place)->next)
		;
	found = *place;
	if (found)
		*place = found->next;
	pthread_mutex_unlock(&lock);
	if (found)
		request = found->request;
	free(found);
	return request;
}

static void probed(const struct iot_mpi_message *probe, MPI_Message message,
		   const MPI_Status *status)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	struct iot_mpi_request request;

	if (message == mpi->message_null || message == mpi->message_no_proc)
		return;
	request = (struct iot_mpi_request){
		.id = iot_mpi_request_new(),
		.is_receive = true,
		.peer = iot_mpi_peer(status->MPI_SOURCE, probe->peer_base),
		.tag = status->MPI_TAG,
		.peer_base = probe->peer_base,
		.ranks = probe->ranks,
	};
	IOT_MPI_EMIT(mpi_recv, .enter_ns = probe->enter_ns, .call = IOT_CALL_mprobe,
		     .comm = probe->comm, .peer = request.peer, .tag = request.tag,
		     .length_bytes = iot_mpi_received_bytes(status), .request = request.id);
	remember(message, &request);
}

/* Another call receives the message; it is recorded like any other receive. */
static void seen(const struct iot_mpi_message *probe, int peer, const MPI_Status *status)
{
	if (peer == MPI_PROC_NULL)
		return;
	IOT_MPI_EMIT(mpi_probe, .enter_ns = probe->enter_ns, .call = IOT_CALL_probe,
		     .comm = probe->comm, .peer = iot_mpi_peer(status->MPI_SOURCE, probe->peer_base),
		     .tag = status->MPI_TAG, .length_bytes = iot_mpi_received_bytes(status));
}

#define DEFINE_PROBE(name, call_name, is_there, parameters, arguments)    \
	IOT_MPI_DEFINE_STATUS(name, parameters, arguments,                \
			      if (!rc && (is_there)) seen(&call, peer, status))
#define DEFINE_MPROBE(name, call_name, is_there, parameters, arguments)   \
	IOT_MPI_DEFINE_STATUS(name, parameters, arguments,                \
			      if (!rc && (is_there)) probed(&call, *message, status))
IOT_MPI_PROBES(DEFINE_PROBE, DEFINE_MPROBE)

#define DEFINE_MRECV(name, call_name, root, parameters, arguments)                                \
	int MPI_##name parameters                                                                 \
	{                                                                                         \
		const struct iot_mpi_library *mpi = iot_mpi_library();                            \
		struct iot_mpi_request request = message ? take(*message) : (struct iot_mpi_request){}; \
		u64 enter_ns = request.id ? iot_mpi_now_ns() : 0;                                 \
		MPI_Status own;                                                                   \
		int rc;                                                                           \
                                                                                                  \
		if (request.id && status == MPI_STATUS_IGNORE)                                    \
			status = &own;                                                            \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                                    \
		if (request.id)                                                                   \
			iot_mpi_done(enter_ns, IOT_CALL_mrecv, &request, status, rc);             \
		return rc;                                                                        \
	}
IOT_MPI_MRECVS(DEFINE_MRECV)

#define DEFINE_IMRECV(name, call_name, root, parameters, arguments)                               \
	int MPI_##name parameters                                                                 \
	{                                                                                         \
		const struct iot_mpi_library *mpi = iot_mpi_library();                            \
		struct iot_mpi_request state = message ? take(*message) : (struct iot_mpi_request){}; \
		int rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);                                \
                                                                                                  \
		if (!rc && state.id)                                                              \
			iot_mpi_request_add(*request, &state);                                    \
		else if (!rc)                                                                     \
			iot_mpi_request_skip(*request);                                           \
		return rc;                                                                        \
	}
IOT_MPI_IMRECVS(DEFINE_IMRECV)
