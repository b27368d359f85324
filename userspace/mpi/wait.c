// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait.c - waits and tests: one record for each request that they complete.
 *
 * A request of ours is complete when the call has set its handle to MPI_REQUEST_NULL. This
 * holds for all eight calls, and for requests that ended with an error. The handle of a persistent
 * request stays: there the results of the call decide, and a failure because the message was too
 * long has ended the request, too.
 */
#include "shim.h"

#include <stdlib.h>

#define REQUESTS_ON_STACK 16

/**
 * struct wait - a wait or test
 * @enter_ns: when it began
 * @name: an enum iot_call
 * @count: of the requests
 * @handles: copies of the handles, which MPI overwrites
 * @found: states of the requests
 * @statuses: MPI's status of each request: the caller's array, or our own if the caller passed none
 */
struct wait {
	u64 enter_ns;
	u32 name;
	int count;
	MPI_Request *handles;
	struct iot_mpi_request *found;
	MPI_Status *statuses;
	void *memory;
	MPI_Request few_handles[REQUESTS_ON_STACK];
	struct iot_mpi_request few_found[REQUESTS_ON_STACK];
	MPI_Status few_statuses[REQUESTS_ON_STACK];
};

static bool wait_room(struct wait *wait, size_t count)
{
	char *p;

	wait->handles = wait->few_handles;
	wait->found = wait->few_found;
	wait->statuses = wait->few_statuses;
	wait->memory = NULL;
	if (count <= REQUESTS_ON_STACK)
		return true;
	p = malloc(count * (sizeof(*wait->statuses) + sizeof(*wait->found) + sizeof(*wait->handles)));
	if (!p)
		return false;
	wait->memory = p;
	wait->statuses = (MPI_Status *)p;
	wait->found = (struct iot_mpi_request *)(wait->statuses + count);
	wait->handles = (MPI_Request *)(wait->found + count);
	return true;
}

/* Of a request that is not a receive MPI may leave a status as it was. */
static void clear_statuses(MPI_Status *statuses, int count)
{
	int i;

	memset(statuses, 0, (size_t)count * sizeof(*statuses));
	for (i = 0; i < count; i++)
		statuses[i].MPI_SOURCE = MPI_ANY_SOURCE;
}

static void wait_end(struct wait *wait)
{
	int saved = errno;

	free(wait->memory);
	errno = saved;
}

/*
 * Return: false if none of the requests is ours, or if out of memory: the call is then
 * to be passed on as it is, and wait_end() need not be called.
 */
static bool wait_begin(struct wait *wait, u32 name, int count, const MPI_Request *requests,
		       MPI_Status *statuses)
{
	int saved = errno;
	bool is_any = false;

	if (!iot_mpi_is_on() || count <= 0 || !requests)
		return false;
	wait->enter_ns = iot_mpi_now_ns();
	wait->name = name;
	wait->count = count;
	if (wait_room(wait, (size_t)count)) {
		memcpy(wait->handles, requests, (size_t)count * sizeof(*requests));
		clear_statuses(wait->statuses, count);
		is_any = iot_mpi_request_find(requests, count, wait->found);
		if (!is_any)
			wait_end(wait);
		else if (statuses)
			wait->statuses = statuses;
	}
	errno = saved;
	return is_any;
}

static s64 result_of(const MPI_Status *status, bool is_as_asked, int rc)
{
	int is_cancelled = 0;

	if (iot_mpi_class(rc) == MPI_ERR_IN_STATUS)
		rc = status->MPI_ERROR;
	if (!rc && !is_as_asked && !iot_mpi_found.PMPI_Test_cancelled(status, &is_cancelled) && is_cancelled)
		return -ECANCELED;
	return iot_mpi_result(rc);
}

/*
 * Sender, tag and length. A request may be mistaken for a receive, because MPI reused the handle of
 * a receive whose end was not seen; its status has no meaning, so impossible values count as
 * unknown. So does a status after an error.
 */
