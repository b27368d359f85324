// SPDX-License-Identifier: GPL-2.0-only
/*
 * hacc.c - a workload: the checkpoint and restart of a cosmology code, in the way of HACC-IO.
 *
 * Each rank writes nine variables of all its particles, one after the other, to one
 * shared file (with --each: to its own file), and reads them into memory that it has not touched before.
 *
 *	mpirun -n N hacc [--particles=N] [--each] DIRECTORY
 */
#include "mpi.h"

static long particles = 20000;
static bool is_each;

static const struct workload_option options[] = {
	{ "particles", &particles, NULL, NULL, "of each rank" },
	{ "each", NULL, NULL, &is_each, "each rank has a file" },
	{}
};

/* Positions, velocities and the potential; identifiers; a mask. */
static const size_t bytes_of_variable[] = { 4, 4, 4, 4, 4, 4, 4, 8, 2 };

#define VARIABLES (sizeof(bytes_of_variable) / sizeof(bytes_of_variable[0]))

static off_t place(size_t variable)
{
	off_t at = 0;
	size_t i;

	for (i = 0; i < variable; i++)
		at += (off_t)bytes_of_variable[i] * particles * (is_each ? 1 : ranks);
	return is_each ? at : at + rank * particles * (off_t)bytes_of_variable[variable];
}

static void write_all(void)
{
	int fd = open_file("particles", is_each ? rank : -1, O_CREAT | O_WRONLY);
	size_t i, bytes;
	char *memory;

	for (i = 0; i < VARIABLES; i++) {
		bytes = bytes_of_variable[i] * (size_t)particles;
		memory = malloc(bytes);
		CHECK(memory);
		memset(memory, (int)i + 1, bytes);
		CHECK(pwrite(fd, memory, bytes, place(i)) == (ssize_t)bytes);
		free(memory);
	}
	CHECK(!fsync(fd));
	CHECK(!close(fd));
}

static void read_all(void)
{
	int fd = open_file("particles", is_each ? rank : -1, O_RDONLY);
	char *memory[VARIABLES];
	size_t i, bytes;

	for (i = 0; i < VARIABLES; i++) {
		bytes = bytes_of_variable[i] * (size_t)particles;
		memory[i] = malloc(bytes);
		CHECK(memory[i]);
		CHECK(pread(fd, memory[i], bytes, place(i)) == (ssize_t)bytes);
		CHECK(memory[i][0] == (char)(i + 1) && memory[i][bytes - 1] == (char)(i + 1));
	}
	for (i = 0; i < VARIABLES; i++)
		free(memory[i]);
	CHECK(!close(fd));
}

int main(int argc, char **argv)
{
	mpi_begin(&argc, &argv, "Checkpoint and restart of a cosmology code.", options);
	write_all();
	MPI_Barrier(MPI_COMM_WORLD);
	read_all();
	return MPI_Finalize();
}
