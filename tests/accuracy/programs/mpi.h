/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi.h - shared by the MPI workloads of the laboratory: ranks, files, computing.
 */
#ifndef ACCURACY_MPI_H
#define ACCURACY_MPI_H

#include <fcntl.h>
#include <mpi.h>

#include "../../workloads/workload.h"

static const char *directory;
static int rank, ranks;

static inline void mpi_begin(int *argc, char ***argv, const char *what, const struct workload_option *options)
{
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	directory = workload_options(*argc, *argv, what, options);
}

/* Opens DIRECTORY/NAME, or DIRECTORY/NAME.@number if that is not negative. */
static inline int open_file(const char *name, long number, int flags)
{
	char path[PATH_MAX];
	int fd;

	if (number < 0)
		snprintf(path, sizeof(path), "%s/%s", directory, name);
	else
		snprintf(path, sizeof(path), "%s/%s.%ld", directory, name, number);
	fd = open(path, flags, 0644);
	CHECK(fd >= 0);
	return fd;
}

/* Computes for about a microsecond per unit; the work is the same in every run. */
static inline uint64_t compute(long units)
{
	volatile uint64_t word = 1;
	long i;

	for (i = 0; i < units * 100; i++)
		word = word * 6364136223846793005ull + 1442695040888963407ull;
	return word;
}

#endif
