// SPDX-License-Identifier: GPL-2.0-only
/*
 * hdf5.c - a parallel HDF5 program: the ranks write a chunked and a contiguous data set of one
 * file together, extend one of them, and read the data of their neighbours.
 *
 *	hdf5 FILE
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 96 /* of each rank */
#define COLUMNS 64

static int rank, ranks;
static int rows[ROWS][COLUMNS];

static int value(int of_rank, int round, int row, int column)
{
	return of_rank * 1000000 + round * 100000 + row * COLUMNS + column;
}

static void fail(const char *what)
{
	fprintf(stderr, "hdf5: rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Transfers the rows of a rank in one round, collectively or independently. */
static void move(hid_t set, int of_rank, int round, int collective, int write)
{
	hsize_t start[2] = { (hsize_t)(round * ranks + of_rank) * ROWS, 0 };
	hsize_t count[2] = { ROWS, COLUMNS };
	hid_t memory = H5Screate_simple(2, count, NULL);
	hid_t file = H5Dget_space(set);
	hid_t how = H5Pcreate(H5P_DATASET_XFER);
	herr_t result;

	H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL);
	H5Pset_dxpl_mpio(how, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
	if (write)
		result = H5Dwrite(set, H5T_NATIVE_INT, memory, file, how, rows);
	else
		result = H5Dread(set, H5T_NATIVE_INT, memory, file, how, rows);
	if (result < 0)
		fail(write ? "cannot write" : "cannot read");
	H5Pclose(how);
	H5Sclose(file);
	H5Sclose(memory);
}

static void fill(int round)
{
	int row, column;

	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++)
			rows[row][column] = value(rank, round, row, column);
}

static void check(int of_rank, int round)
{
	int row, column;

	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++)
			if (rows[row][column] != value(of_rank, round, row, column))
				fail("read something else than was written");
}

static hid_t make(hid_t file, const char *name, int rounds, int chunked)
{
	hsize_t size[2] = { (hsize_t)(rounds * ranks) * ROWS, COLUMNS };
	hsize_t limit[2] = { H5S_UNLIMITED, COLUMNS };
	hsize_t chunk[2] = { ROWS / 2, COLUMNS };
	hid_t space = H5Screate_simple(2, size, chunked ? limit : NULL);
	hid_t how = H5Pcreate(H5P_DATASET_CREATE);
	hid_t set;

	if (chunked)
		H5Pset_chunk(how, 2, chunk);
	set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT);
	if (set < 0)
		fail("cannot make a data set");
	H5Pclose(how);
	H5Sclose(space);
	return set;
}

static hid_t open_file(const char *path, int create)
{
	hid_t how = H5Pcreate(H5P_FILE_ACCESS);
	hid_t file;

	H5Pset_fapl_mpio(how, MPI_COMM_WORLD, MPI_INFO_NULL);
	if (create)
		file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, how);
	else
		file = H5Fopen(path, H5F_ACC_RDONLY, how);
	if (file < 0)
		fail("cannot open the file");
	H5Pclose(how);
	return file;
}

static void write_all(const char *path)
{
	hid_t file = open_file(path, 1);
	hid_t chunked = make(file, "chunked", 1, 1);
	hid_t plain = make(file, "plain", 2, 0);
	hsize_t larger[2] = { (hsize_t)(2 * ranks) * ROWS, COLUMNS };

	fill(0);
	move(chunked, rank, 0, 1, 1);
	move(plain, rank, 0, 0, 1);
	if (H5Dset_extent(chunked, larger) < 0)
		fail("cannot extend a data set");
	H5Fflush(file, H5F_SCOPE_GLOBAL);
	fill(1);
	move(chunked, rank, 1, 1, 1);
	move(plain, rank, 1, 1, 1);
	H5Dclose(plain);
	H5Dclose(chunked);
	H5Fclose(file);
}

static void read_all(const char *path)
{
	static const char *const names[] = { "chunked", "plain" };
	hid_t file = open_file(path, 0);
	int i, round, neighbour = (rank + 1) % ranks;

	for (i = 0; i < 2; i++) {
		hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT);

		for (round = 0; round < 2; round++) {
			move(set, neighbour, round, (i + round) % 2, 0);
			check(neighbour, round);
		}
		H5Dclose(set);
	}
	H5Fclose(file);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 2)
		fail("usage: hdf5 FILE");
	write_all(argv[1]);
	read_all(argv[1]);
	MPI_Finalize();
	return 0;
}
