// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_needs.c - the ranks that each rank of a collective must wait for, as MPI has it.
 *
 * That follows from the call, its root and topology, and from the data that it brings, which is in
 * the record of the receiving rank: never from times. MPI 4.0, 6.1: a collective may return as soon
 * as the caller's part in it is over, so a rank waits for the ranks whose data it gets, and only in
 * a barrier for all. A call that creates communicators from a communicator needs data of all ranks:
 * the members of the new ones, or a free number for them.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi_match.h"

/* The ranks from which a call takes data. */
enum shape {
	SHAPE_ALL,  /* all ranks, of both groups if there are two */
	SHAPE_EACH, /* all ranks; between two groups those of the other one */
	SHAPE_FROM, /* the root */
	SHAPE_TO,   /* all ranks, to the root */
	SHAPE_SCAN, /* the ranks below the own one */
	SHAPE_NEAR, /* the neighbours */
};

static enum shape shape_of(u32 call)
{
	switch (call) {
	case IOT_CALL_barrier:
	case IOT_CALL_allreduce:
	case IOT_CALL_allgather:
	case IOT_CALL_allgatherv:
	case IOT_CALL_alltoall:
	case IOT_CALL_alltoallv:
	case IOT_CALL_alltoallw:
	case IOT_CALL_reduce_scatter:
	case IOT_CALL_reduce_scatter_block:
	case IOT_CALL_ibarrier:
	case IOT_CALL_iallreduce:
	case IOT_CALL_iallgather:
	case IOT_CALL_iallgatherv:
	case IOT_CALL_ialltoall:
	case IOT_CALL_ialltoallv:
	case IOT_CALL_ialltoallw:
	case IOT_CALL_ireduce_scatter:
	case IOT_CALL_ireduce_scatter_block:
		return SHAPE_EACH;
	case IOT_CALL_bcast:
	case IOT_CALL_scatter:
	case IOT_CALL_scatterv:
	case IOT_CALL_ibcast:
	case IOT_CALL_iscatter:
	case IOT_CALL_iscatterv:
		return SHAPE_FROM;
	case IOT_CALL_reduce:
	case IOT_CALL_gather:
	case IOT_CALL_gatherv:
	case IOT_CALL_ireduce:
	case IOT_CALL_igather:
	case IOT_CALL_igatherv:
		return SHAPE_TO;
	case IOT_CALL_scan:
	case IOT_CALL_exscan:
	case IOT_CALL_iscan:
	case IOT_CALL_iexscan:
		return SHAPE_SCAN;
	case IOT_CALL_neighbor_allgather:
	case IOT_CALL_neighbor_allgatherv:
	case IOT_CALL_neighbor_alltoall:
	case IOT_CALL_neighbor_alltoallv:
	case IOT_CALL_neighbor_alltoallw:
	case IOT_CALL_ineighbor_allgather:
	case IOT_CALL_ineighbor_allgatherv:
	case IOT_CALL_ineighbor_alltoall:
	case IOT_CALL_ineighbor_alltoallv:
	case IOT_CALL_ineighbor_alltoallw:
		return SHAPE_NEAR;
	default:
		return SHAPE_ALL;
	}
}

/* -- members ---------------------------------------------------------------------------------- */

