// SPDX-License-Identifier: GPL-2.0-only
/*
 * modern.c - calls that some MPIs lack, if this one has them: large counts, persistent
 * collectives, status queries of active requests, partitioned receives that are polled. Also requests that the
 * program completes itself, which every MPI has.
 */
#include "exercise.h"
#include "mpi_has.h"

#include <pthread.h>
#include <stdlib.h>

/* -- status of active requests -------------------------------------------------------------- */

/* A rank that sees that a request is complete continues, and frees the request later. */
static void glances(MPI_Comm comm)
{
	int out[4] = { rank, rank, rank, rank }, in[4], i, is_done;
	MPI_Request requests[4];
	MPI_Status status;

	for (i = 0; i < 4; i++) {
		MPI_Irecv(&in[i], 1, MPI_INT, i & 1 ? MPI_ANY_SOURCE : previous, 70 + i, comm, &requests[i]);
		did("mpi_recv", "irecv");
	}
	MPI_Request_get_status(requests[0], &is_done, MPI_STATUS_IGNORE);
	expect(!is_done);
	barrier(comm);
	for (i = 0; i < 4; i++) {
		MPI_Send(&out[i], 1, MPI_INT, next, 70 + i, comm);
		did("mpi_send", "send");
	}
	for (i = 0; i < 4; i++) {
		for (is_done = 0; !is_done;)
			MPI_Request_get_status(requests[i], &is_done, i & 1 ? &status : MPI_STATUS_IGNORE);
		did("mpi_done", "status");
		expect(!(i & 1) || status.MPI_SOURCE == previous);
		MPI_Request_get_status(requests[i], &is_done, &status); /* a repetition: no record */
		expect(is_done && status.MPI_TAG == 70 + i);
	}
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < 4; i++)
		expect(in[i] == previous);
	saw(in, 4);
	barrier(comm);
}

/* The same with a persistent request that is started repeatedly. */
static void persistent_glances(MPI_Comm comm)
{
	int in = -1, round, is_done;
	MPI_Request request;

	MPI_Recv_init(&in, 1, MPI_INT, previous, 75, comm, &request);
	for (round = 0; round < 3; round++) {
		MPI_Start(&request);
		did("mpi_recv", "recv_init");
		MPI_Send(&rank, 1, MPI_INT, next, 75, comm);
		did("mpi_send", "send");
		for (is_done = 0; !is_done;)
			MPI_Request_get_status(request, &is_done, MPI_STATUS_IGNORE);
		did("mpi_done", "status");
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		expect(in == previous);
	}
	MPI_Request_free(&request);
	barrier(comm);
}

static void glances_at_many(MPI_Comm comm)
{
#if IOT_HAS_Request_get_status_all
	enum { MANY = 20 };
	int in[MANY], indices[MANY], i, count, index, is_done = 0, seen = 0;
	MPI_Request requests[MANY];

	for (i = 0; i < MANY; i++) {
		MPI_Irecv(&in[i], 1, MPI_INT, previous, 76, comm, &requests[i]);
		did("mpi_recv", "irecv");
	}
	for (i = 0; i < MANY; i++) {
		MPI_Send(&rank, 1, MPI_INT, next, 76, comm);
		did("mpi_send", "send");
		did("mpi_done", "status");
	}
	while (!is_done)
		MPI_Request_get_status_any(MANY, requests, &index, &is_done, MPI_STATUS_IGNORE);
	expect(index >= 0 && index < MANY);
	while (!seen) {
		MPI_Request_get_status_some(MANY, requests, &count, indices, MPI_STATUSES_IGNORE);
		seen = count;
	}
	for (is_done = 0; !is_done;)
		MPI_Request_get_status_all(MANY, requests, &is_done, MPI_STATUSES_IGNORE);
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < MANY; i++)
		expect(in[i] == previous);
	barrier(comm);
#else
	(void)comm;
#endif
}

/* -- partitions ------------------------------------------------------------------------------ */

