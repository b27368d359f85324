// SPDX-License-Identifier: GPL-2.0-only
/*
 * glance.c - calls that report whether requests are complete without freeing them.
 *
 * From then on the program knows that the request is complete, and its next operations come after
 * it. So the end is recorded here, once, and the wait or test that later frees the request has
 * nothing to record.
 *
 * If several requests share a handle, the one that is meant is unknown until one is freed. Such
 * requests were complete when they were created, so the end of no other rank's call is missed.
 */
#include "shim.h"

#include <stdlib.h>

#define STATUSES_ON_STACK 16

/* A call that examines requests; MPI returns their statuses in our memory if the caller does not request them. */
struct glance {
	u64 enter_ns;
	bool is_known;
	MPI_Status *statuses;
	MPI_Status *own;
	MPI_Status few[STATUSES_ON_STACK];
};

/* @statuses: of the caller; NULL if it does not ask. Return: the argument for MPI, NULL for none. */
static MPI_Status *begin(struct glance *glance, int count, MPI_Status *statuses)
{
	int saved = errno;

	glance->own = NULL;
	glance->statuses = statuses;
	glance->is_known = iot_mpi_is_on() && count > 0;
	if (!glance->is_known)
		return statuses;
	glance->enter_ns = iot_mpi_now_ns();
	if (statuses)
		return statuses;
	if (count > STATUSES_ON_STACK)
		glance->own = calloc((size_t)count, sizeof(*glance->own));
	glance->statuses = glance->own ? glance->own : glance->few;
	glance->is_known = glance->own || count <= STATUSES_ON_STACK;
	errno = saved;
	return glance->is_known ? glance->statuses : NULL;
}

IOT_MPI_OPTIONAL static void end(struct glance *glance)
{
	int saved = errno;

	free(glance->own);
	errno = saved;
}

static void saw(const struct glance *glance, MPI_Request handle, const MPI_Status *status)
{
	struct iot_mpi_request found;

	iot_mpi_request_find(&handle, 1, &found);
	if (found.is_shared || !found.id)
		return;
	iot_mpi_request_take(handle, &found);
	iot_mpi_done(glance->enter_ns, IOT_CALL_status, &found, status, MPI_SUCCESS);
}

int MPI_Request_get_status(MPI_Request request, int *is_done, MPI_Status *status)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct glance glance;
	MPI_Status *known = begin(&glance, 1, status == MPI_STATUS_IGNORE ? NULL : status);
	int rc = IOT_MPI_BELOW(mpi->MPI_Request_get_status(request, is_done, known ? known : MPI_STATUS_IGNORE));

	if (!rc && glance.is_known && *is_done)
		saw(&glance, request, known);
	return rc;
}

#if IOT_HAS_Request_get_status_all
int MPI_Request_get_status_all(int count, IOT_MPI_REQUEST requests[], int *is_done, MPI_Status statuses[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct glance glance;
	MPI_Status *known = begin(&glance, count, statuses == MPI_STATUSES_IGNORE ? NULL : statuses);
	int i, rc = IOT_MPI_BELOW(mpi->MPI_Request_get_status_all(count, requests, is_done,
								  known ? known : MPI_STATUSES_IGNORE));

	for (i = 0; !rc && glance.is_known && *is_done && i < count; i++)
		saw(&glance, requests[i], &known[i]);
	end(&glance);
	return rc;
}
#endif

#if IOT_HAS_Request_get_status_any
int MPI_Request_get_status_any(int count, IOT_MPI_REQUEST requests[], int *index, int *is_done,
			       MPI_Status *status)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct glance glance;
	MPI_Status *known = begin(&glance, 1, status == MPI_STATUS_IGNORE ? NULL : status);
	int rc = IOT_MPI_BELOW(mpi->MPI_Request_get_status_any(count, requests, index, is_done,
							       known ? known : MPI_STATUS_IGNORE));

	if (!rc && glance.is_known && *is_done && *index >= 0 && *index < count)
		saw(&glance, requests[*index], known);
	return rc;
}
#endif

#if IOT_HAS_Request_get_status_some
int MPI_Request_get_status_some(int count, IOT_MPI_REQUEST requests[], int *done_count, int indices[],
				MPI_Status statuses[])
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct glance glance;
	MPI_Status *known = begin(&glance, count, statuses == MPI_STATUSES_IGNORE ? NULL : statuses);
	int i, rc = IOT_MPI_BELOW(mpi->MPI_Request_get_status_some(count, requests, done_count, indices,
								   known ? known : MPI_STATUSES_IGNORE));

	for (i = 0; !rc && glance.is_known && i < *done_count && i < count; i++)
		if (indices[i] >= 0 && indices[i] < count)
			saw(&glance, requests[indices[i]], &known[i]);
	end(&glance);
	return rc;
}
#endif
