// SPDX-License-Identifier: GPL-2.0-only
/*
 * filetypes.c - the bytes that the shim finds in a datatype are those that MPI_Unpack() writes, in the same order, for many
 * datatypes of all kinds in each other. Contains only filetype.c of the shim.
 *
 *	filetypes [CASES]	exit code: 0 if all are right
 */
#include "mpi/filetype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX  60000
#define EXTENT_MAX (1 << 22)
#define PARTS_MAX  6

/* What a byte says: its index in the packed data, in two bytes, and that it was written. */
enum pass { LOW, HIGH, WRITTEN, PASSES };

struct iot_mpi_library iot_mpi_found;
static int failures, known, unknown;
static u64 random_state = 1;

static int below(int limit)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (int)((random_state >> 33) % (u64)limit);
}

/* -- random datatypes ----------------------------------------------------------------------- */

static MPI_Datatype make_basic(void)
{
	static const MPI_Datatype basic[] = { MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_SHORT };

	return basic[below(4)];
}

static MPI_Datatype make_vector(MPI_Datatype old, MPI_Aint extent)
{
	int length = 1 + below(3);
	MPI_Datatype type;

	if (below(2))
		MPI_Type_vector(1 + below(5), length, length + below(3), old, &type);
	else
		MPI_Type_create_hvector(1 + below(5), length, length * extent + below(9), old, &type);
	return type;
}

static MPI_Datatype make_indexed(MPI_Datatype old, MPI_Aint extent)
{
	int lengths[PARTS_MAX], places[PARTS_MAX], which = below(4), count = 1 + below(PARTS_MAX), same = 1 + below(3), place = 0, i;
	MPI_Aint addresses[PARTS_MAX];
	MPI_Datatype type;

	for (i = 0; i < count; i++) {
		lengths[i] = which < 2 ? below(4) : same;
		place += below(3);
		places[i] = place;
		addresses[i] = place * extent;
		place += lengths[i];
	}
	if (which == 0)
		MPI_Type_indexed(count, lengths, places, old, &type);
	else if (which == 1)
		MPI_Type_create_hindexed(count, lengths, addresses, old, &type);
	else if (which == 2)
		MPI_Type_create_indexed_block(count, same, places, old, &type);
	else
		MPI_Type_create_hindexed_block(count, same, addresses, old, &type);
	return type;
}

static MPI_Datatype make_struct(MPI_Datatype old, MPI_Aint low, MPI_Aint extent)
{
	int lengths[2] = { 1 + below(2), 1 + below(3) };
	MPI_Aint addresses[2] = { 0, lengths[0] * extent + low + below(5) };
	MPI_Datatype types[2] = { old, make_basic() }, type;

	MPI_Type_create_struct(2, lengths, addresses, types, &type);
	return type;
}

static MPI_Datatype make_subarray(MPI_Datatype old)
{
	int sizes[4], parts[4], starts[4], dimensions = 1 + below(4), i;
	MPI_Datatype type;

	for (i = 0; i < dimensions; i++) {
		sizes[i] = 1 + below(5);
		parts[i] = 1 + below(sizes[i]);
		starts[i] = below(sizes[i] - parts[i] + 1);
	}
	MPI_Type_create_subarray(dimensions, sizes, parts, starts, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &type);
	return type;
}

/* A process without elements has no datatype in Open MPI: then a copy of the old one. */
static MPI_Datatype make_darray(MPI_Datatype old)
{
	int sizes[3], kinds[3], arguments[3], grid[3], dimensions = 1 + below(3), processes = 1, i;
	MPI_Datatype type;

	for (i = 0; i < dimensions; i++) {
		sizes[i] = 1 + below(9);
		kinds[i] = below(3) ? below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC : MPI_DISTRIBUTE_NONE;
		grid[i] = kinds[i] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
		arguments[i] = kinds[i] == MPI_DISTRIBUTE_CYCLIC && below(2) ? 1 + below(3) : MPI_DISTRIBUTE_DFLT_DARG;
		processes *= grid[i];
	}
	if (MPI_Type_create_darray(processes, below(processes), dimensions, sizes, kinds, arguments, grid,
				   below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old, &type))
		MPI_Type_dup(old, &type);
	return type;
}

