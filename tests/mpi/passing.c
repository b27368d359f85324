// SPDX-License-Identifier: GPL-2.0-only
/*
 * passing.c - calls that the shim does not record but must pass on, and must not confuse
 * with recorded ones: other communicators, requests and errors.
 */
#include "exercise.h"

#include <errno.h>
#include <stdlib.h>

#define HIDDEN(name) ((__typeof__(&PMPI_##name))hidden("PMPI_" #name))

/* A communicator created by a call that bypasses the shim has no key, nor do communicators derived from it. */
static void other_communicator(void)
{
	int out = rank, in = -1, sum;
	struct request_list list = {};
	MPI_Comm ring, copy;

	HIDDEN(Comm_dup)(MPI_COMM_WORLD, &ring);
	MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, previous, 0, ring, MPI_STATUS_IGNORE);
	expect(in == previous);
	MPI_Irecv(&in, 1, MPI_INT, next, 1, ring, list_add(&list, false));
	MPI_Isend(&out, 1, MPI_INT, previous, 1, ring, list_add(&list, false));
	list_finish(&list, 2, true);
	expect(in == next);
	MPI_Comm_dup(ring, &copy);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
	saw(&sum, 1);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&ring);
}

/* The receive is cancelled, and its end says so. */
static void cancelled(void)
{
	int in = -1, is_cancelled = 0;
	MPI_Request request;
	MPI_Status status;

	MPI_Irecv(&in, 1, MPI_INT, previous, 31, MPI_COMM_WORLD, &request);
	did("mpi_recv", "irecv");
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	did("mpi_done", "wait");
	MPI_Test_cancelled(&status, &is_cancelled);
	expect(is_cancelled);
}

/* The end of freed requests is not seen; their handles are reused, also by unrecorded requests. */
static void freed(void)
{
	int out = rank, in = -1, i;
	MPI_Request request, pair[2];

	for (i = 0; i < 3; i++) {
		MPI_Issend(&out, 1, MPI_INT, next, 41, MPI_COMM_WORLD, &request);
		did("mpi_send", "issend");
		MPI_Request_free(&request);
		MPI_Recv(&in, 1, MPI_INT, previous, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		did("mpi_recv", "recv");
		expect(in == previous);
		barrier(MPI_COMM_WORLD);
		MPI_Ssend_init(&out, 1, MPI_INT, next, 42, MPI_COMM_WORLD, &pair[0]);
		MPI_Recv_init(&in, 1, MPI_INT, previous, 42, MPI_COMM_WORLD, &pair[1]);
		MPI_Startall(2, pair);
		did("mpi_send", "ssend_init");
		did("mpi_recv", "recv_init");
		MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
		did("mpi_done", "wait");
		did("mpi_done", "wait");
		MPI_Request_free(&pair[0]);
		MPI_Request_free(&pair[1]);
	}
}

/* Small sends share their handle with each other and with requests for MPI_PROC_NULL. */
static void shared(void)
{
	int out = rank, in = -1, i;
	MPI_Request nothing, request;

	for (i = 0; i < 3; i++) {
		MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, 43, MPI_COMM_WORLD, &nothing);
		MPI_Isend(&out, 1, MPI_INT, next, 43, MPI_COMM_WORLD, &request);
		did("mpi_send", "isend");
		MPI_Wait(&nothing, MPI_STATUS_IGNORE);
		MPI_Request_free(&request);
		MPI_Recv(&in, 1, MPI_INT, previous, 43, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		did("mpi_recv", "recv");
	}
}

/* The handles of requests completed by another language binding or another tool remain. */
static void behind_our_back(void)
{
	MPI_Request request;
	int in = -1, i;
	MPI_Comm copy;

	HIDDEN(Comm_dup)(MPI_COMM_WORLD, &copy);
	for (i = 0; i < 3; i++) {
		MPI_Irecv(&in, 1, MPI_INT, previous, 44, MPI_COMM_WORLD, &request);
		did("mpi_recv", "irecv");
		MPI_Cancel(&request);
		HIDDEN(Wait)(&request, MPI_STATUS_IGNORE);
		MPI_Irecv(&in, 1, MPI_INT, previous, 44, copy, &request);
		MPI_Send(&rank, 1, MPI_INT, next, 44, copy);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		expect(in == previous);
	}
	MPI_Comm_free(&copy);
}

/*
 * A send gets the handle of a receive whose end was not seen. MPI leaves the status of a send
 * undefined: it must not be taken for a sender.
 */
static void garbage(void)
{
	enum { MANY = 1 << 16 };
	int *out = calloc(MANY, sizeof(*out)), *in = calloc(MANY, sizeof(*in));
	MPI_Request receive, before, send;
	MPI_Status status;

	MPI_Irecv(in, MANY, MPI_INT, MPI_ANY_SOURCE, 45, MPI_COMM_WORLD, &receive);
	did("mpi_recv", "irecv");
	before = receive;
	MPI_Cancel(&receive);
	HIDDEN(Wait)(&receive, MPI_STATUS_IGNORE);
	HIDDEN(Isend)(out, MANY, MPI_INT, next, 46, MPI_COMM_WORLD, &send);
	HIDDEN(Recv)(in, MANY, MPI_INT, previous, 46, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (send == before)
		did("mpi_done", "wait");
	status.MPI_SOURCE = -1866839872;
	status.MPI_TAG = -77;
	MPI_Wait(&send, &status);
	free(out);
	free(in);
}

/* Errors are returned unchanged. */
static void errors(void)
{
	int out[8] = {}, in[4], in2[4], rc, class;
	struct request_list list = {};
	MPI_Status statuses[2];

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	rc = MPI_Send(out, 1, MPI_INT, size, 51, MPI_COMM_WORLD);
	MPI_Error_class(rc, &class);
	expect(class == MPI_ERR_RANK);
	rc = MPI_Bcast(out, 1, MPI_INT, size, MPI_COMM_WORLD);
	did("mpi_coll", "bcast");
	expect(rc != MPI_SUCCESS);

	/* A truncated message still counts as received. */
	MPI_Irecv(in2, 4, MPI_INT, previous, 52, MPI_COMM_WORLD, list_add(&list, true));
	did("mpi_recv", "irecv");
	barrier(MPI_COMM_WORLD);
	MPI_Send(out, 8, MPI_INT, next, 52, MPI_COMM_WORLD);
	MPI_Send(out, 8, MPI_INT, next, 53, MPI_COMM_WORLD);
	did("mpi_send", "send");
	did("mpi_send", "send");
	rc = MPI_Waitall(1, list.handles, statuses);
	did("mpi_done", "wait");
	expect(rc == MPI_ERR_IN_STATUS);
	MPI_Error_class(statuses[0].MPI_ERROR, &class);
	expect(class == MPI_ERR_TRUNCATE);
	rc = MPI_Recv(in, 4, MPI_INT, previous, 53, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	did("mpi_recv", "recv");
	MPI_Error_class(rc, &class);
	expect(class == MPI_ERR_TRUNCATE);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The shim preserves errno to the same extent as MPI. */
static void error_number(void)
{
	int out = 1, in;

	errno = 77;
	MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	expect(errno == 77);
	MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	did("mpi_coll", "allreduce");
	expect(errno == 77);
	errno = 0;
}

void passing(void)
{
	other_communicator();
	cancelled();
	freed();
	shared();
	behind_our_back();
	garbage();
	errors();
	error_number();
}
