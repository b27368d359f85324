// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes.c - probes that leave the message in place, and the receives that get it.
 */
#include "exercise.h"

#include <stdlib.h>

static void received(int source, int tag, int count, MPI_Comm comm)
{
	int *values = calloc((size_t)count + 1, sizeof(*values)), i;

	MPI_Recv(values, count, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE);
	did("mpi_recv", "recv");
	for (i = 0; i < count; i++)
		expect(values[i] == previous);
	saw(values, count);
	free(values);
}

/* For a receiver that knows neither length nor sender, two probes find the same message. */
static void probe(MPI_Comm comm)
{
	MPI_Status status;
	int count, i;

	for (i = 0; i < 2; i++) {
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
		did("mpi_probe", "probe");
	}
	MPI_Get_count(&status, MPI_INT, &count);
	received(status.MPI_SOURCE, status.MPI_TAG, count, comm);
}

static void probe_until_found(MPI_Comm comm)
{
	int is_found = 0, count;
	MPI_Status status;

	while (!is_found)
		MPI_Iprobe(previous, MPI_ANY_TAG, comm, &is_found, &status);
	did("mpi_probe", "probe");
	MPI_Get_count(&status, MPI_INT, &count);
	received(previous, status.MPI_TAG, count, comm);
	MPI_Iprobe(MPI_PROC_NULL, 0, comm, &is_found, MPI_STATUS_IGNORE);
}

void probes(MPI_Comm comm)
{
	int out[7], i;
	MPI_Request request;

	for (i = 0; i < 7; i++)
		out[i] = rank;
	for (i = 0; i < 6; i++) {
		MPI_Isend(out, i + 1, MPI_INT, next, 20 + i, comm, &request);
		did("mpi_send", "isend");
		if (i & 1)
			probe(comm);
		else
			probe_until_found(comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		did("mpi_done", "wait");
		barrier(comm);
	}
}
