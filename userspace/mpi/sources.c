// SPDX-License-Identifier: GPL-2.0-only
/*
 * sources.c - the ranks whose data a collective call brings to the caller, so that it must wait for them.
 *
 * The arguments of the receiving side suffice: the sending side of each pair must pass the same
 * amount. An empty block brings nothing, and MPI need not wait for its source rank.
 */
#include "shim.h"

static bool is_empty_type(MPI_Datatype type)
{
	MPI_Count bytes = 0;

	return !iot_mpi_found.PMPI_Type_size_x(type, &bytes) && !bytes;
}

/**
 * iot_mpi_block() - the data of a call with equal blocks
 * @count: elements of one block
 * @type: of the elements; ignored if there are none
 */
struct iot_mpi_blocks iot_mpi_block(MPI_Count count, MPI_Datatype type)
{
	return (struct iot_mpi_blocks){
		.sources = count > 0 && !is_empty_type(type) ? IOT_SOURCES_all : IOT_SOURCES_none,
	};
}

/**
 * iot_mpi_is_root() - is the caller the root of a call?
 * @root: as MPI was given it: between two groups it is the rank of one of the other group, if it is
 *	a rank
 */
bool iot_mpi_is_root(const struct iot_mpi_collective *call, int root)
{
	return root == MPI_ROOT || (!call->first && root == call->own);
}

static MPI_Count count_at(const void *counts, u32 width, u32 at)
{
	return width == sizeof(int) ? ((const int *)counts)[at] : ((const MPI_Count *)counts)[at];
}

/**
 * iot_mpi_own_count() - the one of several counts that is the caller's
 * @counts: one for each rank of the caller's group
 * @width: bytes of a count
 */
MPI_Count iot_mpi_own_count(const struct iot_mpi_collective *call, const void *counts, u32 width)
{
	u32 own = (u32)call->own;

	return count_at(counts, width, call->first && own >= call->first ? own - call->first : own);
}

/* -- lists of ranks ------------------------------------------------------------------------------- */

/* The blocks of a call, and the ranks that they are from. */
struct walk {
	const struct iot_mpi_collective *call;
	const struct iot_mpi_blocks *blocks;
	u32 count;
	bool is_empty; /* all blocks are */
};

static struct walk walk_of(const struct iot_mpi_collective *call, const struct iot_mpi_blocks *blocks)
{
	struct walk walk = { .call = call, .blocks = blocks, .count = call->ranks };
	u32 i;

	if (blocks->is_near)
		walk.count = (u32)call->near_count;
	else if (call->first)
		walk.count = call->peer_base ? call->ranks - call->first : call->first;
	/* MPI may not have checked the type if there are no elements. */
	for (i = 0; i < walk.count && !count_at(blocks->counts, blocks->width, i); i++)
		;
	walk.is_empty = i == walk.count || (!blocks->types && is_empty_type(blocks->type));
	return walk;
}

/* Return: the rank that a block is from; -1 if it is from no other one. */
static s64 rank_of(const struct walk *walk, u32 block)
{
	s64 rank = walk->blocks->is_near ? walk->call->near[block] : walk->call->peer_base + (s64)block;

	return rank == walk->call->own ? -1 : rank;
}

static bool has_data(const struct walk *walk, u32 block)
{
	return !walk->is_empty && count_at(walk->blocks->counts, walk->blocks->width, block) > 0 &&
	       !(walk->blocks->types && is_empty_type(walk->blocks->types[block]));
}

/* Return: the next block from @block on that brings data of another rank; walk->count if none. */
static u32 next_of(const struct walk *walk, u32 block)
{
	while (block < walk->count && (rank_of(walk, block) < 0 || !has_data(walk, block)))
		block++;
	return block;
}

/* Neighbours may be in any order, and the same one in several places. Return: number of runs. */
static u32 runs_of(const struct walk *walk, u8 *list, u32 room)
{
	s64 rank, last = -2;
	u32 runs = 0, i;

	for (i = next_of(walk, 0); i < walk->count; i = next_of(walk, i + 1)) {
		rank = rank_of(walk, i);
		if (rank == last)
			continue;
		if (rank != last + 1 && ++runs <= room) {
			iot_put_u32(list + 8 * (runs - 1), (u32)rank);
			iot_put_u32(list + 8 * (runs - 1) + 4, 0);
		}
		if (runs <= room)
			iot_put_u32(list + 8 * (runs - 1) + 4, iot_get_u32(list + 8 * (runs - 1) + 4) + 1);
		last = rank;
	}
	return runs;
}

static void bits_of(const struct walk *walk, u8 *list, u32 bytes)
{
	u32 i;

	memset(list, 0, bytes);
	for (i = next_of(walk, 0); i < walk->count; i = next_of(walk, i + 1))
		list[rank_of(walk, i) / 8] |= (u8)(1 << rank_of(walk, i) % 8);
}

/* Return: IOT_SOURCES_all or _none, if it is one of these; else IOT_SOURCES_runs. */
static u32 all_or_none(const struct walk *walk)
{
	u32 others = 0, sources = 0, i;

	for (i = 0; i < walk->count; i++) {
		if (rank_of(walk, i) < 0)
			continue;
		others++;
		sources += has_data(walk, i);
	}
	if (!sources)
		return IOT_SOURCES_none;
	return sources == others ? IOT_SOURCES_all : IOT_SOURCES_runs;
}

/**
 * iot_mpi_sources() - the ranks whose data a call brings
 * @call: accepted by MPI
 * @blocks: the data that it brings
 * @list: room for IOT_SOURCES_MAX_BYTES
 * @list_bytes: out: bytes of the list there, as the tail of a record has it
 *
 * Return: an enum iot_sources; IOT_SOURCES_unknown if there is no room for the list.
 */
u32 iot_mpi_sources(const struct iot_mpi_collective *call, const struct iot_mpi_blocks *blocks,
		    u8 *list, u16 *list_bytes)
{
	const u32 bytes = (call->ranks + 7) / 8;
	struct walk walk;
	u32 sources = blocks->sources, runs;

	*list_bytes = 0;
	if (sources != IOT_SOURCES_runs)
		return sources;
	walk = walk_of(call, blocks);
	sources = all_or_none(&walk);
	if (sources != IOT_SOURCES_runs)
		return sources;
	runs = runs_of(&walk, list, IOT_SOURCES_MAX_BYTES / 8);
	if (runs <= IOT_SOURCES_MAX_BYTES / 8 && (8 * runs <= bytes || bytes > IOT_SOURCES_MAX_BYTES)) {
		*list_bytes = (u16)(8 * runs);
		return IOT_SOURCES_runs;
	}
	if (bytes > IOT_SOURCES_MAX_BYTES)
		return IOT_SOURCES_unknown;
	bits_of(&walk, list, bytes);
	*list_bytes = (u16)bytes;
	return IOT_SOURCES_bits;
}