static MPI_Datatype make_other(MPI_Datatype old, MPI_Aint extent, int which)
{
	MPI_Datatype type;

	if (which == 0)
		MPI_Type_dup(old, &type);
	else if (which == 1)
		MPI_Type_create_resized(old, 0, extent + below(16), &type);
	else
		MPI_Type_contiguous(1 + below(4), old, &type);
	return type;
}

/* @name: a letter for each level */
static MPI_Datatype make(int depth, char *name)
{
	MPI_Aint low, extent;
	MPI_Datatype old;
	int which = below(7);

	if (!depth || !below(6)) {
		strcat(name, "n");
		return make_basic();
	}
	old = make(depth - 1, name);
	MPI_Type_get_extent(old, &low, &extent);
	strncat(name, &"vitsdoo"[which], 1);
	switch (which) {
	case 0:
		return make_vector(old, extent);
	case 1:
		return make_indexed(old, extent);
	case 2:
		return make_struct(old, low, extent);
	case 3:
		return make_subarray(old);
	case 4:
		return make_darray(old);
	}
	return make_other(old, extent, below(3));
}

/* -- comparison ------------------------------------------------------------------------------ */

static u8 *unpack(MPI_Datatype type, int bytes, MPI_Aint room, MPI_Aint base, enum pass pass)
{
	u8 *packed = malloc((size_t)bytes + 1), *out = calloc(1, (size_t)room);
	int i, at = 0;

	for (i = 0; i < bytes; i++)
		packed[i] = (u8)(pass == LOW ? i : pass == HIGH ? i >> 8 : 1);
	MPI_Unpack(packed, bytes, &at, out + base, 1, type, MPI_COMM_SELF);
	free(packed);
	return out;
}

/* Return: whether the bytes of a part are in their places; @index: of the first one in the data. */
static bool is_part_right(const struct iot_mpi_nest *nest, u8 *const out[PASSES], MPI_Aint base, MPI_Aint room, int *index)
{
	u64 a, b, c, i;
	s64 place;

	for (c = 0; c < nest->counts[2]; c++)
		for (b = 0; b < nest->counts[1]; b++)
			for (a = 0; a < nest->counts[0]; a++)
				for (i = 0; i < nest->block_bytes; i++, ++*index) {
					place = base + nest->first + (s64)a * nest->strides[0] + (s64)b * nest->strides[1] +
						(s64)c * nest->strides[2] + (s64)i;
					if (place < 0 || place >= room || !out[WRITTEN][place] || out[LOW][place] != (u8)*index ||
					    out[HIGH][place] != (u8)(*index >> 8))
						return false;
				}
	return true;
}

/* Types that have a byte twice are not allowed in a view, and have no order in memory. */
static bool has_byte_twice(const u8 *written, MPI_Aint room, int bytes)
{
	MPI_Aint i;

	for (i = 0; i < room; i++)
		bytes -= written[i];
	return bytes != 0;
}

static void check(const char *name, MPI_Datatype type, int bytes)
{
	MPI_Aint low, extent, base, room;
	struct iot_mpi_nests nests;
	u8 *out[PASSES];
	bool is_right = true;
	int pass, index = 0;
	size_t i;

	MPI_Type_commit(&type);
	MPI_Type_get_true_extent(type, &low, &extent);
	iot_mpi_filetype_read(type, &nests);
	base = low < 0 ? -low : 0;
	room = base + low + extent + 64;
	for (pass = 0; pass < PASSES; pass++)
		out[pass] = unpack(type, bytes, room, base, (enum pass)pass);
	if (nests.is_unknown) {
		unknown++;
	} else if (!has_byte_twice(out[WRITTEN], room, bytes)) {
		known++;
		for (i = 0; i < nests.count && is_right; i++)
			is_right = is_part_right(&nests.items[i], out, base, room, &index);
		if (!is_right || index != bytes) {
			printf("%s: %zu parts, wrong at byte %d of %d\n", name, nests.count, index, bytes);
			failures++;
		}
	}
	for (pass = 0; pass < PASSES; pass++)
		free(out[pass]);
	free(nests.items);
}

