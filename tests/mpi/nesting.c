// SPDX-License-Identifier: GPL-2.0-only
/*
 * nesting.c - a library below the shim that implements calls by other calls, through their MPI names:
 * these are not calls of the program.
 */
#include <mpi.h>

int MPI_Barrier(MPI_Comm comm)
{
	int out = 1, in, rc = MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, comm);

	return rc ? rc : PMPI_Barrier(comm);
}

int MPI_Ssend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
{
	MPI_Request request;
	int rc = MPI_Issend(buffer, count, type, peer, tag, comm, &request);

	return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
