// SPDX-License-Identifier: GPL-2.0-only
/*
 * fan_in.c - fan-in: many operations that wait for the same many others.
 *
 * If each of many operations waits for the same many others, there are as many edges as pairs of them: a thousand
 * ranks that ask for the size of a file, and then make it longer, have a million. So the others
 * signal a latch, and each of the many waits for it (tracker.c selects them). This file adds, after
 * each of the others, an operation that only signals: it is equivalent to an edge, because an
 * operation of a task begins when the one before it has ended.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "order_passes.h"

/* Signals of a task, in the order of its operations. */
struct fan_in {
	const struct graph_signal *signals;
	u32 count;
	u32 *moves; /* of each operation: the number of positions by which it moves */
};

static int compare(const void *a, const void *b)
{
	const struct graph_signal *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->latch < y->latch ? -1 : x->latch > y->latch;
}

static int count_moves(struct fan_in *fan_in, const struct graph_task *t)
{
	u32 i, before = 0;

	fan_in->moves = malloc((t->op_count + 1ul) * sizeof(*fan_in->moves));
	if (!fan_in->moves)
		return -ENOMEM;
	for (i = 0; i < t->op_count; i++) {
		fan_in->moves[i] = before;
		while (before < fan_in->count && fan_in->signals[before].index == i)
			before++;
	}
	return 0;
}

static int insert(struct graph *graph, struct graph_task *t, const struct fan_in *fan_in)
{
	u32 left = fan_in->count, i;
	int err = graph_ops_resize(graph, t, t->op_count + left);
	struct graph_op *ops = t->ops;

	if (err)
		return err;
	for (i = t->op_count; i-- > 0;) {
		const u64 end_ns = ops[i].end_ns;

		for (; left > fan_in->moves[i]; left--)
			ops[i + left] = (struct graph_op){
				.kind = IOT_PLAY_signal,
				.handle = fan_in->signals[left - 1].latch + 1,
				.enter_ns = end_ns,
				.end_ns = end_ns,
				.edges = GRAPH_NONE,
			};
		ops[i + left] = ops[i];
	}
	t->op_count += fan_in->count;
	return 0;
}

static void move_on(const struct fan_in *fan_ins, u32 task, u32 *index)
{
	if (task != GRAPH_NONE && fan_ins[task].moves && *index != GRAPH_NONE)
		*index += fan_ins[task].moves[*index];
}

static int apply(struct graph *graph, struct fan_in *fan_ins)
{
	u32 i;
	int err = 0;

	for (i = 0; i < graph->task_count && !err; i++)
		if (fan_ins[i].count)
			err = count_moves(&fan_ins[i], &graph->tasks[i]);
	for (i = 0; i < graph->task_count && !err; i++)
		if (fan_ins[i].count)
			err = insert(graph, &graph->tasks[i], &fan_ins[i]);
	for (i = 0; i < graph->edge_count && !err; i++)
		move_on(fan_ins, graph->edges[i].task, &graph->edges[i].index);
	for (i = 0; i < graph->mpi_count && !err; i++) {
		move_on(fan_ins, graph->mpi[i].task, &graph->mpi[i].signal);
		move_on(fan_ins, graph->mpi[i].task, &graph->mpi[i].wait);
	}
	return err;
}

/**
 * graph_pass_fan_in() - insert signals to latches after operations that many others wait for
 * @graph: with all edges
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_fan_in(struct graph *graph)
{
	struct fan_in *fan_ins;
	u32 i;
	int err;

	if (!graph->signal_count)
		return 0;
	fan_ins = calloc(graph->task_count, sizeof(*fan_ins));
	if (!fan_ins)
		return -ENOMEM;
	qsort(graph->signals, graph->signal_count, sizeof(*graph->signals), compare);
	for (i = 0; i < graph->signal_count; i++) {
		struct fan_in *fan_in = &fan_ins[graph->signals[i].task];

		if (!fan_in->count++)
			fan_in->signals = &graph->signals[i];
	}
	err = apply(graph, fan_ins);
	for (i = 0; i < graph->task_count; i++)
		free(fan_ins[i].moves);
	free(fan_ins);
	return err;
}
