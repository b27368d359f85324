// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages.c - point-to-point messages on a ring.
 */
#include "exercise.h"

#include <stdlib.h>
#include <string.h>

#define LARGE 30000 /* ints; too large to be sent before the receive is posted */

static const struct {
	const char *name;
	int (*function)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
} sends[] = { { "send", MPI_Send }, { "bsend", MPI_Bsend }, { "ssend", MPI_Ssend },
	      { "rsend", MPI_Rsend } };

static const struct {
	const char *name;
	int (*function)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
} isends[] = { { "isend", MPI_Isend }, { "ibsend", MPI_Ibsend }, { "issend", MPI_Issend },
	       { "irsend", MPI_Irsend } };

static int *buffer_of(int count, int seed)
{
	int *buffer = malloc((size_t)(count + 1) * sizeof(int)), i;

	expect(buffer);
	for (i = 0; i < count; i++)
		buffer[i] = seed + i;
	return buffer;
}

static void came(const int *buffer, int count, int seed)
{
	int i;

	for (i = 0; i < count; i++)
		expect(buffer[i] == seed + i);
	saw(buffer, count);
}

static void irecv(int *buffer, int count, int from, int tag, MPI_Comm comm, struct request_list *list)
{
	MPI_Irecv(buffer, count, MPI_INT, from, tag, comm, list_add(list, from != MPI_PROC_NULL));
	if (from != MPI_PROC_NULL)
		did("mpi_recv", "irecv");
}

/* The receive is posted before the ready send. */
static void blocking_send(int kind, int count, MPI_Comm comm)
{
	int *out = buffer_of(count, rank), *in = buffer_of(count, -1);
	struct request_list list = {};

	irecv(in, count, previous, 7, comm, &list);
	barrier(comm);
	sends[kind].function(out, count, MPI_INT, next, 7, comm);
	did("mpi_send", sends[kind].name);
	list_finish(&list, 0, count == 0);
	came(in, count, previous);
	free(out);
	free(in);
}

static void blocking_receive(int count, int from, int tag, bool is_ignoring, MPI_Comm comm)
{
	int *out = buffer_of(count, rank), *in = buffer_of(count, -1), got;
	MPI_Status status;

	if (rank & 1) {
		MPI_Send(out, count, MPI_INT, next, 9, comm);
		did("mpi_send", "send");
	}
	MPI_Recv(in, count + 1, MPI_INT, from, tag, comm, is_ignoring ? MPI_STATUS_IGNORE : &status);
	did("mpi_recv", "recv");
	if (!(rank & 1)) {
		MPI_Send(out, count, MPI_INT, next, 9, comm);
		did("mpi_send", "send");
	}
	if (!is_ignoring) {
		MPI_Get_count(&status, MPI_INT, &got);
		expect(got == count && status.MPI_SOURCE == previous && status.MPI_TAG == 9);
	}
	came(in, count, previous);
	barrier(comm); /* so that the next MPI_ANY_SOURCE receive gets no message of the next round */
	free(out);
	free(in);
}

void exchange(bool is_ignoring, MPI_Comm comm)
{
	int out = rank, in = -1, both = rank;
	MPI_Status status, *wanted = is_ignoring ? MPI_STATUS_IGNORE : &status;

	MPI_Sendrecv(&out, 1, MPI_INT, next, 3, &in, 1, MPI_INT, previous, 3, comm, wanted);
	came(&in, 1, previous);
	expect(is_ignoring || status.MPI_SOURCE == previous);
	MPI_Sendrecv_replace(&both, 1, MPI_INT, previous, 4, next, 4, comm, wanted);
	came(&both, 1, next);
	did("mpi_send", "sendrecv");
	did("mpi_recv", "sendrecv");
	did("mpi_send", "sendrecv");
	did("mpi_recv", "sendrecv");
	/* A line instead of a ring: its ends have one neighbour. */
	MPI_Sendrecv(&out, 1, MPI_INT, rank + 1 < size ? next : MPI_PROC_NULL, 5, &in, 1, MPI_INT,
		     rank ? previous : MPI_PROC_NULL, 5, comm, wanted);
	if (rank + 1 < size)
		did("mpi_send", "sendrecv");
	if (rank)
		did("mpi_recv", "sendrecv");
}

