// SPDX-License-Identifier: GPL-2.0-only
/*
 * filetype.c - the bytes that a datatype selects, from the calls that made it.
 *
 * MPI returns the arguments of the call that made a datatype, and the datatypes that it was made from. Regular types stay a few
 * numbers, however many blocks they have; others become a list, which has a limit.
 */
#include "filetype.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* of datatypes in datatypes */

/* -- lists of nests ------------------------------------------------------------------------------------------------ */

static bool is_block(const struct iot_mpi_nest *nest)
{
	return nest->counts[0] == 1;
}

static int depth_of(const struct iot_mpi_nest *nest)
{
	int depth = 0;

	while (depth < IOT_MPI_NEST_LEVELS && nest->counts[depth] > 1)
		depth++;
	return depth;
}

static void add(struct iot_mpi_nests *list, const struct iot_mpi_nest *nest)
{
	struct iot_mpi_nest *last = list->count ? &list->items[list->count - 1] : NULL, *grown;

	if (list->is_unknown || !nest->block_bytes)
		return;
	if (last && is_block(last) && is_block(nest) && last->first + (s64)last->block_bytes == nest->first) {
		last->block_bytes += nest->block_bytes;
		return;
	}
	if (list->count == list->room) {
		size_t room = list->room ? 4 * list->room : 8;

		grown = room <= IOT_MPI_NESTS_ROOM * 2 ? realloc(list->items, room * sizeof(*grown)) : NULL;
		if (!grown) {
			list->is_unknown = true;
			return;
		}
		list->items = grown;
		list->room = room;
	}
	list->items[list->count++] = *nest;
}

static void add_all(struct iot_mpi_nests *list, const struct iot_mpi_nests *more, s64 offset)
{
	struct iot_mpi_nest nest;
	size_t i;

	list->is_unknown |= more->is_unknown;
	for (i = 0; i < more->count && !list->is_unknown; i++) {
		nest = more->items[i];
		nest.first += offset;
		add(list, &nest);
	}
}

static void drop(struct iot_mpi_nests *list)
{
	free(list->items);
	*list = (struct iot_mpi_nests){};
}

/* One more level, if there is one. Return: whether the nest is the repetition now. */
static bool repeat_nest(struct iot_mpi_nest *nest, u64 count, s64 stride)
{
	int depth = depth_of(nest);

	if (!depth && stride == (s64)nest->block_bytes) {
		nest->block_bytes *= count;
		return true;
	}
	if (depth && stride == nest->strides[depth - 1] * (s64)nest->counts[depth - 1]) {
		nest->counts[depth - 1] *= count;
		return true;
	}
	if (depth == IOT_MPI_NEST_LEVELS)
		return false;
	nest->counts[depth] = count;
	nest->strides[depth] = stride;
	return true;
}

/* Instead of the list, its repetitions. */
static void repeat(struct iot_mpi_nests *list, u64 count, s64 stride)
{
	struct iot_mpi_nests made = {};
	u64 i;

	if (!count)
		drop(list);
	if (count <= 1 || !list->count || (list->count == 1 && repeat_nest(list->items, count, stride)))
		return;
	for (i = 0; i < count && !made.is_unknown; i++)
		add_all(&made, list, (s64)i * stride);
	drop(list);
	*list = made;
}

static void move(struct iot_mpi_nests *list, s64 offset)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		list->items[i].first += offset;
}

static bool is_alike(const struct iot_mpi_nest *a, const struct iot_mpi_nest *b)
{
	return a->block_bytes == b->block_bytes && !memcmp(a->counts, b->counts, sizeof(a->counts)) &&
	       !memcmp(a->strides, b->strides, sizeof(a->strides));
}

/* Three or more at equal distances become one. Return: whether there were any. */
static bool shorten(struct iot_mpi_nests *list)
{
	size_t made = 0, first, next;
	bool is_shorter = false;

	for (first = 0; first < list->count; first = next) {
		struct iot_mpi_nest nest = list->items[first];
		s64 stride = first + 1 < list->count ? list->items[first + 1].first - nest.first : 0;

		for (next = first + 1; next < list->count && is_alike(&nest, &list->items[next]) &&
		     list->items[next].first == nest.first + (s64)(next - first) * stride; next++)
			;
		if (next - first < 3 || !repeat_nest(&nest, next - first, stride))
			next = first + 1;
		is_shorter |= next - first > 1;
		list->items[made++] = nest;
	}
	list->count = made;
	return is_shorter;
}

/* -- datatypes ----------------------------------------------------------------------------------------------------- */

static void read_type(MPI_Datatype type, struct iot_mpi_nests *list, int depth);

