// SPDX-License-Identifier: GPL-2.0-only
/*
 * lengths.c - lengths of edges, in the time of the trace.
 *
 * The longer an edge, the less it delays a replay whose timing differs from the trace: an operation
 * that ended long ago delays no other.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "order_passes.h"

/* Lengths of the edges of each cause. */
struct lengths {
	u64 *lengths_ns[EDGE_CAUSE_COUNT];
	u64 counts[EDGE_CAUSE_COUNT];
	u64 *opened_ns; /* when the last arrived at each latch */
};

static int allocate(const struct graph *graph, struct lengths *l)
{
	u32 i;

	for (i = 0; i < EDGE_CAUSE_COUNT; i++) {
		u64 left = graph->edges_by_cause[i] - graph->pruned_by_cause[i];

		l->lengths_ns[i] = malloc((left + 1) * sizeof(u64));
		if (!l->lengths_ns[i])
			return -ENOMEM;
	}
	l->opened_ns = graph_latches_opened(graph);
	return l->opened_ns ? 0 : -ENOMEM;
}

/**
 * graph_latches_opened() - when the last arrived at each latch
 * @graph: after graph_pass_mpi()
 *
 * Return: a time in ns for each latch, to be freed; NULL if out of memory.
 */
u64 *graph_latches_opened(const struct graph *graph)
{
	u64 *opened_ns = calloc(graph->latch_count + 1ull, sizeof(*opened_ns));
	u32 i, j;

	for (i = 0; opened_ns && i < graph->task_count && graph->latch_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (op->kind == IOT_PLAY_signal && op->handle &&
			    op->end_ns > opened_ns[op->handle - 1])
				opened_ns[op->handle - 1] = op->end_ns;
		}
	return opened_ns;
}

/**
 * graph_edge_ends() - the time in the trace of the event that an edge waits for, in ns
 * @graph: of the edge
 * @edge: the edge
 * @opened_ns: of the latches
 */
u64 graph_edge_ends(const struct graph *graph, const struct graph_edge *edge, const u64 *opened_ns)
{
	return edge->task == GRAPH_NONE ? opened_ns[edge->index] :
					  graph->tasks[edge->task].ops[edge->index].end_ns;
}

static void add(const struct graph *graph, struct lengths *l, const struct graph_op *op)
{
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];
		u64 end_ns = graph_edge_ends(graph, edge, l->opened_ns);

		l->lengths_ns[edge->cause][l->counts[edge->cause]++] =
			op->enter_ns > end_ns ? op->enter_ns - end_ns : 0;
	}
}

static int compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sum_up(u64 *lengths_ns, u64 count, struct edge_lengths *lengths)
{
	if (!count)
		return;
	qsort(lengths_ns, count, sizeof(*lengths_ns), compare);
	lengths->min_ns = lengths_ns[0];
	lengths->median_ns = lengths_ns[(count - 1) / 2];
	lengths->max_ns = lengths_ns[count - 1];
}

/**
 * graph_pass_lengths() - lengths of the edges that are left, by cause
 * @graph: pruned
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_lengths(struct graph *graph)
{
	struct lengths l = {};
	u32 i, j;
	int err = allocate(graph, &l);

	for (i = 0; i < graph->task_count && !err; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			add(graph, &l, &graph->tasks[i].ops[j]);
	for (i = 0; i < EDGE_CAUSE_COUNT; i++) {
		if (!err)
			sum_up(l.lengths_ns[i], l.counts[i], &graph->lengths[i]);
		free(l.lengths_ns[i]);
	}
	free(l.opened_ns);
	return err;
}
