// SPDX-License-Identifier: GPL-2.0-only
/*
 * fitness.c - a workload: ranks that read their parts of a file in turn.
 *
 * Intel's generator, as described in the //TRACE paper (FAST'07, section 5.1): each rank reads its
 * whole part, then lets the next rank start. The number of dependencies is that of the ranks.
 *
 *	fitness --prepare=RANKS [--blocks=N] DIRECTORY	creates the file, without MPI
 *	mpirun -n RANKS fitness [--blocks=N] DIRECTORY
 */
#include "mpi.h"

#define BLOCK 65536L

static long blocks = 32, prepared;
static char block[BLOCK];

static const struct workload_option options[] = {
	{ "blocks", &blocks, NULL, NULL, "blocks of 64 KiB that each rank reads" },
	{ "prepare", &prepared, NULL, NULL, "make the file for as many ranks" },
	{}
};

static int prepare(void)
{
	int fd = open_file("file", -1, O_CREAT | O_WRONLY);
	long i;

	for (i = 0; i < prepared * blocks; i++) {
		workload_fill(block, sizeof(block), 1, i * BLOCK);
		CHECK(write(fd, block, BLOCK) == BLOCK);
	}
	CHECK(!fsync(fd));
	return close(fd);
}

static void read_part(void)
{
	int fd = open_file("file", -1, O_RDONLY);
	off_t at;
	long i;

	for (i = 0; i < blocks; i++) {
		at = (rank * blocks + i) * BLOCK;
		CHECK(pread(fd, block, BLOCK, at) == BLOCK);
		CHECK(workload_is(block, 64, 1, at));
	}
	CHECK(!close(fd));
}

int main(int argc, char **argv)
{
	char token = 0;

	directory = workload_options(argc, argv, "Ranks that read in turn.", options);
	if (prepared)
		return prepare();
	mpi_begin(&argc, &argv, "Ranks that read in turn.", options);
	if (rank)
		MPI_Recv(&token, 1, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	read_part();
	if (rank + 1 < ranks)
		MPI_Send(&token, 1, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
	return MPI_Finalize();
}
