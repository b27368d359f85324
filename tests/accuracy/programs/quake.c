// SPDX-License-Identifier: GPL-2.0-only
/*
 * quake.c - a workload: the I/O of a solver such as Quake, in its three phases.
 *
 * As described in the //TRACE paper (FAST'07, section 5.1). 1: each rank builds its part of a
 * database in a file, reading and writing records at random places. 2: rank 0 collects the mesh from
 * all and writes it. 3: the ranks compute in time steps, exchange borders with their
 * neighbours, and write the state of their region every few steps.
 *
 *	mpirun -n N quake [--records=N] [--mesh=BYTES] [--steps=N] [--every=N] [--compute=UNITS] DIRECTORY
 */
#include "mpi.h"

#define RECORD 512L
#define BORDER 4096

static long records = 150, mesh_bytes = 131072, steps = 24, every = 6, units = 1500;
static char *mesh;

static const struct workload_option options[] = {
	{ "records", &records, NULL, NULL, "records that each rank puts into the database" },
	{ "mesh", &mesh_bytes, NULL, NULL, "bytes of each rank's part of the mesh" },
	{ "steps", &steps, NULL, NULL, "time steps" },
	{ "every", &every, NULL, NULL, "steps after which the state is written" },
	{ "compute", &units, NULL, NULL, "microseconds, about, in each step" },
	{}
};

static void build_database(void)
{
	int fd = open_file("etree", -1, O_CREAT | O_RDWR);
	uint64_t state = (uint64_t)rank + 1;
	char record[RECORD];
	long i, at;

	memset(record, rank + 1, sizeof(record));
	for (i = 0; i < records; i++) {
		at = (rank * records + workload_below(&state, records)) * RECORD;
		CHECK(pread(fd, record, RECORD, at) >= 0);
		memset(record, rank + 1, sizeof(record));
		CHECK(pwrite(fd, record, RECORD, at) == RECORD);
		compute(20);
	}
	CHECK(!close(fd));
}

static void write_mesh(void)
{
	char *all = rank ? NULL : malloc((size_t)(ranks * mesh_bytes));
	int fd, i;

	CHECK(rank || all);
	MPI_Gather(mesh, (int)mesh_bytes, MPI_CHAR, all, (int)mesh_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (!rank) {
		fd = open_file("mesh", -1, O_CREAT | O_WRONLY);
		for (i = 0; i < ranks; i++)
			CHECK(write(fd, all + i * mesh_bytes, (size_t)mesh_bytes) == mesh_bytes);
		CHECK(!fsync(fd));
		CHECK(!close(fd));
		free(all);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange_borders(void)
{
	static char out[BORDER], in[BORDER];
	int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

	MPI_Sendrecv(out, BORDER, MPI_CHAR, right, 1, in, BORDER, MPI_CHAR, left, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(out, BORDER, MPI_CHAR, left, 2, in, BORDER, MPI_CHAR, right, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void solve(void)
{
	int fd = open_file("state", -1, O_CREAT | O_WRONLY);
	long step, number = 0;

	for (step = 1; step <= steps; step++) {
		compute(units);
		exchange_borders();
		if (step % every)
			continue;
		CHECK(pwrite(fd, mesh, (size_t)mesh_bytes, (number * ranks + rank) * mesh_bytes) == mesh_bytes);
		CHECK(!fdatasync(fd));
		number++;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	CHECK(!close(fd));
}

int main(int argc, char **argv)
{
	mpi_begin(&argc, &argv, "The I/O of an earthquake solver.", options);
	mesh = calloc(1, (size_t)mesh_bytes);
	CHECK(mesh);
	build_database();
	MPI_Barrier(MPI_COMM_WORLD);
	write_mesh();
	solve();
	free(mesh);
	return MPI_Finalize();
}
