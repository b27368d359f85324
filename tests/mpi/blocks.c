// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocks.c - the list of ranks that the shim derives from the counts of a call is that of the nonempty
 * blocks, for any number of ranks. Does not use MPI, and contains only sources.c of the shim.
 *
 *	blocks	exit code: 0 if all lists are right
 */
#include "mpi/shim.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/iotape.h"

#define RANKS_MAX 9000
#define CASES	  20000

struct iot_mpi_library iot_mpi_found;
static int counts[RANKS_MAX], near[RANKS_MAX];
static MPI_Count wide_counts[RANKS_MAX];
static bool is_source[RANKS_MAX], is_listed[RANKS_MAX];

static int size_of_type(MPI_Datatype type, MPI_Count *bytes)
{
	(void)type;
	*bytes = 4;
	return MPI_SUCCESS;
}

static u32 below(u32 limit)
{
	return (u32)rand() % limit;
}

/* Fills the counts in one of several patterns: none, all, a range, every n-th, at random. */
static void fill(u32 count)
{
	u32 way = below(5), a = below(count + 1), b = below(count + 1), i;

	for (i = 0; i < count; i++)
		counts[i] = way == 1 || (way == 2 && i >= a && i < b) || (way == 3 && i % (a + 1) == 0) ||
			    (way == 4 && !below(1 + b % 40));
}

/* Return: the number of nonempty blocks, computed independently. */
static u32 expect(const struct iot_mpi_collective *call, bool is_near, u32 count, u32 *others)
{
	u32 sources = 0, i;

	memset(is_source, 0, sizeof(is_source));
	*others = 0;
	for (i = 0; i < count; i++) {
		s64 rank = is_near ? near[i] : call->peer_base + (s64)i;

		if (rank < 0 || rank == call->own)
			continue;
		++*others;
		sources += counts[i] > 0;
		is_source[rank] |= counts[i] > 0;
	}
	return sources;
}

static bool is_right_list(u32 sources, const u8 *list, u16 bytes)
{
	struct iot_sources_list it;
	u32 first, count;

	memset(is_listed, 0, sizeof(is_listed));
	iot_sources_open(&it, sources, list, bytes);
	while (iot_sources_next(&it, &first, &count))
		for (; count; count--, first++) {
			if (first >= RANKS_MAX)
				return false;
			is_listed[first] = true;
		}
	return !memcmp(is_listed, is_source, sizeof(is_source));
}

static u32 runs(void)
{
	u32 count = 0, i;

	for (i = 0; i < RANKS_MAX; i++)
		count += is_source[i] && (!i || !is_source[i - 1]);
	return count;
}

static bool is_right(const struct iot_mpi_collective *call, bool is_near, bool is_wide, u32 count)
{
	const struct iot_mpi_blocks blocks = {
		.sources = IOT_SOURCES_runs,
		.counts = is_wide ? (const void *)wide_counts : counts,
		.width = is_wide ? sizeof(MPI_Count) : sizeof(int),
		.is_near = is_near,
	};
	u8 list[IOT_SOURCES_MAX_BYTES];
	u16 bytes;
	u32 others, expected = expect(call, is_near, count, &others), i, got;

	for (i = 0; i < count; i++)
		wide_counts[i] = (MPI_Count)counts[i] << 32; /* all zero if truncated to int */
	got = iot_mpi_sources(call, &blocks, list, &bytes);
	switch (got) {
	case IOT_SOURCES_none:
		return !expected && !bytes;
	case IOT_SOURCES_all:
		return expected == others && !bytes;
	case IOT_SOURCES_unknown: /* neighbours can be in any order */
		return call->ranks > 8 * IOT_SOURCES_MAX_BYTES && !bytes &&
		       (is_near || runs() > IOT_SOURCES_MAX_BYTES / 8);
	}
	return bytes <= sizeof(list) && expected < others && is_right_list(got, list, bytes);
}

int main(void)
{
	u32 seen[5] = {}, failures = 0, i, k;

	iot_mpi_found.PMPI_Type_size_x = size_of_type;
	srand(1);
	for (i = 0; i < CASES; i++) {
		struct iot_mpi_collective call = { .near = near };
		bool is_near = below(4) == 0;
		u32 count;

		call.ranks = 1 + below(below(2) ? 200 : RANKS_MAX);
		call.first = !is_near && call.ranks > 1 && !below(3) ? 1 + below(call.ranks - 1) : 0;
		call.own = (s32)below(call.ranks);
		count = call.ranks;
		if (call.first) {
			call.peer_base = (u32)call.own < call.first ? (s32)call.first : 0;
			count = call.peer_base ? call.ranks - call.first : call.first;
		}
		if (is_near)
			count = below(20);
		call.near_count = (int)count;
		for (k = 0; is_near && k < count; k++)
			near[k] = below(8) ? (int)below(call.ranks) : MPI_PROC_NULL;
		fill(count);
		if (!is_right(&call, is_near, below(2), count) && !failures++)
			printf("case %u: of %u ranks the list of rank %d is wrong\n", i, call.ranks, call.own);
		seen[call.first ? 1 : is_near ? 2 : 0]++;
	}
	printf("%u cases, %u with neighbours, %u between groups, %u failures\n", CASES, seen[2], seen[1], failures);
	return failures > 0;
}
