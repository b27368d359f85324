// SPDX-License-Identifier: GPL-2.0-only
/*
 * checkpoint.c - a workload: an MPI job that writes a checkpoint and reads it back.
 *
 * Los Alamos' pseudo-application, as described in the //TRACE paper (FAST'07, section 5.1): the
 * ranks write one file with interleaved blocks, synchronize, and read it. With --sync, they also
 * synchronize after each write (PseudoSync); with --compute, they compute between reads
 * (PseudoSyncDat). With --segmented, each rank has one region of the file; with --each, a file of its own.
 *
 *	mpirun -n N checkpoint [--blocks=N] [--block=BYTES] [--sync] [--compute=UNITS] [--segmented] [--each] DIRECTORY
 */
#include "mpi.h"

static long blocks = 24, block_bytes = 65536, units;
static bool is_synced, is_segmented, is_each;
static char *block;

static const struct workload_option options[] = {
	{ "blocks", &blocks, NULL, NULL, "blocks that each rank writes" },
	{ "block", &block_bytes, NULL, NULL, "bytes of each" },
	{ "compute", &units, NULL, NULL, "microseconds, about, between two reads" },
	{ "sync", NULL, NULL, &is_synced, "a barrier after each write" },
	{ "segmented", NULL, NULL, &is_segmented, "each rank has one region of the file" },
	{ "each", NULL, NULL, &is_each, "each rank has a file" },
	{}
};

static off_t place(long number, int of)
{
	if (is_each)
		return number * block_bytes;
	return (is_segmented ? of * blocks + number : number * ranks + of) * block_bytes;
}

static void write_checkpoint(void)
{
	int fd = open_file("checkpoint", is_each ? rank : -1, O_CREAT | O_WRONLY);
	long i;

	for (i = 0; i < blocks; i++) {
		workload_fill(block, 64, rank, place(i, rank));
		CHECK(pwrite(fd, block, (size_t)block_bytes, place(i, rank)) == block_bytes);
		if (is_synced)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	CHECK(!fsync(fd));
	CHECK(!close(fd));
}

static void read_checkpoint(void)
{
	int of = (rank + 1) % ranks;
	int fd = open_file("checkpoint", is_each ? of : -1, O_RDONLY);
	long i;

	for (i = 0; i < blocks; i++) {
		CHECK(pread(fd, block, (size_t)block_bytes, place(i, of)) == block_bytes);
		CHECK(workload_is(block, 64, of, place(i, of)));
		compute(units);
	}
	CHECK(!close(fd));
}

int main(int argc, char **argv)
{
	mpi_begin(&argc, &argv, "A checkpoint, written and read back.", options);
	block = calloc(1, (size_t)block_bytes);
	CHECK(block);
	write_checkpoint();
	MPI_Barrier(MPI_COMM_WORLD);
	read_checkpoint();
	free(block);
	return MPI_Finalize();
}
