// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_collectives.c - who waited for whom in a collective: the n-th of a communicator is the same on
 * all its ranks.
 */
#include <stdlib.h>

#include "mpi_match.h"

/* What a collective makes its ranks wait for. */
enum shape {
	SHAPE_ALL,  /* everybody for everybody */
	SHAPE_EACH, /* the same; between two groups each for the other one */
	SHAPE_FROM, /* everybody for the root */
	SHAPE_TO,   /* the root for everybody */
	SHAPE_SCAN, /* each rank for those below it */
	SHAPE_NEAR, /* each rank for its neighbours */
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

/* One rank's part in a collective. */
struct member {
	u64 comm;
	u32 number;
	u32 rank;
	u32 call;
	u32 ended;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static struct graph_op *arrive_of(struct graph *graph, const struct member *member)
{
	const struct graph_mpi *mpi = &graph->mpi[member->call];

	return &graph->tasks[mpi->task].ops[mpi->arrive];
}

static int wait_for_member(struct graph *graph, const struct member *other,
			   const struct member *member)
{
	return other == member ? 0 : mpi_wait_for(graph, &graph->mpi[other->call], member->ended);
}

/* The ranks that an edge to the hub is for: root, or all if it is negative. */
static bool leaves_hub(const struct graph *graph, const struct member *member, s32 root,
		       u64 last_enter_ns)
{
	return member->ended != GRAPH_NONE && (root < 0 || member->rank == (u32)root) &&
	       graph->mpi[member->ended].end_ns > last_enter_ns;
}

/* Of @to, those whose rank is @root, or all if it is negative, leave when all @from have arrived. */
static int through_hub(struct graph *graph, const struct member *from, u32 from_count,
		       const struct member *to, u32 to_count, s32 root)
{
	u64 last_enter_ns = 0;
	u32 hub, i;
	int err = graph_hub_add(graph, from_count, &hub);

	for (i = 0; i < from_count && !err; i++) {
		if (graph->mpi[from[i].call].enter_ns > last_enter_ns)
			last_enter_ns = graph->mpi[from[i].call].enter_ns;
		arrive_of(graph, &from[i])->handle = hub + 1;
	}
	for (i = 0; i < to_count && !err; i++)
		if (leaves_hub(graph, &to[i], root, last_enter_ns))
			err = graph_edge_add(graph, GRAPH_NONE, hub,
					     mpi_leave_of(graph, to[i].ended), EDGE_mpi);
	return err;
}

/* Between two groups: of the members, how many are of the first. */
static u32 split_at(const struct member *members, u32 count, u32 first)
{
	u32 split;

	for (split = 0; split < count && members[split].rank < first; split++)
		;
	return split;
}

/* Each of two groups waits for the other one, and not for itself. */
static int crosswise(struct graph *graph, const struct member *members, u32 count, u32 first)
{
	u32 split = split_at(members, count, first);
	int err;

	if (!split || split == count)
		return 0;
	err = through_hub(graph, members, split, members + split, count - split, -1);
	return err ? err : through_hub(graph, members + split, count - split, members, split, -1);
}

/* The root waits for all, or, between two groups, for the group that it is not of. */
static int to_root(struct graph *graph, const struct member *members, u32 count, u32 first, s32 root)
{
	u32 split = split_at(members, count, first);

	if (!first || root < 0)
		return through_hub(graph, members, count, members, count, root);
	if (!split || split == count)
		return 0;
	if ((u32)root < first)
		return through_hub(graph, members + split, count - split, members, split, root);
	return through_hub(graph, members, split, members + split, count - split, root);
}

static int from_root(struct graph *graph, const struct member *members, u32 count, s32 root)
{
	const struct member *from = NULL;
	u32 i;
	int err = 0;

	for (i = 0; i < count; i++)
		if (members[i].rank == (u32)root)
			from = &members[i];
	for (i = 0; from && i < count && !err; i++)
		if (graph->mpi[members[i].call].root >= 0)
			err = wait_for_member(graph, from, &members[i]);
	return err;
}

static int scan(struct graph *graph, const struct member *members, u32 count)
{
	u32 i, j;
	int err = 0;

	for (i = 0; i < count; i++)
		for (j = 0; j < i && !err; j++)
			err = wait_for_member(graph, &members[j], &members[i]);
	return err;
}

static const struct member *member_of(const struct member *members, u32 count, u32 rank)
{
	u32 low = 0, high = count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (members[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && members[low].rank == rank ? &members[low] : NULL;
}

static int compare_near(const void *a, const void *b)
{
	const struct graph_near *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* All neighbours of a rank, of which bsearch() finds some one. */
static const struct graph_near *neighbours(const struct graph *graph, const struct member *member,
					   u32 *count)
{
	const struct graph_near key = { .comm = member->comm, .rank = member->rank };
	const struct graph_near *first = NULL, *stop = graph->near + graph->near_count, *last;

	*count = 0;
	if (graph->near_count)
		first = bsearch(&key, graph->near, graph->near_count, sizeof(*graph->near),
				compare_near);
	if (!first)
		return NULL;
	for (last = first; last < stop && !compare_near(last, &key); last++)
		;
	while (first > graph->near && !compare_near(first - 1, &key))
		first--;
	*count = (u32)(last - first);
	return first;
}

static int near(struct graph *graph, const struct member *members, u32 count)
{
	u32 i, j, near_count;
	int err = 0;

	for (i = 0; i < count; i++) {
		const struct graph_near *first = neighbours(graph, &members[i], &near_count);

		for (j = 0; j < near_count && !err; j++) {
			const struct member *source = member_of(members, count, first[j].source);

			if (source)
				err = wait_for_member(graph, source, &members[i]);
		}
	}
	return err;
}

/* Between two groups, those of the root's own that are not the root name none, and wait for nobody. */
static s32 root_of(const struct graph *graph, const struct member *members, u32 count)
{
	s32 root = -1;
	u32 i;

	for (i = 0; i < count; i++)
		if (graph->mpi[members[i].call].root > root)
			root = graph->mpi[members[i].call].root;
	return root;
}

static int compare_comms(const void *key, const void *rank)
{
	const u64 *comm = key;
	const struct graph_rank *x = rank;

	return *comm < x->comm ? -1 : *comm > x->comm;
}

static const struct graph_rank *any_rank(const struct graph *graph, u64 comm)
{
	return graph->rank_count ? bsearch(&comm, graph->ranks, graph->rank_count,
					   sizeof(*graph->ranks), compare_comms) :
				   NULL;
}

/**
 * graph_comm_first() - of a communicator between two groups, the ranks of the first
 * @graph: while its MPI calls are matched
 * @comm: its key
 *
 * Return: 0 if it has one group.
 */
u32 graph_comm_first(const struct graph *graph, u64 comm)
{
	const struct graph_rank *rank = any_rank(graph, comm);

	return rank ? rank->first : 0;
}

static int connect_collective(struct graph *graph, const struct member *members, u32 count)
{
	u32 first = graph_comm_first(graph, members[0].comm);

	if (count == 1)
		return 0;
	switch (shape_of(graph->mpi[members[0].call].call)) {
	case SHAPE_FROM:
		return from_root(graph, members, count, root_of(graph, members, count));
	case SHAPE_TO:
		return to_root(graph, members, count, first, root_of(graph, members, count));
	case SHAPE_NEAR:
		return near(graph, members, count);
	case SHAPE_SCAN:
		return scan(graph, members, count);
	case SHAPE_EACH:
		if (first)
			return crosswise(graph, members, count, first);
		break;
	case SHAPE_ALL:
		break;
	}
	return through_hub(graph, members, count, members, count, -1);
}

/* Tell of a collective rather than connect it. */
static int tell_collective(const struct graph_mpi_listener *listener, const struct member *members,
			   u32 count)
{
	struct graph_mpi_part *parts = calloc(count, sizeof(*parts));
	u32 i;
	int err;

	if (!parts)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		parts[i] = (struct graph_mpi_part){
			.rank = members[i].rank,
			.call = members[i].call,
			.ended = members[i].ended,
		};
	err = listener->collective(listener->context, parts, count);
	free(parts);
	return err;
}

static int connect_collectives(struct graph *graph, const struct graph_mpi_listener *listener,
			       const struct member *members, size_t count)
{
	const struct graph_rank *rank;
	size_t first, last;
	int err = 0;

	for (first = 0; first < count && !err; first = last) {
		for (last = first + 1; last < count && members[last].comm == members[first].comm &&
				       members[last].number == members[first].number;
		     last++)
			;
		rank = any_rank(graph, members[first].comm);
		if (last - first != (rank ? rank->size : 0))
			mpi_unmatched(graph, members[first].call, "a collective that not all ranks called");
		if (listener)
			err = tell_collective(listener, &members[first], (u32)(last - first));
		else
			err = connect_collective(graph, &members[first], (u32)(last - first));
	}
	return err;
}

/**
 * mpi_match_collectives() - edges of collectives, or a listener that is told of them
 */
int mpi_match_collectives(struct graph *graph, const struct mpi_dones *dones,
			  const struct graph_mpi_listener *listener)
{
	struct member *members = calloc(graph->mpi_count + 1, sizeof(*members));
	size_t count = 0;
	u32 i;
	int err;

	if (!members)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_coll)
			members[count++] = (struct member){
				.comm = graph->mpi[i].comm,
				.number = graph->mpi[i].number,
				.rank = mpi_rank_of(graph, graph->mpi[i].comm, graph->mpi[i].task),
				.call = i,
				.ended = mpi_ended_by(graph, dones, i),
			};
	qsort(members, count, sizeof(*members), compare_members);
	if (graph->near_count)
		qsort(graph->near, graph->near_count, sizeof(*graph->near), compare_near);
	err = connect_collectives(graph, listener, members, count);
	free(members);
	return err;
}
