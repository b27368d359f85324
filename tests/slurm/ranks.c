// SPDX-License-Identifier: GPL-2.0-only
/*
 * ranks.c - a job of a few ranks: barriers, a file of its own for each rank, and then a pause.
 *
 *	ranks SECONDS [DIR]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BARRIERS 10

int main(int argc, char **argv)
{
	char path[4096];
	FILE *file;
	int i, rank;

	MPI_Init(&argc, &argv);
	if (argc < 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (i = 0; i < BARRIERS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	if (argc > 2) {
		snprintf(path, sizeof(path), "%s/rank.%d", argv[2], rank);
		file = fopen(path, "w");
		if (!file || fprintf(file, "%d\n", rank) < 0 || fclose(file))
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	printf("rank %d is ready\n", rank);
	fflush(stdout);
	sleep((unsigned int)atoi(argv[1]));
	MPI_Finalize();
	return 0;
}
