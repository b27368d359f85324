// SPDX-License-Identifier: GPL-2.0-only
/*
 * grequest.c - generalized requests, which the program completes itself, in any thread.
 *
 * They are recorded as messages of the process to itself, each with a tag of its own, on a key that only
 * they have: to start one is to post the receive, to complete it is to send, and the wait or test that
 * finds it complete comes after that.
 */
#include "shim.h"

static struct iot_mpi_comm own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u32 count;

/* Return: the tag of one more. */
static s32 next_tag(void)
{
	s32 tag;

	pthread_mutex_lock(&lock);
	if (!own.key) {
		own = iot_mpi_comm_like(iot_mpi_comm_self(), iot_mpi_mix(iot_mpi_comm_self()->key, ~0ull));
		iot_mpi_comm_announce(&own, 0);
	}
	tag = (s32)(++count & INT32_MAX);
	pthread_mutex_unlock(&lock);
	return tag;
}

int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *release,
		       MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_request state = { .is_as_asked = true };
	bool is_on = iot_mpi_is_on();
	u64 enter_ns = is_on ? iot_mpi_now_ns() : 0;
	int rc = IOT_MPI_BELOW(mpi->MPI_Grequest_start(query, release, cancel, extra, request));

	if (!is_on || rc)
		return rc;
	state.id = iot_mpi_request_new();
	state.tag = next_tag();
	IOT_MPI_EMIT(mpi_recv, .enter_ns = enter_ns, .call = IOT_CALL_grequest_start, .comm = own.key,
		     .tag = state.tag, .request = state.id);
	iot_mpi_request_add(*request, &state);
	return rc;
}

/* Once that is done another thread may let go of the request. */
int MPI_Grequest_complete(MPI_Request request)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_request found = {};
	u64 enter_ns = 0;
	int rc;

	if (iot_mpi_is_on()) {
		enter_ns = iot_mpi_now_ns();
		iot_mpi_request_find(&request, 1, &found);
	}
	rc = IOT_MPI_BELOW(mpi->MPI_Grequest_complete(request));
	if (!rc && found.id)
		IOT_MPI_EMIT(mpi_send, .enter_ns = enter_ns, .call = IOT_CALL_grequest_complete,
			     .comm = own.key, .tag = found.tag);
	return rc;
}
