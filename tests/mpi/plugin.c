// SPDX-License-Identifier: GPL-2.0-only
/*
 * plugin.c - the plug-in of loader.c: a few MPI calls.
 */
#include <mpi.h>
#include <stddef.h>

int plugin_run(void);

int plugin_run(void)
{
	int rank, size, sum = 0, in = -1;
	MPI_Comm comm;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT,
		     (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return in != (rank + size - 1) % size || sum != size * (size - 1) / 2;
}