/* Return: the number of members with a lower rank. */
static u32 place_of(const struct mpi_needs *needs, u32 rank)
{
	u32 low = 0, high = needs->count;

	if (rank < needs->count && needs->members[rank].rank == rank)
		return rank; /* no rank is missing */
	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (needs->members[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int list_add(struct mpi_needs *needs, u32 member)
{
	if (needs->list_count == needs->list_room) {
		u32 room = needs->list_room ? 2 * needs->list_room : 64;
		u32 *bigger = reallocarray(needs->list, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		needs->list = bigger;
		needs->list_room = room;
	}
	needs->list[needs->list_count++] = member;
	return 0;
}

/* The members of these ranks, without the one that needs them, and each once. */
static int list_add_ranks(struct mpi_needs *needs, u32 own, u64 first, u64 count)
{
	u64 stop = first + count;
	u32 i;
	int err = 0;

	if (first > GRAPH_NONE)
		return 0;
	for (i = place_of(needs, (u32)first); i < needs->count && needs->members[i].rank < stop && !err; i++)
		if (i != own && needs->seen[i] != own + 1) {
			needs->seen[i] = own + 1;
			err = list_add(needs, i);
		}
	return err;
}

static int compare_near(const void *a, const void *b)
{
	const struct graph_near *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/**
 * mpi_near_sort() - bring neighbours into the order in which they are looked for
 */
void mpi_near_sort(struct graph *graph)
{
	if (graph->near_count)
		qsort(graph->near, graph->near_count, sizeof(*graph->near), compare_near);
}

/* Some neighbour of a rank, and then all of them. */
static int list_add_near(const struct graph *graph, struct mpi_needs *needs, u32 own)
{
	const struct graph_near key = { .comm = needs->members[own].comm, .rank = needs->members[own].rank };
	const struct graph_near *near = NULL, *stop = graph->near + graph->near_count;
	int err = 0;

	if (graph->near_count)
		near = bsearch(&key, graph->near, graph->near_count, sizeof(*graph->near), compare_near);
	while (near && near > graph->near && !compare_near(near - 1, &key))
		near--;
	for (; near && near < stop && !compare_near(near, &key) && !err; near++)
		err = list_add_ranks(needs, own, near->source, 1);
	return err;
}

static int list_add_tail(const struct graph *graph, struct mpi_needs *needs, u32 own)
{
	const struct graph_mpi *mpi = &graph->mpi[needs->members[own].call];
	struct iot_sources_list list;
	u32 first, count;
	int err = 0;

	iot_sources_open(&list, mpi->sources, mpi->list, mpi->list_bytes);
	while (!err && iot_sources_next(&list, &first, &count))
		err = list_add_ranks(needs, own, first, count);
	return err;
}

/* -- needs ------------------------------------------------------------------------------------- */

/* Between two groups, those of the root's own that are not the root name none. */
static s32 root_of(const struct graph *graph, const struct mpi_needs *needs)
{
	s32 root = -1;
	u32 i;

	for (i = 0; i < needs->count; i++)
		if (graph->mpi[needs->members[i].call].root > root)
			root = graph->mpi[needs->members[i].call].root;
	return root;
}

/* The ranks that a call of this shape takes data from, as a range of members. */
static void range_of(const struct graph *graph, struct mpi_needs *needs, u32 own, enum shape shape)
{
	const struct mpi_member *member = &needs->members[own];
	struct mpi_need *need = &needs->needs[own];
	u32 split = needs->split;

	switch (shape) {
	case SHAPE_ALL:
		need->stop = needs->count;
		break;
	case SHAPE_TO:
		if (needs->root >= 0 && member->rank != (u32)needs->root)
			break;
		/* fall through */
	case SHAPE_EACH:
		need->first = needs->is_split && own < split ? split : 0;
		need->stop = needs->is_split && own >= split ? split : needs->count;
		break;
	case SHAPE_FROM:
		if (needs->root < 0 || graph->mpi[member->call].root < 0 || member->rank == (u32)needs->root)
			break;
		need->first = place_of(needs, (u32)needs->root);
		need->stop = need->first;
		if (need->first < needs->count && needs->members[need->first].rank == (u32)needs->root)
			need->stop++;
		break;
	case SHAPE_SCAN:
		need->stop = own;
		break;
	case SHAPE_NEAR:
		break;
	}
}

/* Must a rank wait, whatever data there is? */
static bool is_barrier(const struct mpi_needs *needs, const struct graph_mpi *mpi)
{
	switch (mpi->call) {
	case IOT_CALL_barrier:
	case IOT_CALL_ibarrier:
		return true;
	case IOT_CALL_comm_dup:
	case IOT_CALL_comm_dup_with_info:
	case IOT_CALL_comm_split:
		return !needs->is_split;
	case IOT_CALL_win_fence: /* the first one ends no epoch */
		return mpi->sources == IOT_SOURCES_all && mpi->number > 1;
	default:
		return false;
	}
}

static enum mpi_certainty certainty_of(const struct graph *graph, const struct mpi_needs *needs, u32 own,
				       enum shape shape)
{
	const struct mpi_member *member = &needs->members[own];
	const struct graph_mpi *mpi = &graph->mpi[member->call];

	if (member->ended == GRAPH_NONE)
		return MPI_NEEDS_NOTHING;
	if (mpi->result < 0 || graph->mpi[member->ended].result < 0)
		return MPI_NEEDS_PERHAPS;
	if (is_barrier(needs, mpi))
		return MPI_NEEDS_SURELY;
	if (shape == SHAPE_ALL)
		return MPI_NEEDS_PERHAPS;
	switch (mpi->sources) {
	case IOT_SOURCES_none:
		return MPI_NEEDS_NOTHING;
	case IOT_SOURCES_all:
	case IOT_SOURCES_runs:
	case IOT_SOURCES_bits:
		return MPI_NEEDS_SURELY;
	default:
		return MPI_NEEDS_SOME;
	}
}

static int need_of(const struct graph *graph, struct mpi_needs *needs, u32 own, enum shape shape)
{
	const struct graph_mpi *mpi = &graph->mpi[needs->members[own].call];
	struct mpi_need *need = &needs->needs[own];
	bool has_tail = mpi->sources == IOT_SOURCES_runs || mpi->sources == IOT_SOURCES_bits;
	int err = 0;

	*need = (struct mpi_need){ .certainty = certainty_of(graph, needs, own, shape) };
	if (need->certainty == MPI_NEEDS_NOTHING)
		return 0;
	if (shape != SHAPE_NEAR && !has_tail) {
		range_of(graph, needs, own, shape);
		return 0;
	}
	need->is_list = true;
	need->first = needs->list_count;
	err = has_tail ? list_add_tail(graph, needs, own) : list_add_near(graph, needs, own);
	need->stop = needs->list_count;
	return err;
}

static int make_room(struct mpi_needs *needs, u32 count)
{
	if (count <= needs->room)
		return 0;
	free(needs->needs);
	free(needs->seen);
	needs->needs = calloc(count, sizeof(*needs->needs));
	needs->seen = calloc(count, sizeof(*needs->seen));
	needs->room = needs->needs && needs->seen ? count : 0;
	return needs->room ? 0 : -ENOMEM;
}

/**
 * mpi_needs_find() - the ranks that each member of a collective waits for
 * @graph: with its neighbours sorted
 * @members: of one collective, in the order of ranks
 * @count: their number
 * @needs: out: valid as long as @members; freed by mpi_needs_close(), or passed to this function again
 *
 * Return: 0 or -ENOMEM.
 */
int mpi_needs_find(const struct graph *graph, const struct mpi_member *members, u32 count,
		   struct mpi_needs *needs)
{
	enum shape shape = shape_of(graph->mpi[members[0].call].call);
	u32 first = graph_comm_first(graph, members[0].comm), i;
	int err = 0;

	if (make_room(needs, count))
		return -ENOMEM;
	memset(needs->seen, 0, count * sizeof(*needs->seen));
	needs->members = members;
	needs->count = count;
	needs->list_count = 0;
	needs->is_split = first > 0;
	needs->split = place_of(needs, first);
	needs->root = root_of(graph, needs);
	needs->is_scan = shape == SHAPE_SCAN;
	needs->is_each = shape == SHAPE_EACH;
	for (i = 0; i < count && !err; i++)
		err = need_of(graph, needs, i, shape);
	return err;
}

/**
 * mpi_needs_close() - free the results
 */
void mpi_needs_close(struct mpi_needs *needs)
{
	free(needs->needs);
	free(needs->seen);
	free(needs->list);
	*needs = (struct mpi_needs){};
}
