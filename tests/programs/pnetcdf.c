// SPDX-License-Identifier: GPL-2.0-only
/*
 * pnetcdf.c - a PnetCDF program: the ranks write a grid and a record variable of one file together, some of it by requests that a
 * wait combines, and read the rows of their neighbours.
 *
 *	pnetcdf FILE
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS	64 /* of each rank */
#define COLUMNS 128
#define STEPS	3

static int rank, ranks;
static int rows[ROWS][COLUMNS];
static double profile[ROWS];

static void check(int result, const char *what)
{
	if (result == NC_NOERR)
		return;
	fprintf(stderr, "pnetcdf: rank %d: %s: %s\n", rank, what, ncmpi_strerror(result));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static int value(int of_rank, int row, int column)
{
	return of_rank * 100000 + row * COLUMNS + column;
}

static void write_grid(int file, int grid)
{
	MPI_Offset start[2] = { (MPI_Offset)rank * ROWS, 0 }, count[2] = { ROWS, COLUMNS };
	int row, column;

	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++)
			rows[row][column] = value(rank, row, column);
	check(ncmpi_put_vara_int_all(file, grid, start, count, &rows[0][0]), "put grid");
}

/* Two requests for each step, of which one wait makes one collective write. */
static void write_steps(int file, int upper, int lower)
{
	MPI_Offset start[2] = { 0, (MPI_Offset)rank * ROWS }, count[2] = { 1, ROWS };
	int requests[2], states[2], step, row;

	for (step = 0; step < STEPS; step++) {
		for (row = 0; row < ROWS; row++)
			profile[row] = rank + step + row / 100.0;
		start[0] = step;
		check(ncmpi_iput_vara_double(file, upper, start, count, profile, &requests[0]), "request upper");
		check(ncmpi_iput_vara_double(file, lower, start, count, profile, &requests[1]), "request lower");
		check(ncmpi_wait_all(file, 2, requests, states), "wait");
	}
}

static void read_neighbour(int file, int grid)
{
	int of_rank = (rank + 1) % ranks, row, column;
	MPI_Offset start[2] = { (MPI_Offset)of_rank * ROWS, 0 }, count[2] = { ROWS, COLUMNS };

	check(ncmpi_get_vara_int_all(file, grid, start, count, &rows[0][0]), "get grid");
	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++)
			if (rows[row][column] != value(of_rank, row, column)) {
				fprintf(stderr, "pnetcdf: rank %d: wrong data\n", rank);
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
}

int main(int argc, char **argv)
{
	int file, dims[2], steps[2], grid, upper, lower;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 2)
		return 2;
	check(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "create");
	check(ncmpi_def_dim(file, "row", (MPI_Offset)ranks * ROWS, &dims[0]), "define row");
	check(ncmpi_def_dim(file, "column", COLUMNS, &dims[1]), "define column");
	check(ncmpi_def_dim(file, "step", NC_UNLIMITED, &steps[0]), "define step");
	steps[1] = dims[0];
	check(ncmpi_def_var(file, "grid", NC_INT, 2, dims, &grid), "define grid");
	check(ncmpi_def_var(file, "upper", NC_DOUBLE, 2, steps, &upper), "define upper");
	check(ncmpi_def_var(file, "lower", NC_DOUBLE, 2, steps, &lower), "define lower");
	check(ncmpi_put_att_text(file, grid, "unit", 1, "m"), "put attribute");
	check(ncmpi_enddef(file), "end of definitions");
	write_grid(file, grid);
	write_steps(file, upper, lower);
	check(ncmpi_sync(file), "sync");
	read_neighbour(file, grid);
	check(ncmpi_close(file), "close");
	MPI_Finalize();
	return 0;
}