static void partitions(MPI_Comm comm)
{
#if IOT_HAS_Parrived
	int out[4], in[4], round, i, is_there, list[2] = { 2, 3 };
	MPI_Request requests[2];

	MPI_Psend_init(out, 4, 1, MPI_INT, next, 77, comm, MPI_INFO_NULL, &requests[0]);
	MPI_Precv_init(in, 2, 2, MPI_INT, previous, 77, comm, MPI_INFO_NULL, &requests[1]);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < 4; i++)
			out[i] = 10 * rank + round;
		MPI_Startall(2, requests);
		did("mpi_recv", "precv_init");
		MPI_Pready(0, requests[0]);
		MPI_Pready(1, requests[0]);
		MPI_Pready_list(2, list, requests[0]);
		for (i = 0; i < 3; i++)
			did("mpi_part", "pready");
		did("mpi_send", "psend_init");
		for (i = 0; i < 2; i++) {
			for (is_there = 0; !is_there;)
				MPI_Parrived(requests[1], i, &is_there);
			did("mpi_part", "parrived");
			expect(in[2 * i] == 10 * previous + round);
			MPI_Parrived(requests[1], i, &is_there); /* a repetition: no record */
		}
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		did("mpi_done", "wait");
		did("mpi_done", "wait");
		barrier(comm);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
#else
	(void)comm;
#endif
}

/* -- generalized requests ----------------------------------------------------------------------- */

static int query(void *extra, MPI_Status *status)
{
	(void)extra;
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = MPI_UNDEFINED;
	status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int release(void *extra)
{
	(void)extra;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete)
{
	(void)extra, (void)is_complete;
	return MPI_SUCCESS;
}

static void generalized(void)
{
	MPI_Request requests[3];
	int i;

	for (i = 0; i < 3; i++) {
		MPI_Grequest_start(query, release, cancel, NULL, &requests[i]);
		did("mpi_recv", "grequest_start");
	}
	for (i = 2; i >= 0; i--) {
		MPI_Grequest_complete(requests[i]);
		did("mpi_send", "grequest_complete");
	}
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < 3; i++)
		did("mpi_done", "wait");
	did("mpi_comm", "-"); /* shared by all generalized requests */
}

/* -- large counts ---------------------------------------------------------------------------- */

