// SPDX-License-Identifier: GPL-2.0-only
/*
 * views.c - writes and reads through views with datatypes of all kinds, collectively or alone.
 *
 *	views DIRECTORY collective|independent
 *
 * Each call of all ranks together writes a range without gaps: an aggregator would read what is in a gap.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 512
#define BLOCKS_MAX 64 /* of one call */

static int rank, size, is_collective, number;
static char data[BLOCKS_MAX * BLOCK];
static const char *directory;

static void check(int rc)
{
	if (rc)
		MPI_Abort(MPI_COMM_WORLD, 1);
}

static void put(MPI_File file, int bytes)
{
	if (is_collective)
		check(MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	else
		check(MPI_File_write(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
}

/*
 * Two writes by the file pointer, one at an offset in units, two behind seeks from the start and from the current position, and one is read.
 * Each moves as many units. OMPIO seeks another end of a file with a view than MPI defines.
 */
static void use(const char *name, MPI_Offset begin, MPI_Datatype unit, int unit_bytes, MPI_Datatype type, int units)
{
	char path[4096];
	MPI_File file;
	MPI_Info info;
	int bytes = units * unit_bytes;

	snprintf(path, sizeof(path), "%s/%s.%d", directory, name, ++number);
	memset(data, 'a' + rank, sizeof(data));
	MPI_Type_commit(&type);
	MPI_Info_create(&info); /* a read of ROMIO would have the gaps, too, see tests/mpi/guest for OMPIO */
	MPI_Info_set(info, "romio_ds_read", "disable");
	MPI_Info_set(info, "romio_ds_write", "disable");
	check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
	MPI_Info_free(&info);
	check(MPI_File_set_view(file, begin, unit, type, "native", MPI_INFO_NULL));
	put(file, bytes);
	put(file, bytes);
	if (is_collective)
		check(MPI_File_write_at_all(file, 2 * units, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	else
		check(MPI_File_write_at(file, 2 * units, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	check(MPI_File_seek(file, 4 * units, MPI_SEEK_SET));
	put(file, bytes);
	check(MPI_File_seek(file, -2 * units, MPI_SEEK_CUR));
	put(file, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	if (is_collective)
		check(MPI_File_read_at_all(file, units, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	else
		check(MPI_File_read_at(file, units, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
	check(MPI_File_close(&file));
	MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
	MPI_Datatype type, inner, block;
	int i, at, places[8], lengths[8], grid[3] = { 0, 0, 0 }, sizes[3], parts[3], starts[3], kinds[2], arguments[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	directory = argv[1];
	is_collective = !strcmp(argv[2], "collective");
	MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
	MPI_Type_commit(&block);

	/* blocks in turn */
	MPI_Type_create_resized(block, 0, (MPI_Aint)size * BLOCK, &type);
	use("turn", (MPI_Offset)rank * BLOCK, MPI_BYTE, 1, type, 4 * BLOCK);
	/* a vector of integers */
	MPI_Type_vector(4, BLOCK / 4, size * BLOCK / 4, MPI_INT, &inner);
	MPI_Type_create_resized(inner, 0, (MPI_Aint)4 * size * BLOCK, &type);
	use("vector", (MPI_Offset)rank * BLOCK, MPI_INT, 4, type, 4 * BLOCK / 4);
	MPI_Type_free(&inner);
	/* a part of a plane */
	MPI_Dims_create(size, 2, grid);
	sizes[0] = 8 * grid[0], sizes[1] = 4 * grid[1], parts[0] = 8, parts[1] = 4;
	starts[0] = rank / grid[1] * 8, starts[1] = rank % grid[1] * 4;
	MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, block, &type);
	use("plane", 100, block, BLOCK, type, 32);
	/* blocks of a matrix, dealt in both dimensions */
	sizes[0] = 6 * grid[0], sizes[1] = 6 * grid[1];
	kinds[0] = kinds[1] = MPI_DISTRIBUTE_CYCLIC;
	arguments[0] = 2, arguments[1] = 1;
	MPI_Type_create_darray(size, rank, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, block, &type);
	use("dealt", 0, block, BLOCK, type, 36);
	/* irregular places: of 1, 2 or 3 blocks */
	for (i = 0, at = 0; i < 5; at += lengths[i++]) {
		lengths[i] = 1 + i % 3;
		places[i] = at * size + rank * lengths[i];
	}
	MPI_Type_indexed(5, lengths, places, block, &inner);
	MPI_Type_create_resized(inner, 0, (MPI_Aint)9 * size * BLOCK, &type);
	use("places", 0, MPI_BYTE, 1, type, 9 * BLOCK);
	MPI_Type_free(&inner);
	MPI_Type_free(&block);
	MPI_Finalize();
	return 0;
}
