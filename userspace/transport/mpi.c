// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi.c - messages between nodes of a replay by MPI: a library for each MPI there is.
 */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "transport.h"

#define TAG 1

/* A message that MPI may still be reading. */
struct parcel {
	struct parcel *next;
	MPI_Request request;
	char bytes[];
};

static MPI_Comm nodes_comm;
static struct parcel *parcels;

static int start(uint32_t *node, uint32_t *nodes)
{
	int provided, rank, count;

	/* The thread that starts it is not the one that uses it later. */
	if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided))
		return -EIO;
	if (provided < MPI_THREAD_SERIALIZED)
		return -ENOTSUP;
	if (MPI_Comm_dup(MPI_COMM_WORLD, &nodes_comm) ||
	    MPI_Comm_set_errhandler(nodes_comm, MPI_ERRORS_RETURN) ||
	    MPI_Comm_rank(nodes_comm, &rank) || MPI_Comm_size(nodes_comm, &count))
		return -EIO;
	*node = (uint32_t)rank;
	*nodes = (uint32_t)count;
	return 0;
}

/* Free sent messages; with @is_last wait for them. */
static int finish_parcels(bool is_last)
{
	struct parcel **at = &parcels;
	int is_sent, err = 0;

	while (*at && !err) {
		struct parcel *parcel = *at;

		if (is_last)
			is_sent = !(err = MPI_Wait(&parcel->request, MPI_STATUS_IGNORE));
		else
			err = MPI_Test(&parcel->request, &is_sent, MPI_STATUS_IGNORE);
		if (!err && is_sent) {
			*at = parcel->next;
			free(parcel);
		} else {
			at = &parcel->next;
		}
	}
	return err ? -ECONNRESET : 0;
}

static int put(uint32_t to, const void *bytes, size_t count)
{
	struct parcel *parcel = malloc(sizeof(*parcel) + count);

	if (!parcel)
		return -ENOMEM;
	memcpy(parcel->bytes, bytes, count);
	if (MPI_Isend(parcel->bytes, (int)count, MPI_BYTE, (int)to, TAG, nodes_comm,
		      &parcel->request)) {
		free(parcel);
		return -ECONNRESET;
	}
	parcel->next = parcels;
	parcels = parcel;
	return finish_parcels(false);
}

static int take(uint32_t *from, void *bytes, size_t room)
{
	MPI_Status status;
	int is_there, count, err = finish_parcels(false);

	if (err)
		return err;
	if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, nodes_comm, &is_there, &status))
		return -ECONNRESET;
	if (!is_there)
		return 0;
	if (MPI_Recv(bytes, (int)room, MPI_BYTE, status.MPI_SOURCE, TAG, nodes_comm, &status) ||
	    MPI_Get_count(&status, MPI_BYTE, &count))
		return -ECONNRESET;
	*from = (uint32_t)status.MPI_SOURCE;
	return count;
}

/* MPI would complain about a message without a receiver, because the replay ended first. */
static void take_the_rest(void)
{
	static char rest[TRANSPORT_MESSAGE_BYTES];
	uint32_t from;

	while (take(&from, rest, sizeof(rest)) > 0)
		;
}

static void stop(void)
{
	MPI_Request all_have_come;
	int is_over = 0, err;

	err = finish_parcels(true) || MPI_Ibarrier(nodes_comm, &all_have_come);
	while (!err && !is_over) {
		take_the_rest();
		err = MPI_Test(&all_have_come, &is_over, MPI_STATUS_IGNORE);
	}
	take_the_rest();
	MPI_Comm_free(&nodes_comm);
	MPI_Finalize();
}

static void quit(int code)
{
	MPI_Abort(MPI_COMM_WORLD, code);
}

extern const struct transport iotape_transport;

const struct transport iotape_transport __attribute__((visibility("default"))) = {
	.version = TRANSPORT_VERSION,
#ifdef OPEN_MPI
	.name = "Open MPI",
#else
	.name = "MPICH",
#endif
	.open = start,
	.send = put,
	.receive = take,
	.close = stop,
	.abort = quit,
};