static void compare_random(int cases)
{
	MPI_Aint low, extent;
	MPI_Datatype type;
	char name[100];
	int bytes, i;

	for (i = 0; i < cases; i++) {
		sprintf(name, "case %d ", i);
		type = make(1 + below(4), name);
		MPI_Type_size(type, &bytes);
		MPI_Type_get_extent(type, &low, &extent);
		if (bytes > 0 && bytes < BYTES_MAX && extent < EXTENT_MAX)
			check(name, type, bytes);
	}
}

/* Three blocks at equal distances are one part. Two are not: another run may have two blocks and a third one elsewhere. */
static void compare_distances(void)
{
	static const struct {
		int places[4];
		int count;
		size_t parts;
	} rows[] = { { { 0, 3 }, 2, 2 }, { { 0, 3, 6 }, 3, 1 }, { { 0, 3, 6, 9 }, 4, 1 }, { { 0, 3, 7 }, 3, 3 }, { { 0, 3, 6, 10 }, 4, 2 },
		     { { 0, 2, 5, 8 }, 4, 2 } };
	struct iot_mpi_nests nests;
	MPI_Datatype type;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		MPI_Type_create_indexed_block(rows[i].count, 1, rows[i].places, MPI_INT, &type);
		iot_mpi_filetype_read(type, &nests);
		if (nests.is_unknown || nests.count != rows[i].parts) {
			printf("row %zu of distances has %zu parts\n", i, nests.count);
			failures++;
		}
		free(nests.items);
		MPI_Type_free(&type);
	}
}

/* A large regular datatype is one part; a type of MPI with a gap and counts of 64 bits are unknown. */
static void compare_special(void)
{
	int sizes[3] = { 1000, 1000, 1000 }, parts[3] = { 500, 500, 500 }, starts[3] = { 10, 20, 30 };
	struct iot_mpi_nests nests;
	MPI_Datatype old, type;

	MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
	iot_mpi_filetype_read(type, &nests);
	failures += nests.is_unknown || nests.count != 1 || nests.items[0].block_bytes != 4000 || nests.items[0].counts[1] != 500;
	free(nests.items);
	/* one level for repetitions that go on at the same distance */
	MPI_Type_vector(4, 1, 2, MPI_INT, &old);
	MPI_Type_create_resized(old, 0, 32, &type);
	MPI_Type_contiguous(1000, type, &type);
	iot_mpi_filetype_read(type, &nests);
	failures += nests.is_unknown || nests.count != 1 || nests.items[0].counts[0] != 4000 || nests.items[0].counts[1] != 1;
	free(nests.items);
	iot_mpi_filetype_read(MPI_SHORT_INT, &nests);
	failures += !nests.is_unknown;
	free(nests.items);
#if IOT_HAS_Type_contiguous_c
	MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_BYTE, &type);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); /* as in most programs */
	iot_mpi_filetype_read(type, &nests);
	failures += !nests.is_unknown;
	free(nests.items);
#endif
}

int main(int argc, char **argv)
{
	iot_mpi_found.PMPI_Type_free = PMPI_Type_free;
	iot_mpi_found.PMPI_Type_get_contents = PMPI_Type_get_contents;
	iot_mpi_found.PMPI_Type_get_envelope = PMPI_Type_get_envelope;
	iot_mpi_found.PMPI_Type_get_extent = PMPI_Type_get_extent;
	iot_mpi_found.PMPI_Type_get_true_extent = PMPI_Type_get_true_extent;
	iot_mpi_found.PMPI_Type_size = PMPI_Type_size;
#if IOT_HAS_Type_get_envelope_c
	iot_mpi_found.PMPI_Type_get_envelope_c = PMPI_Type_get_envelope_c;
#endif
	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	compare_random(argc > 1 ? atoi(argv[1]) : 5000);
	compare_special();
	compare_distances();
	printf("%d datatypes are known, %d unknown, %d wrong\n", known, unknown, failures);
	MPI_Finalize();
	return failures || known < 10 * unknown;
}
