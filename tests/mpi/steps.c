// SPDX-License-Identifier: GPL-2.0-only
/*
 * steps.c - a regular parallel program, for patterns: in each step, a rank exchanges data with its neighbours on a ring,
 * takes part in collectives, and writes to a shared MPI file. Runs differ only in the number of ranks.
 *
 *	steps FILE
 */
#include <mpi.h>
#include <stdlib.h>

#define STEPS 5
#define ITEMS 1024

int main(int argc, char **argv)
{
	static double data[ITEMS], from[ITEMS];
	int rank, ranks, step, item;
	MPI_Request requests[2];
	double sum, all;
	MPI_File file;
	MPI_Comm pair;

	MPI_Init(&argc, &argv);
	if (argc != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
	MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
	for (step = 0; step < STEPS; step++) {
		for (item = 0; item < ITEMS; item++)
			data[item] = rank + step + item;
		MPI_Irecv(from, ITEMS, MPI_DOUBLE, (rank + ranks - 1) % ranks, step, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(data, ITEMS, MPI_DOUBLE, (rank + 1) % ranks, step, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		sum = data[0] + from[0];
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Bcast(&all, 1, MPI_DOUBLE, 0, pair);
		MPI_File_write_at_all(file, ((MPI_Offset)step * ranks + rank) * (MPI_Offset)sizeof(data), data, ITEMS, MPI_DOUBLE,
				      MPI_STATUS_IGNORE);
	}
	if (rank) {
		MPI_Send(&all, 1, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD);
	} else {
		for (item = 1; item < ranks; item++)
			MPI_Recv(&sum, 1, MPI_DOUBLE, item, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_File_close(&file);
	MPI_Comm_free(&pair);
	MPI_Finalize();
	return 0;
}