/* In both directions, with one request; the ends of a line have one neighbour. */
static void exchange_nonblocking(int way, bool is_ignoring, MPI_Comm comm)
{
#if MPI_VERSION >= 4
	int out = rank, in[2] = { -1, -1 }, both = rank, round;
	int after = rank + 1 < size ? next : MPI_PROC_NULL, before = rank ? previous : MPI_PROC_NULL;
	struct request_list list = {};

	for (round = 0; round < 2; round++) {
		MPI_Isendrecv(&out, 1, MPI_INT, next, 6, &in[0], 1, MPI_INT, previous, 6, comm,
			      list_add(&list, true));
		MPI_Isendrecv_replace(&both, 1, MPI_INT, previous, 7, next, 7, comm, list_add(&list, true));
		MPI_Isendrecv(&out, 1, MPI_INT, after, 8, &in[1], 1, MPI_INT, before, 8, comm,
			      list_add(&list, true));
		list_finish(&list, way, is_ignoring);
		came(&in[0], 1, previous);
		came(&both, 1, next);
		expect(!rank || in[1] == previous);
		both = rank;
		did("mpi_send", "isendrecv");
		did("mpi_recv", "isendrecv");
		did("mpi_send", "isendrecv");
		did("mpi_recv", "isendrecv");
		if (rank + 1 < size)
			did("mpi_send", "isendrecv");
		if (rank)
			did("mpi_recv", "isendrecv");
		/* by another call in the same stream, so that none is left over */
		MPI_Sendrecv(&out, 1, MPI_INT, next, 6, &in[0], 1, MPI_INT, previous, 6, comm, MPI_STATUS_IGNORE);
		did("mpi_send", "sendrecv");
		did("mpi_recv", "sendrecv");
	}
	barrier(comm);
#else
	(void)way, (void)is_ignoring, (void)comm;
#endif
}

/* The requests include a null request and two for MPI_PROC_NULL. */
static void nonblocking(int kind, int way, bool is_ignoring, int count, int messages_each, MPI_Comm comm)
{
	int *in[32], *out = buffer_of(count, rank), nothing = 0, i;
	struct request_list list = {};

	list_add(&list, false);
	irecv(&nothing, 1, MPI_PROC_NULL, 1, comm, &list);
	for (i = 0; i < messages_each; i++) {
		in[i] = buffer_of(count, -1);
		irecv(in[i], count + i, i % 3 == 2 ? MPI_ANY_SOURCE : previous,
		      i % 3 == 1 ? MPI_ANY_TAG : 11, comm, &list);
	}
	barrier(comm);
	for (i = 0; i < messages_each; i++) {
		isends[kind].function(out, count, MPI_INT, next, 11, comm, list_add(&list, true));
		did("mpi_send", isends[kind].name);
	}
	isends[kind].function(out, count, MPI_INT, MPI_PROC_NULL, 11, comm, list_add(&list, false));
	list_finish(&list, way, is_ignoring);
	for (i = 0; i < messages_each; i++) {
		came(in[i], count, previous);
		free(in[i]);
	}
	barrier(comm);
	free(out);
}

/* Every second int of a larger buffer: the recorded bytes are those sent, not the extent. */
static void derived_type(MPI_Comm comm)
{
	int out[20], in[20] = {}, i;
	struct request_list list = {};
	MPI_Datatype type;

	for (i = 0; i < 20; i++)
		out[i] = rank + i;
	MPI_Type_vector(10, 1, 2, MPI_INT, &type);
	MPI_Type_commit(&type);
	MPI_Irecv(in, 1, type, previous, 13, comm, list_add(&list, true));
	did("mpi_recv", "irecv");
	MPI_Isend(out, 1, type, next, 13, comm, list_add(&list, true));
	did("mpi_send", "isend");
	MPI_Type_free(&type);
	list_finish(&list, 2, false);
	for (i = 0; i < 20; i += 2)
		expect(in[i] == previous + i && !in[i + 1]);
}

void messages(MPI_Comm comm)
{
	static char room[1 << 20];
	int kind, way, detached_bytes;
	void *detached;

	MPI_Buffer_attach(room, sizeof(room));
	for (kind = 0; kind < 4; kind++) {
		blocking_send(kind, 0, comm);
		blocking_send(kind, 100, comm);
		blocking_send(kind, LARGE, comm);
	}
	blocking_receive(0, previous, 9, false, comm);
	blocking_receive(10, MPI_ANY_SOURCE, 9, true, comm);
	blocking_receive(LARGE, previous, MPI_ANY_TAG, false, comm);
	blocking_receive(10, MPI_ANY_SOURCE, MPI_ANY_TAG, true, comm);
	exchange(false, comm);
	exchange(true, comm);
	for (way = 0; way < WAYS; way++)
		exchange_nonblocking(way, way & 1, comm);
	for (kind = 0; kind < 4; kind++)
		for (way = 0; way < WAYS; way++)
			nonblocking(kind, way, (kind + way) & 1, 10, 3, comm);
	for (way = 0; way < WAYS; way++)
		nonblocking(0, way, way & 1, 200, 15, comm);
	nonblocking(0, 2, true, LARGE, 2, comm);
	derived_type(comm);
	MPI_Buffer_detach(&detached, &detached_bytes);
}
