// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_known.c - the orders that a trace shows by itself, to be compared with those that delays have shown.
 */
#include <stdlib.h>

#include "analyse/passes/analysis.h"
#include "cmd.h"
#include "discover_search.h"

#define PAIRS_MAX 10000000u /* of signals and waits of latches: memory for them is bounded */

/* An operation that signals a latch. */
struct arrival {
	u32 latch;
	u32 task;
	u32 index;
};

/**
 * struct known - the orders of a graph
 * @arrivals: by latch
 */
struct known {
	struct discovery *discovery;
	const struct graph *graph;
	struct arrival *arrivals;
	size_t count;
};

/* The number of the last operation of a task up to an index, 0 if there is none. */
static u32 number_until(const struct graph_task *task, u32 index)
{
	u32 i = index + 1;

	while (i-- > 0)
		if (task->ops[i].number)
			return task->ops[i].number;
	return 0;
}

static int note_pair(const struct known *k, u32 task, u32 index, u32 waiter, u32 waiter_index, u32 cause)
{
	const struct graph_task *from = &k->graph->tasks[task], *to = &k->graph->tasks[waiter];
	struct discovery_known known = { .task = from->id, .waiter = to->id, .is_wait = cause == EDGE_mpi || cause == EDGE_wake };

	known.op = number_until(from, index);
	known.waiter_op = waiter_index ? number_until(to, waiter_index - 1) : 0;
	return known.op ? discovery_note_known(k->discovery, &known) : 0;
}

static int compare(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;

	return (x->latch > y->latch) - (x->latch < y->latch);
}

/* The signals that operations are, and those that operations send at their ends. */
static int gather_arrivals(struct known *k)
{
	const struct graph *graph = k->graph;
	size_t room = graph->signal_count + 1;
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			room += graph->tasks[i].ops[j].kind == IOT_PLAY_signal;
	k->arrivals = calloc(room, sizeof(*k->arrivals));
	if (!k->arrivals)
		return -ENOMEM;
	for (i = 0; i < graph->signal_count; i++)
		k->arrivals[k->count++] = (struct arrival){ graph->signals[i].latch, graph->signals[i].task, graph->signals[i].index };
	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			if (graph->tasks[i].ops[j].kind == IOT_PLAY_signal && graph->tasks[i].ops[j].latch)
				k->arrivals[k->count++] = (struct arrival){ (u32)graph->tasks[i].ops[j].latch - 1, i, j };
	qsort(k->arrivals, k->count, sizeof(*k->arrivals), compare);
	return 0;
}

static int note_latch(const struct known *k, u32 latch, u32 waiter, u32 waiter_index, u32 cause, size_t *pairs)
{
	size_t low = 0, high = k->count;
	int err = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->arrivals[middle].latch < latch)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < k->count && k->arrivals[low].latch == latch && !err; low++) {
		if (++*pairs > PAIRS_MAX)
			return -EFBIG;
		err = note_pair(k, k->arrivals[low].task, k->arrivals[low].index, waiter, waiter_index, cause);
	}
	return err;
}

static int note_edges(const struct known *k)
{
	const struct graph *graph = k->graph;
	size_t pairs = 0;
	u32 i, j, e;
	int err = 0;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			for (e = graph->tasks[i].ops[j].edges; e != GRAPH_NONE && !err; e = graph->edges[e].next) {
				const struct graph_edge *edge = &graph->edges[e];

				err = edge->task == GRAPH_NONE ? note_latch(k, edge->index, i, j, edge->cause, &pairs) :
								 note_pair(k, edge->task, edge->index, i, j, edge->cause);
			}
	return err;
}

/**
 * search_note_known() - note the orders that the trace of the first run shows by itself
 * @search: after the first run, whose trace still exists
 *
 * Return: an exit code.
 */
int search_note_known(const struct search *search)
{
	const struct analysis_options options = { .rules = ORDER_DEFAULT };
	struct known k = { .discovery = search->discovery };
	struct iot_reject reject = {};
	struct analysis *analysis;
	char trace[PATH_MAX + 16];
	int err = analysis_load(&analysis, search->first, &options, &reject);

	if (!err)
		err = analysis_run(analysis, graph_passes_needed(PASS_BIT(prune)));
	if (!err) {
		k.graph = analysis_graph(analysis);
		err = gather_arrivals(&k);
	}
	if (!err)
		err = note_edges(&k);
	free(k.arrivals);
	analysis_close(analysis);
	if (err == -EFBIG) {
		say("warning: the trace shows more than %u orders, of which the others are not compared with those found", PAIRS_MAX);
		return EXIT_DONE;
	}
	if (!err)
		return EXIT_DONE;
	snprintf(trace, sizeof(trace), "%s.run0", search->options->output);
	return fail_reject(trace, err, &reject);
}
