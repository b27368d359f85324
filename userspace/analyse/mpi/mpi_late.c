// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_late.c - late arrivals: which rank waits for which, in collectives and messages, and how long.
 *
 * A part of a collective waits for the parts that it surely needs, see mpi_needs.c: all in a barrier, the root in a
 * broadcast. The whole wait is attributed to the last of these to arrive. A receive waits for its send. A send waits
 * for its receive only if it ended after the receive had been posted; otherwise the message was buffered. These are the
 * wait states "wait at barrier", "late broadcast", "early reduce", "late sender" and "late receiver" of F. Wolf and
 * B. Mohr, "Automatic performance analysis of hybrid MPI/OpenMP applications", 2003.
 *
 * A wait is part of the call that found the request complete, which of a blocking call is the call itself.
 */
#include "mpi_late.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

struct finding {
	const struct graph *graph;
	struct graph_rank *ranks; /* sorted by process */
	struct late_arrivals *late;
};

static int compare_tgids(const void *a, const void *b)
{
	const struct graph_rank *x = a, *y = b;

	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

static u32 rank_of(const struct finding *finding, u32 call)
{
	const struct graph *graph = finding->graph;
	const struct graph_rank key = { .tgid = graph->tasks[graph->mpi[call].task].tgid }, *rank = NULL;

	if (graph->rank_count)
		rank = bsearch(&key, finding->ranks, graph->rank_count, sizeof(key), compare_tgids);
	return rank ? rank->world_rank : GRAPH_NONE;
}

static int wait_add(struct finding *finding, const struct late_key *key, u64 ns)
{
	struct late_row *row;

	HASH_FIND(hh, finding->late->rows, key, sizeof(*key), row);
	if (!row) {
		row = calloc(1, sizeof(*row));
		if (!row)
			return -ENOMEM;
		row->key = *key;
		HASH_ADD(hh, finding->late->rows, key, sizeof(row->key), row);
	}
	row->times++;
	row->sum_ns += ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	return 0;
}

/* @part was in a call, up to its end, before @arrival, a call of another rank, was entered. */
static int wait_until(struct finding *finding, const struct graph_mpi_part *part, u32 arrival, enum late_kind kind)
{
	const struct graph_mpi *arrived = &finding->graph->mpi[arrival], *waited;
	struct late_key key = { .kind = kind };
	u64 until_ns;

	if (part->ended == GRAPH_NONE)
		return 0;
	waited = &finding->graph->mpi[part->ended];
	until_ns = arrived->enter_ns < waited->end_ns ? arrived->enter_ns : waited->end_ns;
	if (until_ns <= waited->enter_ns)
		return 0;
	key.waiter = rank_of(finding, part->ended);
	key.late = rank_of(finding, arrival);
	key.call = finding->graph->mpi[part->call].call;
	return wait_add(finding, &key, until_ns - waited->enter_ns);
}

static int take_message(void *context, const struct graph_mpi_part *send, const struct graph_mpi_part *receive)
{
	struct finding *finding = context;
	const struct graph_mpi *mpi = finding->graph->mpi;
	int err;

	finding->late->messages++;
	err = wait_until(finding, receive, send->call, LATE_sender);
	if (err || send->ended == GRAPH_NONE || mpi[send->ended].end_ns < mpi[receive->call].enter_ns)
		return err;
	return wait_until(finding, send, receive->call, LATE_receiver);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct late_rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct late_rank *late_rank_find(const struct late_arrivals *late, u32 rank)
{
	const struct late_rank key = { .rank = rank };

	return late->rank_count ? bsearch(&key, late->ranks, late->rank_count, sizeof(key), compare_ranks) : NULL;
}

/* Ranks are listed, not indexed by their number: a damaged trace may state any number. */
static int late_ranks_list(const struct graph *graph, struct late_arrivals *late)
{
	u32 i, kept = 0;

	late->ranks = calloc(graph->rank_count + 1ul, sizeof(*late->ranks));
	if (!late->ranks)
		return -ENOMEM;
	for (i = 0; i < graph->rank_count; i++)
		late->ranks[i].rank = graph->ranks[i].world_rank;
	qsort(late->ranks, graph->rank_count, sizeof(*late->ranks), compare_ranks);
	for (i = 0; i < graph->rank_count; i++)
		if (!kept || late->ranks[kept - 1].rank != late->ranks[i].rank)
			late->ranks[kept++] = late->ranks[i];
	late->rank_count = kept;
	return 0;
}

static int take_collective(void *context, const struct graph_mpi_part *parts, u32 count)
{
	struct finding *finding = context;
	struct late_rank *rank;
	u32 last = 0, i;

	if (count < 2)
		return 0;
	for (i = 1; i < count; i++)
		if (finding->graph->mpi[parts[i].call].enter_ns > finding->graph->mpi[parts[last].call].enter_ns)
			last = i;
	rank = late_rank_find(finding->late, rank_of(finding, parts[last].call));
	if (rank)
		rank->last++;
	finding->late->collectives++;
	finding->late->parts += count;
	return 0;
}

/* The last part to arrive, other than @call; GRAPH_NONE if there is none. */
static u32 last_but(const struct finding *finding, const struct graph_mpi_part *parts, u32 count, u32 call)
{
	u32 last = GRAPH_NONE, i;

	for (i = 0; i < count; i++)
		if (parts[i].call != call &&
		    (last == GRAPH_NONE ||
		     finding->graph->mpi[parts[i].call].enter_ns > finding->graph->mpi[last].enter_ns))
			last = parts[i].call;
	return last;
}

static int take_waits(void *context, const struct graph_mpi_part *from, u32 from_count, const struct graph_mpi_part *to,
		      u32 to_count)
{
	struct finding *finding = context;
	u32 last = last_but(finding, from, from_count, GRAPH_NONE), next = last_but(finding, from, from_count, last);
	u32 needed, i;
	int err = 0;

	finding->late->certain += to_count;
	for (i = 0; i < to_count && !err; i++) {
		needed = to[i].call == last ? next : last;
		if (needed != GRAPH_NONE)
			err = wait_until(finding, &to[i], needed, LATE_collective);
	}
	return err;
}

static int find(struct graph *graph, struct finding *finding)
{
	const struct graph_mpi_listener listener = {
		.context = finding,
		.message = take_message,
		.collective = take_collective,
		.waits = take_waits,
	};
	int err;

	graph_worlds_number(graph);
	if (graph->rank_count) {
		memcpy(finding->ranks, graph->ranks, graph->rank_count * sizeof(*graph->ranks));
		qsort(finding->ranks, graph->rank_count, sizeof(*graph->ranks), compare_tgids);
	}
	err = late_ranks_list(graph, finding->late);
	if (err)
		return err;
	err = graph_mpi_match(graph, &listener);
	finding->late->unmatched = graph->mpi_unmatched;
	return err;
}

/**
 * graph_late_arrivals() - find out which ranks wait for which
 * @graph: loaded, and not analysed; afterwards only good for graph_close()
 * @late: filled in; to be freed by late_arrivals_free(), also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int graph_late_arrivals(struct graph *graph, struct late_arrivals *late)
{
	struct finding finding = { .graph = graph, .late = late };
	int err;

	*late = (struct late_arrivals){};
	finding.ranks = calloc(graph->rank_count + 1ul, sizeof(*finding.ranks));
	if (!finding.ranks)
		return -ENOMEM;
	err = find(graph, &finding);
	free(finding.ranks);
	return err;
}

/**
 * late_arrivals_free() - free the result of graph_late_arrivals()
 */
void late_arrivals_free(struct late_arrivals *late)
{
	struct late_row *row, *next;

	HASH_ITER (hh, late->rows, row, next) {
		HASH_DEL(late->rows, row);
		free(row);
	}
	free(late->ranks);
	*late = (struct late_arrivals){};
}
