// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_collectives.c - edges of collectives: the n-th of a communicator is the same on all its ranks.
 *
 * A rank that needs the data of others waits for each of them, directly or through a latch that
 * they signal (mpi_needs.c lists the ranks that it needs). Times decide only where MPI leaves it
 * open: optional waits of a library become part of the program if the trace permits them.
 */
#include <stdlib.h>

#include "mpi_match.h"

/* A rank that gets data of more others than these may wait for all instead, where it has. */
#define DIRECT_MAX 16 /* and then only of more than one in so many of those that have any */

/**
 * struct fan_in - the part of a collective that a latch can replace
 * @first, @stop: the members that leave: all, or those of one of two groups
 * @is_source: of each member of the collective, some of those needs it
 * @sources: their number
 * @last_ns: arrival of the last of them
 * @latch: GRAPH_NONE until one is needed
 */
struct fan_in {
	u32 first;
	u32 stop;
	bool *is_source;
	u32 sources;
	u64 last_ns;
	u32 latch;
};

static u64 arrived_ns(const struct graph *graph, const struct mpi_needs *needs, u32 member)
{
	return graph->mpi[needs->members[member].call].enter_ns;
}

static u64 left_ns(const struct graph *graph, const struct mpi_needs *needs, u32 member)
{
	return graph->mpi[needs->members[member].ended].end_ns;
}

static bool has_left(const struct mpi_needs *needs, u32 member)
{
	return needs->members[member].ended != GRAPH_NONE;
}

/* Without the member itself, which a range may have in it. */
static u32 need_count(const struct mpi_need *need, u32 own)
{
	u32 count = need->stop - need->first;

	return !need->is_list && own >= need->first && own < need->stop ? count - 1 : count;
}

/* -- one by one ------------------------------------------------------------------------------ */

static int wait_for_member(struct graph *graph, const struct mpi_needs *needs, u32 from, u32 own)
{
	return mpi_wait_for(graph, needs->members[from].call, needs->members[own].ended);
}

/* Some of those that a member needs, as far as that is known, had not come when it left. */
static void come_later(struct graph *graph, const struct mpi_needs *needs, u32 own)
{
	if (needs->needs[own].certainty == MPI_NEEDS_SURELY)
		mpi_contradicted(graph, needs->members[own].call);
	else if (needs->needs[own].certainty == MPI_NEEDS_SOME)
		graph->mpi_unknown++;
}

/* For each rank that it needs, except those that arrived later. */
static int wait_for_each(struct graph *graph, const struct mpi_needs *needs, u32 own)
{
	const struct mpi_need *need = &needs->needs[own];
	bool is_contradicted = false;
	u32 i;
	int err = 0;

	for (i = need->first; i < need->stop && !err; i++) {
		u32 from = mpi_need_member(needs, need, i);

		if (from == own)
			continue;
		if (mpi_looks_back(graph, needs->members[from].call, needs->members[own].ended))
			err = wait_for_member(graph, needs, from, own);
		else
			is_contradicted = true;
	}
	if (is_contradicted)
		come_later(graph, needs, own);
	return err;
}

/* -- scans ------------------------------------------------------------------------------------ */

/*
 * Whether the end of a member's call implies the arrival of all that it needs, and its own. It does
 * if the call is a blocking one; the lowest rank waits for no other, but its call takes time.
 */
static bool is_link(const struct graph *graph, const struct mpi_needs *needs, u32 member)
{
	return member && needs->needs[member].certainty != MPI_NEEDS_NOTHING &&
	       needs->members[member].ended == needs->members[member].call &&
	       left_ns(graph, needs, member) > arrived_ns(graph, needs, member);
}

/* A chain: each waits for the next one below it to leave, and for those between them one by one. */
static int chain(struct graph *graph, const struct mpi_needs *needs, u32 own)
{
	bool is_contradicted = false, is_linked = false;
	const struct graph_mpi *below;
	u32 i;
	int err = 0;

	for (i = own; i-- > 0 && !err && !is_linked;) {
		below = &graph->mpi[needs->members[i].call];
		is_linked = is_link(graph, needs, i) && left_ns(graph, needs, i) < left_ns(graph, needs, own);
		if (is_linked)
			err = graph_edge_add(graph, below->task, below->wait,
					     mpi_wait_of(graph, needs->members[own].ended), EDGE_mpi);
		else if (mpi_looks_back(graph, needs->members[i].call, needs->members[own].ended))
			err = wait_for_member(graph, needs, i, own);
		else
			is_contradicted = true;
	}
	if (is_contradicted)
		come_later(graph, needs, own);
	return err;
}