static void put_sender(struct iot_rec_mpi_done *done, const struct iot_mpi_request *request,
		       const MPI_Status *status)
{
	bool is_partitioned = request->persistent && request->persistent->partitions;
	s32 peer = iot_mpi_peer(status->MPI_SOURCE, request->peer_base);
	s32 tag = is_partitioned ? request->persistent->tag : iot_mpi_tag(status->MPI_TAG);

	if (request->peer >= 0 ? peer != request->peer : peer < 0 || (u32)peer >= request->ranks)
		return;
	if (request->tag != -1 ? tag != request->tag : tag < 0)
		return;
	done->peer = peer;
	done->tag = tag;
	done->length_bytes = iot_mpi_received_bytes(status);
}

/**
 * iot_mpi_done() - record the end of a request
 * @enter_ns: start of the call that completed it
 * @name: an enum iot_call
 * @request: it
 * @status: of it
 * @rc: the result of the call
 */
void iot_mpi_done(u64 enter_ns, u32 name, const struct iot_mpi_request *request,
		  const MPI_Status *status, int rc)
{
	struct iot_rec_mpi_done done = {
		.peer = -1, .tag = -1, .result = result_of(status, request->is_as_asked, rc),
	};

	if (request->is_as_asked) {
		done.peer = request->peer;
		done.tag = request->tag;
	}
	if (request->is_receive && (!done.result || done.result == -EMSGSIZE))
		put_sender(&done, request, status);
	IOT_MPI_EMIT(mpi_done, .enter_ns = enter_ns, .result = done.result, .call = name,
		     .request = request->id, .peer = done.peer, .tag = done.tag,
		     .length_bytes = done.length_bytes);
	if (request->made && !done.result)
		iot_mpi_comm_idup_done(request->state, *request->made);
}

/* Has request i ended? A call that failed may have left it as it was before. */
static bool has_ended(const struct wait *wait, const MPI_Request *requests, int i,
		      const MPI_Status *status, int rc)
{
	const struct iot_mpi_request *found = &wait->found[i];

	if (!found->id && !found->is_shared)
		return false;
	if (found->persistent)
		return !rc || iot_mpi_class(rc) == MPI_ERR_TRUNCATE ||
		       (iot_mpi_class(rc) == MPI_ERR_IN_STATUS && status->MPI_ERROR != MPI_ERR_PENDING);
	return requests[i] == iot_mpi_found.request_null;
}

/*
 * Record request i, if it is complete and one of ours; its status may be at another index.
 */
static void wait_done(struct wait *wait, const MPI_Request *requests, int i,
		      const MPI_Status *status, int rc)
{
	if (i < 0 || i >= wait->count || !has_ended(wait, requests, i, status, rc))
		return;
	iot_mpi_request_take(wait->handles[i], &wait->found[i]);
	if (wait->found[i].id)
		iot_mpi_done(wait->enter_ns, wait->name, &wait->found[i], status, rc);
}

static MPI_Status *unless_ignored(MPI_Status *status)
{
	return status == MPI_STATUS_IGNORE ? NULL : status;
}

static MPI_Status *unless_all_ignored(MPI_Status *statuses)
{
	return statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc;

	if (!wait_begin(&wait, IOT_CALL_wait, 1, request, unless_ignored(status)))
		return IOT_MPI_BELOW(mpi->MPI_Wait(request, status));
	rc = IOT_MPI_BELOW(mpi->MPI_Wait(request, wait.statuses));
	wait_done(&wait, request, 0, wait.statuses, rc);
	wait_end(&wait);
	return rc;
}

