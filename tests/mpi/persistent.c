// SPDX-License-Identifier: GPL-2.0-only
/*
 * persistent.c - persistent requests, and messages of matched probes.
 */
#include "exercise.h"

static const struct {
	const char *name;
	int (*function)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
} inits[] = { { "send_init", MPI_Send_init },
	      { "bsend_init", MPI_Bsend_init },
	      { "ssend_init", MPI_Ssend_init },
	      { "rsend_init", MPI_Rsend_init } };

/* Requests of every kind, one for MPI_PROC_NULL, and two that are not persistent. */
static void rounds(int kind, int way, MPI_Comm comm)
{
	int out = rank, in = -1, out2 = -rank, in2 = -1, nothing = 0, round, i;
	MPI_Request kept[3];

	MPI_Recv_init(&in, 1, MPI_INT, kind & 1 ? MPI_ANY_SOURCE : previous, 21, comm, &kept[0]);
	inits[kind].function(&out, 1, MPI_INT, next, 21, comm, &kept[1]);
	MPI_Recv_init(&nothing, 1, MPI_INT, MPI_PROC_NULL, 21, comm, &kept[2]);
	for (round = 0; round < 3; round++) {
		struct request_list list = {};

		MPI_Start(&kept[0]);
		did("mpi_recv", "recv_init");
		MPI_Start(&kept[2]);
		barrier(comm);
		MPI_Startall(1, &kept[1]);
		did("mpi_send", inits[kind].name);
		for (i = 0; i < 3; i++)
			*list_add(&list, i < 2) = kept[i];
		MPI_Irecv(&in2, 1, MPI_INT, previous, 22, comm, list_add(&list, true));
		MPI_Isend(&out2, 1, MPI_INT, next, 22, comm, list_add(&list, true));
		did("mpi_recv", "irecv");
		did("mpi_send", "isend");
		list_finish(&list, way, round & 1);
		expect(in == previous && in2 == -previous);
		saw(&in, 1);
		in = in2 = -1;
	}
	for (i = 0; i < 3; i++)
		MPI_Request_free(&kept[i]);
	barrier(comm);
}

/*
 * The first message is too long for its receive, which completes nevertheless; the others fit. Open MPI
 * 4.1 frees the request in this case, and crashes when it is started again.
 */
static void truncated(int way, bool is_ignoring, MPI_Comm comm)
{
#ifdef MPICH_VERSION
	int out[2], in, round;
	MPI_Request kept;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Recv_init(&in, 1, MPI_INT, previous, 24, comm, &kept);
	for (round = 0; round < 3; round++) {
		struct request_list list = {};

		MPI_Start(&kept);
		did("mpi_recv", "recv_init");
		barrier(comm);
		out[0] = 10 * rank + round;
		MPI_Send(out, round ? 1 : 2, MPI_INT, next, 24, comm);
		did("mpi_send", "send");
		*list_add(&list, true) = kept;
		list_finish(&list, way, is_ignoring);
		expect(!round || in == 10 * previous + round);
	}
	MPI_Request_free(&kept);
	barrier(comm);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#else
	(void)way, (void)is_ignoring, (void)comm;
#endif
}

static void probe_and_receive(bool is_ignoring, int source, MPI_Comm comm)
{
	int out[2] = { rank, 0 }, in[2] = { -1, -1 }, got;
	MPI_Status status, *wanted = is_ignoring ? MPI_STATUS_IGNORE : &status;
	MPI_Request request;
	MPI_Message message;

	MPI_Isend(out, 2, MPI_INT, next, 61, comm, &request);
	did("mpi_send", "isend");
	MPI_Mprobe(source, 61, comm, &message, wanted);
	did("mpi_recv", "mprobe");
	MPI_Mrecv(in, 2, MPI_INT, &message, wanted);
	did("mpi_done", "mrecv");
	expect(in[0] == previous);
	if (!is_ignoring) {
		MPI_Get_count(&status, MPI_INT, &got);
		expect(got == 2 && status.MPI_SOURCE == previous);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	saw(in, 2);
	barrier(comm);
}

/* Two messages of one stream: the first is matched first, and received last. */
static void overtaken(MPI_Comm comm)
{
	int out[2] = { rank, -rank }, in[2] = { -1, -1 }, is_found = 0;
	MPI_Request requests[3];
	MPI_Message message;
	MPI_Status status;

	MPI_Isend(&out[0], 1, MPI_INT, next, 62, comm, &requests[0]);
	MPI_Isend(&out[1], 1, MPI_INT, next, 62, comm, &requests[1]);
	did("mpi_send", "isend");
	did("mpi_send", "isend");
	while (!is_found)
		MPI_Improbe(previous, 62, comm, &is_found, &message, &status);
	did("mpi_recv", "mprobe");
	MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 62, comm, MPI_STATUS_IGNORE);
	did("mpi_recv", "recv");
	MPI_Imrecv(&in[0], 1, MPI_INT, &message, &requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	did("mpi_done", "wait");
	did("mpi_done", "wait");
	did("mpi_done", "wait");
	expect(in[0] == previous && in[1] == -previous);
	barrier(comm);
	MPI_Mprobe(MPI_PROC_NULL, 62, comm, &message, &status);
	MPI_Mrecv(in, 1, MPI_INT, &message, &status);
}

/* A message in four partitions, three times, next to another one with the same tag. */
static void partitioned(MPI_Comm comm)
{
#if MPI_VERSION >= 4
	int out[4], in[4], other = -1, list[2] = { 0, 3 }, i, round;
	MPI_Request requests[2];

	MPI_Psend_init(out, 4, 1, MPI_INT, next, 63, comm, MPI_INFO_NULL, &requests[0]);
	MPI_Precv_init(in, 2, 2, MPI_INT, previous, 63, comm, MPI_INFO_NULL, &requests[1]);
	for (round = 0; round < 3; round++) {
		MPI_Startall(2, requests);
		did("mpi_recv", "precv_init");
		for (i = 0; i < 4; i++)
			out[i] = 100 * rank + 10 * round + i;
		MPI_Pready_range(1, 2, requests[0]);
		for (i = 0; i < 3; i++)
			did("mpi_part", "pready");
		MPI_Sendrecv(&rank, 1, MPI_INT, next, 63, &other, 1, MPI_INT, previous, 63, comm,
			     MPI_STATUS_IGNORE);
		did("mpi_send", "sendrecv");
		did("mpi_recv", "sendrecv");
		expect(other == previous);
		if (round) {
			MPI_Pready_list(2, list, requests[0]);
		} else {
			MPI_Pready(3, requests[0]);
			MPI_Pready(0, requests[0]);
		}
		did("mpi_send", "psend_init");
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		did("mpi_done", "wait");
		did("mpi_done", "wait");
		for (i = 0; i < 4; i++)
			expect(in[i] == 100 * previous + 10 * round + i);
		saw(in, 4);
		barrier(comm);
	}
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
#else
	(void)comm;
#endif
}

void persistent(MPI_Comm comm)
{
	static char room[1 << 16];
	int kind, way, detached_bytes;
	void *detached;

	MPI_Buffer_attach(room, sizeof(room));
	for (kind = 0; kind < 4; kind++)
		for (way = kind; way < WAYS; way += 3)
			rounds(kind, way, comm);
	MPI_Buffer_detach(&detached, &detached_bytes);
	for (way = 0; way < WAYS; way++) {
		truncated(way, false, comm);
		truncated(way, true, comm);
	}
	probe_and_receive(false, previous, comm);
	probe_and_receive(true, MPI_ANY_SOURCE, comm);
	overtaken(comm);
	partitioned(comm);
}