/*
 * If the end of a request proves nothing about the others: the ranks are rows of a square. Those of
 * a row signal a latch, and each rank waits for the rows below its own, and for those below it in its own.
 */
static int rows(struct graph *graph, const struct mpi_needs *needs, u32 length)
{
	u32 latch = 0, first, i, row;
	int err = 0;

	for (first = 0; first + length < needs->count && !err; first += length) {
		err = graph_latch_add(graph, length, &row);
		latch = first ? latch : row; /* of the first row; the others follow it */
		for (i = first; i < first + length && !err; i++) {
			const struct graph_mpi *mpi = &graph->mpi[needs->members[i].call];

			graph->tasks[mpi->task].ops[mpi->signal].handle = row + 1;
		}
	}
	for (i = 0; i < needs->count && !err; i++) {
		if (needs->needs[i].certainty == MPI_NEEDS_NOTHING)
			continue;
		for (row = 0; row < i / length && !err; row++)
			err = graph_edge_add(graph, GRAPH_NONE, latch + row,
					     mpi_wait_of(graph, needs->members[i].ended), EDGE_mpi);
		for (first = i - i % length; first < i && !err; first++)
			err = wait_for_member(graph, needs, first, i);
	}
	return err;
}

/* Had all ranks below a rank come before it left? Else some edges have to be left out. */
static bool is_in_order(const struct graph *graph, const struct mpi_needs *needs)
{
	u64 last_ns = 0;
	u32 i;

	for (i = 0; i < needs->count; i++) {
		if (needs->needs[i].certainty != MPI_NEEDS_NOTHING && left_ns(graph, needs, i) <= last_ns)
			return false;
		if (arrived_ns(graph, needs, i) > last_ns)
			last_ns = arrived_ns(graph, needs, i);
	}
	return true;
}

static int scan(struct graph *graph, const struct mpi_needs *needs)
{
	u32 i, length = 1;
	int err = 0;

	while (length * length < needs->count)
		length++;
	if (graph->mpi[needs->members[0].call].request && needs->count > DIRECT_MAX && is_in_order(graph, needs))
		return rows(graph, needs, length);
	for (i = 0; i < needs->count && !err; i++)
		if (needs->needs[i].certainty != MPI_NEEDS_NOTHING)
			err = chain(graph, needs, i);
	return err;
}

/* -- through latches ------------------------------------------------------------------------------ */

static void add_source(const struct graph *graph, const struct mpi_needs *needs, struct fan_in *fan_in, u32 member)
{
	if (fan_in->is_source[member])
		return;
	fan_in->is_source[member] = true;
	fan_in->sources++;
	if (arrived_ns(graph, needs, member) > fan_in->last_ns)
		fan_in->last_ns = arrived_ns(graph, needs, member);
}

/* All ranges of a fan-in are one, but for those that are empty. */
static void find_sources(const struct graph *graph, const struct mpi_needs *needs, struct fan_in *fan_in)
{
	const struct mpi_need *range = NULL, *need;
	u32 own, i, users = 0, user = 0;

	for (own = fan_in->first; own < fan_in->stop; own++) {
		need = &needs->needs[own];
		if (need->certainty == MPI_NEEDS_NOTHING || need->first == need->stop)
			continue;
		if (need->is_list) {
			for (i = need->first; i < need->stop; i++)
				add_source(graph, needs, fan_in, needs->list[i]);
			continue;
		}
		range = need;
		user = own;
		users++;
	}
	for (i = range ? range->first : 0; range && i < range->stop; i++)
		if (users > 1 || i != user)
			add_source(graph, needs, fan_in, i);
}

/*
 * Whether no rank left before the last arrived. Then the library may have made all wait for all,
 * although not all of them have data for each other.
 */
static bool is_together(const struct graph *graph, const struct mpi_needs *needs, const struct fan_in *fan_in)
{
	u32 i;

	for (i = fan_in->first; i < fan_in->stop; i++)
		if (has_left(needs, i) && left_ns(graph, needs, i) <= fan_in->last_ns)
			return false;
	return true;
}

static int wait_for_latch(struct graph *graph, const struct mpi_needs *needs, struct fan_in *fan_in, u32 own)
{
	u32 i;
	int err = 0;

	if (fan_in->latch == GRAPH_NONE) {
		err = graph_latch_add(graph, fan_in->sources, &fan_in->latch);
		for (i = 0; i < needs->count && !err; i++) {
			const struct graph_mpi *mpi = &graph->mpi[needs->members[i].call];

			if (fan_in->is_source[i])
				graph->tasks[mpi->task].ops[mpi->signal].handle = fan_in->latch + 1;
		}
	}
	return err ? err : graph_edge_add(graph, GRAPH_NONE, fan_in->latch,
					  mpi_wait_of(graph, needs->members[own].ended), EDGE_mpi);
}