static s64 extent_of(MPI_Datatype type)
{
	MPI_Aint low = 0, extent = 0;

	iot_mpi_found.PMPI_Type_get_extent(type, &low, &extent);
	return extent;
}

/* The arguments of the call that made a datatype. */
struct contents {
	int combiner;
	int integer_count;
	int address_count;
	int type_count;
	int *integers;
	MPI_Aint *addresses;
	MPI_Datatype *types;
};

/* @count times the old type, one after the other, at @offset. */
static void add_blocks(struct iot_mpi_nests *list, MPI_Datatype type, u64 count, s64 offset, int depth)
{
	struct iot_mpi_nests part = {};

	read_type(type, &part, depth);
	repeat(&part, count, extent_of(type));
	add_all(list, &part, offset);
	drop(&part);
}

static void read_vector(const struct contents *c, struct iot_mpi_nests *list, int depth)
{
	s64 stride = c->combiner == MPI_COMBINER_HVECTOR ? (s64)c->addresses[0] : c->integers[2] * extent_of(c->types[0]);

	add_blocks(list, c->types[0], (u64)c->integers[1], 0, depth);
	repeat(list, (u64)c->integers[0], stride);
}

static void read_indexed(const struct contents *c, struct iot_mpi_nests *list, int depth)
{
	bool is_equal = c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	bool is_bytes = c->combiner == MPI_COMBINER_HINDEXED || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
	const int *places = c->integers + (is_equal ? 2 : 1 + c->integers[0]);
	s64 extent = extent_of(c->types[0]);
	struct iot_mpi_nests part = {}, block;
	int i;

	read_type(c->types[0], &part, depth);
	list->is_unknown |= part.is_unknown;
	for (i = 0; i < c->integers[0] && !list->is_unknown; i++) {
		block = (struct iot_mpi_nests){};
		add_all(&block, &part, 0);
		repeat(&block, (u64)c->integers[is_equal ? 1 : 1 + i], extent);
		add_all(list, &block, is_bytes ? (s64)c->addresses[i] : places[i] * extent);
		drop(&block);
	}
	drop(&part);
}

static void read_struct(const struct contents *c, struct iot_mpi_nests *list, int depth)
{
	int i;

	for (i = 0; i < c->integers[0] && !list->is_unknown; i++)
		add_blocks(list, c->types[i], (u64)c->integers[1 + i], (s64)c->addresses[i], depth);
}

static void read_subarray(const struct contents *c, struct iot_mpi_nests *list, int depth)
{
	int dimensions = c->integers[0], i, at;
	const int *sizes = c->integers + 1, *parts = sizes + dimensions, *starts = parts + dimensions;
	bool is_fortran = starts[dimensions] == MPI_ORDER_FORTRAN;
	s64 stride = extent_of(c->types[0]);

	read_type(c->types[0], list, depth);
	for (i = 0; i < dimensions; i++) {
		at = is_fortran ? i : dimensions - 1 - i;
		repeat(list, (u64)parts[at], stride);
		move(list, starts[at] * stride);
		stride *= sizes[at];
	}
}

/* The part of one process in one dimension of @size elements. */
static void distribute(struct iot_mpi_nests *list, s64 stride, s64 size, s64 block, s64 processes, s64 process)
{
	s64 round = block * processes, begin = process * block, whole = begin + block <= size ? (size - begin - block) / round + 1 : 0;
	s64 rest = size - begin - whole * round;
	struct iot_mpi_nests last = {};

	rest = rest < 0 ? 0 : rest > block ? block : rest;
	add_all(&last, list, 0);
	repeat(&last, (u64)rest, stride);
	repeat(list, (u64)block, stride);
	repeat(list, (u64)whole, round * stride);
	add_all(list, &last, whole * round * stride);
	move(list, begin * stride);
	drop(&last);
}

static void read_darray(const struct contents *c, struct iot_mpi_nests *list, int depth)
{
	int dimensions = c->integers[2], i, at, below;
	const int *sizes = c->integers + 3, *kinds = sizes + dimensions, *arguments = kinds + dimensions;
	const int *grid = arguments + dimensions;
	bool is_fortran = grid[dimensions] == MPI_ORDER_FORTRAN;
	s64 stride = extent_of(c->types[0]), block, processes;

	read_type(c->types[0], list, depth);
	for (i = 0; i < dimensions; i++) {
		at = is_fortran ? i : dimensions - 1 - i;
		for (below = 1, processes = at + 1; processes < dimensions; processes++)
			below *= grid[processes];
		processes = kinds[at] == MPI_DISTRIBUTE_NONE ? 1 : grid[at];
		block = arguments[at];
		if (kinds[at] == MPI_DISTRIBUTE_NONE)
			block = sizes[at];
		else if (block == MPI_DISTRIBUTE_DFLT_DARG)
			block = kinds[at] == MPI_DISTRIBUTE_BLOCK ? (sizes[at] + processes - 1) / processes : 1;
		distribute(list, stride, sizes[at], block, processes, processes == 1 ? 0 : c->integers[1] / below % grid[at]);
		stride *= sizes[at];
	}
}