static void large_messages(MPI_Comm comm)
{
#if IOT_HAS_Send_c
	static char room[1 << 12];
	int in = -1, is_found = 0, detached_bytes;
	MPI_Request requests[6];
	MPI_Message message;
	MPI_Status status;
	void *detached;

	MPI_Buffer_attach(room, sizeof(room));
	MPI_Irecv_c(&in, 1, MPI_INT, previous, 80, comm, &requests[0]);
	did("mpi_recv", "irecv");
	MPI_Isend_c(&rank, 1, MPI_INT, next, 80, comm, &requests[1]);
	did("mpi_send", "isend");
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	did("mpi_done", "wait");
	did("mpi_done", "wait");
	expect(in == previous);
	MPI_Sendrecv_c(&rank, 1, MPI_INT, next, 81, &in, 1, MPI_INT, previous, 81, comm, &status);
	did("mpi_send", "sendrecv");
	did("mpi_recv", "sendrecv");
	MPI_Sendrecv_replace_c(&in, 1, MPI_INT, next, 82, previous, 82, comm, MPI_STATUS_IGNORE);
	did("mpi_send", "sendrecv");
	did("mpi_recv", "sendrecv");
	MPI_Bsend_c(&rank, 1, MPI_INT, next, 83, comm);
	did("mpi_send", "bsend");
	MPI_Recv_c(&in, 1, MPI_INT, MPI_ANY_SOURCE, 83, comm, MPI_STATUS_IGNORE);
	did("mpi_recv", "recv");
	MPI_Issend_c(&rank, 1, MPI_INT, next, 84, comm, &requests[0]);
	did("mpi_send", "issend");
	while (!is_found)
		MPI_Improbe(previous, 84, comm, &is_found, &message, &status);
	did("mpi_recv", "mprobe");
	MPI_Mrecv_c(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	did("mpi_done", "mrecv");
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_Send_c(&rank, 1, MPI_INT, next, 85, comm);
	did("mpi_send", "send");
	MPI_Mprobe(previous, 85, comm, &message, &status);
	did("mpi_recv", "mprobe");
	MPI_Imrecv_c(&in, 1, MPI_INT, &message, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_Send_init_c(&rank, 1, MPI_INT, next, 86, comm, &requests[0]);
	MPI_Recv_init_c(&in, 1, MPI_INT, previous, 86, comm, &requests[1]);
	MPI_Startall(2, requests);
	did("mpi_send", "send_init");
	did("mpi_recv", "recv_init");
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	did("mpi_done", "wait");
	did("mpi_done", "wait");
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
	MPI_Buffer_detach(&detached, &detached_bytes);
	expect(in == previous);
	barrier(comm);
#else
	(void)comm;
#endif
}

static void large_collectives(MPI_Comm comm)
{
#if IOT_HAS_Bcast_c
	MPI_Count *counts = calloc((size_t)size, sizeof(*counts));
	MPI_Aint *places = calloc((size_t)size, sizeof(*places));
	int *all = calloc((size_t)size, sizeof(*all)), value = 7, sum, i;
	MPI_Request request;

	for (i = 0; i < size; i++) {
		counts[i] = 1;
		places[i] = i;
	}
	MPI_Bcast_c(&value, 1, MPI_INT, 0, comm);
	did("mpi_coll", "bcast");
	MPI_Allreduce_c(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
	did("mpi_coll", "allreduce");
	expect(sum == 7 * size);
	MPI_Allgatherv_c(&rank, 1, MPI_INT, all, counts, places, MPI_INT, comm);
	did("mpi_coll", "allgatherv");
	expect(all[size - 1] == size - 1);
	MPI_Iallreduce_c(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
	did("mpi_coll", "iallreduce");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	free(counts);
	free(places);
	free(all);
#else
	(void)comm;
#endif
}

/* -- persistent collectives ------------------------------------------------------------------- */

/* Each has a sequence of its own, apart from the communicator's and the others'. */
static void persistent_collectives(MPI_Comm comm)
{
#if IOT_HAS_Allreduce_init
	int in = 0, value, round;
	MPI_Request requests[3];

	MPI_Allreduce_init(&rank, &in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
	MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[1]);
	MPI_Bcast_init(&value, 1, MPI_INT, size - 1, comm, MPI_INFO_NULL, &requests[2]);
	for (round = 0; round < 3; round++)
		did("mpi_comm", "-");
	for (round = 0; round < 3; round++) {
		value = rank == size - 1 ? round : -1;
		MPI_Start(&requests[2]);
		did("mpi_coll", "ibcast");
		barrier(comm);
		MPI_Startall(2, requests);
		did("mpi_coll", "iallreduce");
		did("mpi_coll", "ibarrier");
		MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
		did("mpi_done", "wait");
		did("mpi_done", "wait");
		did("mpi_done", "wait");
		expect(in == size * (size - 1) / 2 && value == round);
	}
	for (round = 0; round < 3; round++)
		MPI_Request_free(&requests[round]);
#else
	(void)comm;
#endif
}

static void persistent_neighbours(MPI_Comm comm)
{
#if IOT_HAS_Neighbor_allgather_init
	int one = 1, in[2] = { -1, -1 }, i;
	MPI_Request request;
	MPI_Comm ring;

	MPI_Cart_create(comm, 1, &size, &one, 0, &ring);
	did("mpi_coll", "cart_create");
	did("mpi_comm", "-");
	MPI_Neighbor_allgather_init(&rank, 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
	did("mpi_comm", "-");
	for (i = 0; i < 4; i++)
		did("mpi_near", "-");
	for (i = 0; i < 2; i++) {
		MPI_Start(&request);
		did("mpi_coll", "ineighbor_allgather");
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		did("mpi_done", "wait");
	}
	expect(in[0] == previous && in[1] == next);
	MPI_Request_free(&request);
	MPI_Comm_free(&ring);
	did("mpi_coll", "comm_free");
#else
	(void)comm;
#endif
}

static void duplicate_with_info(MPI_Comm comm)
{
#if IOT_HAS_Comm_idup_with_info
	MPI_Request request;
	MPI_Comm copy;

	MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &copy, &request);
	did("mpi_coll", "comm_idup_with_info");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	did("mpi_comm", "-");
	barrier(copy);
	MPI_Comm_free(&copy);
	did("mpi_coll", "comm_free");
#else
	(void)comm;
#endif
}

/* With four ranks or more: with fewer, both neighbours are the same rank. */
void modern(MPI_Comm comm)
{
	glances(comm);
	persistent_glances(comm);
	glances_at_many(comm);
	partitions(comm);
	generalized();
	large_messages(comm);
	large_collectives(comm);
	persistent_collectives(comm);
	persistent_neighbours(comm);
	duplicate_with_info(comm);
}