static int wait_in_fan_in(struct graph *graph, const struct mpi_needs *needs, struct fan_in *fan_in, u32 own,
			 bool is_for_all)
{
	const struct mpi_need *need = &needs->needs[own];
	u32 count = need_count(need, own), others = fan_in->sources;
	bool have_come = has_left(needs, own) && left_ns(graph, needs, own) > fan_in->last_ns;

	if (is_for_all && have_come)
		return wait_for_latch(graph, needs, fan_in, own);
	if (need->certainty == MPI_NEEDS_NOTHING || !count)
		return 0;
	if (have_come && fan_in->sources > 1 &&
	    (!need->is_list || (count > DIRECT_MAX && count > others / DIRECT_MAX)))
		return wait_for_latch(graph, needs, fan_in, own);
	return need->certainty == MPI_NEEDS_PERHAPS ? 0 : wait_for_each(graph, needs, own);
}

/* All members that leave for the same reason, and those whose data they get. */
static int connect_fan_in(struct graph *graph, const struct mpi_needs *needs, u32 first, u32 stop)
{
	struct fan_in fan_in = {
		.first = first,
		.stop = stop,
		.is_source = calloc(needs->count, sizeof(bool)),
		.latch = GRAPH_NONE,
	};
	bool is_for_all;
	u32 i;
	int err = fan_in.is_source ? 0 : -ENOMEM;

	if (!err)
		find_sources(graph, needs, &fan_in);
	is_for_all = !err && needs->is_each && fan_in.sources > 1 && is_together(graph, needs, &fan_in);
	for (i = first; i < stop && !err && fan_in.sources; i++)
		err = wait_in_fan_in(graph, needs, &fan_in, i, is_for_all);
	free(fan_in.is_source);
	return err;
}

static int connect_collective(struct graph *graph, const struct mpi_needs *needs)
{
	int err;

	if (needs->is_scan)
		return scan(graph, needs);
	if (!needs->is_split || !needs->is_each)
		return connect_fan_in(graph, needs, 0, needs->count);
	err = connect_fan_in(graph, needs, 0, needs->split);
	return err ? err : connect_fan_in(graph, needs, needs->split, needs->count);
}

/* -- all collectives ------------------------------------------------------------------------------ */

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

static int connect_one(struct graph *graph, struct mpi_report *report, const struct mpi_member *members,
		       u32 count, struct mpi_needs *needs)
{
	const struct graph_rank *rank = any_rank(graph, members[0].comm);
	int err;

	if (count != (rank ? rank->size : 0))
		mpi_unmatched(graph, members[0].call, "a collective that not all ranks called");
	if (report->listener)
		return mpi_report(graph, report, members, count, needs);
	if (count == 1)
		return 0;
	err = mpi_needs_find(graph, members, count, needs);
	return err ? err : connect_collective(graph, needs);
}

static int connect_all(struct graph *graph, const struct graph_mpi_listener *listener,
		       const struct mpi_member *members, size_t count)
{
	struct mpi_report report = { .listener = listener };
	struct mpi_needs needs = {};
	size_t first, last;
	int err = 0;

	for (first = 0; first < count && !err; first = last) {
		for (last = first + 1; last < count && members[last].comm == members[first].comm &&
				       members[last].number == members[first].number;
		     last++)
			;
		err = connect_one(graph, &report, &members[first], (u32)(last - first), &needs);
	}
	mpi_needs_close(&needs);
	mpi_report_close(&report);
	return err;
}

static int compare_members(const void *a, const void *b)
{
	const struct mpi_member *x = a, *y = b;

	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/**
 * mpi_match_collectives() - edges of collectives, or calls of a listener instead
 */
int mpi_match_collectives(struct graph *graph, const struct mpi_dones *dones,
			  const struct graph_mpi_listener *listener)
{
	struct mpi_member *members = calloc(graph->mpi_count + 1, sizeof(*members));
	size_t count = 0;
	u32 i;
	int err;

	if (!members)
		return -ENOMEM;
	for (i = 0; i < graph->mpi_count; i++)
		if (graph->mpi[i].kind == IOT_KIND_mpi_coll)
			members[count++] = (struct mpi_member){
				.comm = graph->mpi[i].comm,
				.number = graph->mpi[i].number,
				.rank = mpi_rank_of(graph, graph->mpi[i].comm, graph->mpi[i].task),
				.call = i,
				.ended = mpi_ended_by(graph, dones, i),
			};
	qsort(members, count, sizeof(*members), compare_members);
	mpi_near_sort(graph);
	err = connect_all(graph, listener, members, count);
	free(members);
	return err;
}