int MPI_Test(MPI_Request *request, int *is_done, MPI_Status *status)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc;

	if (!wait_begin(&wait, IOT_CALL_test, 1, request, unless_ignored(status)))
		return IOT_MPI_BELOW(mpi->MPI_Test(request, is_done, status));
	rc = IOT_MPI_BELOW(mpi->MPI_Test(request, is_done, wait.statuses));
	if (rc || *is_done)
		wait_done(&wait, request, 0, wait.statuses, rc);
	wait_end(&wait);
	return rc;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc, i;

	if (!wait_begin(&wait, IOT_CALL_wait, count, requests, unless_all_ignored(statuses)))
		return IOT_MPI_BELOW(mpi->MPI_Waitall(count, requests, statuses));
	rc = IOT_MPI_BELOW(mpi->MPI_Waitall(count, requests, wait.statuses));
	for (i = 0; i < count; i++)
		wait_done(&wait, requests, i, &wait.statuses[i], rc);
	wait_end(&wait);
	return rc;
}

int MPI_Testall(int count, MPI_Request requests[], int *is_done, MPI_Status statuses[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc, i;

	if (!wait_begin(&wait, IOT_CALL_test, count, requests, unless_all_ignored(statuses)))
		return IOT_MPI_BELOW(mpi->MPI_Testall(count, requests, is_done, statuses));
	rc = IOT_MPI_BELOW(mpi->MPI_Testall(count, requests, is_done, wait.statuses));
	for (i = 0; i < count && (rc || *is_done); i++)
		wait_done(&wait, requests, i, &wait.statuses[i], rc);
	wait_end(&wait);
	return rc;
}

/* One request at most, and its status is the only one; without an address for its index the call failed. */
static void wait_done_any(struct wait *wait, const MPI_Request *requests, const int *index, int rc)
{
	if (index)
		wait_done(wait, requests, *index, wait->statuses, rc);
	wait_end(wait);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc;

	if (!wait_begin(&wait, IOT_CALL_wait, count, requests, unless_ignored(status)))
		return IOT_MPI_BELOW(mpi->MPI_Waitany(count, requests, index, status));
	rc = IOT_MPI_BELOW(mpi->MPI_Waitany(count, requests, index, wait.statuses));
	wait_done_any(&wait, requests, index, rc);
	return rc;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *is_done, MPI_Status *status)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc;

	if (!wait_begin(&wait, IOT_CALL_test, count, requests, unless_ignored(status)))
		return IOT_MPI_BELOW(mpi->MPI_Testany(count, requests, index, is_done, status));
	rc = IOT_MPI_BELOW(mpi->MPI_Testany(count, requests, index, is_done, wait.statuses));
	wait_done_any(&wait, requests, index, rc);
	return rc;
}

/* The statuses are in the order of the indices. */
static void wait_done_some(struct wait *wait, const MPI_Request *requests, const int *done_count,
			   const int *indices, int rc)
{
	int i;

	for (i = 0; done_count && indices && i < *done_count && i < wait->count; i++)
		wait_done(wait, requests, indices[i], &wait->statuses[i], rc);
	wait_end(wait);
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done_count, int indices[],
		 MPI_Status statuses[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc;

	if (!wait_begin(&wait, IOT_CALL_wait, count, requests, unless_all_ignored(statuses)))
		return IOT_MPI_BELOW(mpi->MPI_Waitsome(count, requests, done_count, indices, statuses));
	rc = IOT_MPI_BELOW(mpi->MPI_Waitsome(count, requests, done_count, indices, wait.statuses));
	wait_done_some(&wait, requests, done_count, indices, rc);
	return rc;
}

int MPI_Testsome(int count, MPI_Request requests[], int *done_count, int indices[],
		 MPI_Status statuses[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct wait wait;
	int rc;

	if (!wait_begin(&wait, IOT_CALL_test, count, requests, unless_all_ignored(statuses)))
		return IOT_MPI_BELOW(mpi->MPI_Testsome(count, requests, done_count, indices, statuses));
	rc = IOT_MPI_BELOW(mpi->MPI_Testsome(count, requests, done_count, indices, wait.statuses));
	wait_done_some(&wait, requests, done_count, indices, rc);
	return rc;
}
