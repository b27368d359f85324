// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpi_partners.c - matching MPI calls, in a form that does not depend on time.
 *
 * Calls are named by rank and by their number there. So two runs of a program without wildcard
 * receives, and with one thread for each rank, have the same partners, whatever the durations.
 * Calls with results that depend on timing (probes, tests and waits) are not numbered; nor is
 * one-sided access, which has no partner.
 */
#include "mpi_partners.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

/* A call with a partner, and its sort key. */
struct place {
	u32 rank;
	u64 enter_ns;
	u32 call; /* in graph.mpi */
};

/**
 * struct finding - collects the results of the matching
 * @partner_of: of each numbered call in graph.mpi, index among the partners; only these have any
 */
struct finding {
	struct partner *partners;
	u32 *partner_of;
};

static int compare_tgids(const void *a, const void *b)
{
	const struct graph_rank *x = a, *y = b;

	return (x->tgid > y->tgid) - (x->tgid < y->tgid);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x->call < y->call ? -1 : x->call > y->call;
}

static bool is_numbered(const struct graph_mpi *mpi)
{
	return mpi->kind == IOT_KIND_mpi_send || mpi->kind == IOT_KIND_mpi_recv ||
	       mpi->kind == IOT_KIND_mpi_coll;
}

/* @ranks: sorted by process */
static u32 collect(const struct graph *graph, const struct graph_rank *ranks, struct place *places)
{
	u32 count = 0, i;

	for (i = 0; i < graph->mpi_count; i++) {
		const struct graph_mpi *mpi = &graph->mpi[i];
		const struct graph_rank key = { .tgid = graph->tasks[mpi->task].tgid }, *rank = NULL;

		if (!is_numbered(mpi))
			continue;
		if (graph->rank_count)
			rank = bsearch(&key, ranks, graph->rank_count, sizeof(*ranks), compare_tgids);
		places[count++] = (struct place){
			.rank = rank ? rank->world_rank : GRAPH_NONE,
			.enter_ns = mpi->enter_ns,
			.call = i,
		};
	}
	qsort(places, count, sizeof(*places), compare_places);
	return count;
}

static void number(const struct graph *graph, const struct place *places, u32 count,
		   struct finding *finding)
{
	u32 i;

	for (i = 0; i < count; i++) {
		bool is_first = !i || places[i].rank != places[i - 1].rank;

		finding->partner_of[places[i].call] = i;
		finding->partners[i] = (struct partner){
			.rank = places[i].rank,
			.number = is_first ? 1 : finding->partners[i - 1].number + 1,
			.call = graph->mpi[places[i].call].call,
			.with = GRAPH_NONE,
			.is_send = graph->mpi[places[i].call].kind == IOT_KIND_mpi_send,
		};
	}
}

static int take_message(void *context, const struct graph_mpi_part *send,
			const struct graph_mpi_part *receive)
{
	struct finding *finding = context;
	u32 from = finding->partner_of[send->call], to = finding->partner_of[receive->call];

	finding->partners[from].with = to;
	finding->partners[to].with = from;
	return 0;
}

static int take_collective(void *context, const struct graph_mpi_part *parts, u32 count)
{
	struct finding *finding = context;
	u32 first = GRAPH_NONE, i;

	for (i = 0; i < count; i++)
		if (finding->partner_of[parts[i].call] < first)
			first = finding->partner_of[parts[i].call];
	for (i = 0; i < count; i++)
		finding->partners[finding->partner_of[parts[i].call]].with = first;
	finding->partners[first].count = count;
	return 0;
}

static int find(struct graph *graph, struct place *places, struct graph_rank *ranks,
		struct finding *finding, u32 *count)
{
	const struct graph_mpi_listener listener = {
		.context = finding,
		.message = take_message,
		.collective = take_collective,
	};

	graph_worlds_number(graph);
	if (graph->rank_count)
		memcpy(ranks, graph->ranks, graph->rank_count * sizeof(*ranks));
	qsort(ranks, graph->rank_count, sizeof(*ranks), compare_tgids);
	*count = collect(graph, ranks, places);
	number(graph, places, *count, finding);
	return graph_mpi_match(graph, &listener);
}

/**
 * graph_partners() - find out which MPI calls belong together
 * @graph: loaded, and not analysed; afterwards only good for graph_close()
 * @partners: out: in the order of ranks and of their calls, to be freed by the caller
 * @count: out
 *
 * Return: 0 or -ENOMEM.
 */
int graph_partners(struct graph *graph, struct partner **partners, u32 *count)
{
	struct place *places = calloc(graph->mpi_count + 1, sizeof(*places));
	struct graph_rank *ranks = calloc(graph->rank_count + 1, sizeof(*ranks));
	struct finding finding = {
		.partners = calloc(graph->mpi_count + 1, sizeof(*finding.partners)),
		.partner_of = calloc(graph->mpi_count + 1, sizeof(*finding.partner_of)),
	};
	int err = -ENOMEM;

	if (places && ranks && finding.partners && finding.partner_of)
		err = find(graph, places, ranks, &finding, count);
	free(places);
	free(ranks);
	free(finding.partner_of);
	if (err) {
		free(finding.partners);
		return err;
	}
	*partners = finding.partners;
	return 0;
}