static void read_contents(const struct contents *c, struct iot_mpi_nests *list, int depth)
{
	switch (c->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		read_type(c->types[0], list, depth);
		break;
	case MPI_COMBINER_CONTIGUOUS:
		add_blocks(list, c->types[0], (u64)c->integers[0], 0, depth);
		break;
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
		read_vector(c, list, depth);
		break;
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
		read_indexed(c, list, depth);
		break;
	case MPI_COMBINER_STRUCT:
		read_struct(c, list, depth);
		break;
	case MPI_COMBINER_SUBARRAY:
		read_subarray(c, list, depth);
		break;
	case MPI_COMBINER_DARRAY:
		read_darray(c, list, depth);
		break;
	default:
		list->is_unknown = true;
	}
}

/* A type of MPI itself. Some have gaps: pairs of types. */
static void read_named(MPI_Datatype type, struct iot_mpi_nests *list)
{
	MPI_Aint low = 0, extent = 0;
	int bytes = 0;

	iot_mpi_found.PMPI_Type_size(type, &bytes);
	iot_mpi_found.PMPI_Type_get_true_extent(type, &low, &extent);
	if (low || bytes != extent)
		list->is_unknown = true;
	add(list, &(struct iot_mpi_nest){ .block_bytes = (u64)bytes, .counts = { 1, 1, 1 } });
}

/* Without arguments of 64 bits, a call would not return those of such a type, but end the program. */
static bool has_large_counts(MPI_Datatype type)
{
	bool is_large = false;
#if IOT_HAS_Type_get_envelope_c
	MPI_Count integers = 0, addresses = 0, large = 0, types = 0;
	int combiner;

	iot_mpi_found.PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
	is_large = large > 0;
#endif
	(void)type;
	return is_large;
}

/* Types that MPI returns belong to the caller, unless they are MPI's own. */
static void free_types(MPI_Datatype *types, int count)
{
	int integers, addresses, inner, combiner, i;

	for (i = 0; i < count; i++) {
		combiner = MPI_COMBINER_NAMED;
		iot_mpi_found.PMPI_Type_get_envelope(types[i], &integers, &addresses, &inner, &combiner);
		if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL && combiner != MPI_COMBINER_F90_COMPLEX &&
		    combiner != MPI_COMBINER_F90_INTEGER)
			iot_mpi_found.PMPI_Type_free(&types[i]);
	}
}

static void read_type(MPI_Datatype type, struct iot_mpi_nests *list, int depth)
{
	struct contents c = {};

	if (has_large_counts(type)) {
		list->is_unknown = true;
		return;
	}
	iot_mpi_found.PMPI_Type_get_envelope(type, &c.integer_count, &c.address_count, &c.type_count, &c.combiner);
	if (c.combiner == MPI_COMBINER_NAMED || c.combiner == MPI_COMBINER_F90_REAL || c.combiner == MPI_COMBINER_F90_COMPLEX ||
	    c.combiner == MPI_COMBINER_F90_INTEGER) {
		read_named(type, list);
		return;
	}
	c.integers = calloc((size_t)c.integer_count + 1, sizeof(*c.integers));
	c.addresses = calloc((size_t)c.address_count + 1, sizeof(*c.addresses));
	c.types = calloc((size_t)c.type_count + 1, sizeof(MPI_Datatype));
	if (depth == DEPTH_MAX || !c.integers || !c.addresses || !c.types ||
	    iot_mpi_found.PMPI_Type_get_contents(type, c.integer_count, c.address_count, c.type_count, c.integers, c.addresses, c.types)) {
		list->is_unknown = true;
	} else {
		read_contents(&c, list, depth + 1);
		free_types(c.types, c.type_count);
	}
	free(c.integers);
	free(c.addresses);
	free(c.types);
}

/**
 * iot_mpi_filetype_read() - the bytes that a datatype selects
 * @type: the datatype
 * @nests: out: blocks and their repetitions in the order of the data; to be freed by the caller
 */
void iot_mpi_filetype_read(MPI_Datatype type, struct iot_mpi_nests *nests)
{
	*nests = (struct iot_mpi_nests){};
	read_type(type, nests, 0);
	while (!nests->is_unknown && shorten(nests))
		;
	nests->is_unknown |= nests->count > IOT_MPI_NESTS_MAX;
}
