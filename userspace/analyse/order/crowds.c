// SPDX-License-Identifier: GPL-2.0-only
/*
 * crowds.c - what many operations wait for.
 *
 * If each of many operations waits for the same many others, there are as many edges as pairs of them: a thousand
 * ranks that ask for the size of a file, and then make it longer, have a million. So the others arrive at a hub, and
 * each of the many waits for that (resource.c says who). Here each of the others gets an operation behind it that does
 * nothing but arrive: it says the same as an edge, because an operation of a task begins when the one before it has ended.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "order.h"

/* Arrivals of a task, in the order of its operations. */
struct crowd {
	const struct graph_arrival *arrivals;
	u32 count;
	u32 *moves; /* of each operation: by how many places it moves on */
};

static int compare(const void *a, const void *b)
{
	const struct graph_arrival *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->hub < y->hub ? -1 : x->hub > y->hub;
}

static int count_moves(struct crowd *crowd, const struct graph_task *t)
{
	u32 i, before = 0;

	crowd->moves = malloc((t->op_count + 1ul) * sizeof(*crowd->moves));
	if (!crowd->moves)
		return -ENOMEM;
	for (i = 0; i < t->op_count; i++) {
		crowd->moves[i] = before;
		while (before < crowd->count && crowd->arrivals[before].index == i)
			before++;
	}
	return 0;
}

static int insert(struct graph_task *t, const struct crowd *crowd)
{
	u32 left = crowd->count, i;
	struct graph_op *ops = reallocarray(t->ops, t->op_count + left, sizeof(*ops));

	if (!ops)
		return -ENOMEM;
	t->ops = ops;
	for (i = t->op_count; i-- > 0;) {
		const u64 end_ns = ops[i].end_ns;

		for (; left > crowd->moves[i]; left--)
			ops[i + left] = (struct graph_op){
				.kind = IOT_PLAY_arrive,
				.handle = crowd->arrivals[left - 1].hub + 1,
				.enter_ns = end_ns,
				.end_ns = end_ns,
				.edges = GRAPH_NONE,
			};
		ops[i + left] = ops[i];
	}
	t->op_count += crowd->count;
	t->op_room = t->op_count;
	return 0;
}

static void move_on(const struct crowd *crowds, u32 task, u32 *index)
{
	if (task != GRAPH_NONE && crowds[task].moves && *index != GRAPH_NONE)
		*index += crowds[task].moves[*index];
}

static int apply(struct graph *graph, struct crowd *crowds)
{
	u32 i;
	int err = 0;

	for (i = 0; i < graph->task_count && !err; i++)
		if (crowds[i].count)
			err = count_moves(&crowds[i], &graph->tasks[i]);
	for (i = 0; i < graph->task_count && !err; i++)
		if (crowds[i].count)
			err = insert(&graph->tasks[i], &crowds[i]);
	for (i = 0; i < graph->edge_count && !err; i++)
		move_on(crowds, graph->edges[i].task, &graph->edges[i].index);
	for (i = 0; i < graph->mpi_count && !err; i++) {
		move_on(crowds, graph->mpi[i].task, &graph->mpi[i].arrive);
		move_on(crowds, graph->mpi[i].task, &graph->mpi[i].leave);
	}
	return err;
}

/**
 * graph_pass_crowds() - put operations that arrive at hubs behind those that many wait for
 * @graph: with all edges
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_crowds(struct graph *graph)
{
	struct crowd *crowds;
	u32 i;
	int err;

	if (!graph->arrival_count)
		return 0;
	crowds = calloc(graph->task_count, sizeof(*crowds));
	if (!crowds)
		return -ENOMEM;
	qsort(graph->arrivals, graph->arrival_count, sizeof(*graph->arrivals), compare);
	for (i = 0; i < graph->arrival_count; i++) {
		struct crowd *crowd = &crowds[graph->arrivals[i].task];

		if (!crowd->count++)
			crowd->arrivals = &graph->arrivals[i];
	}
	err = apply(graph, crowds);
	for (i = 0; i < graph->task_count; i++)
		free(crowds[i].moves);
	free(crowds);
	return err;
}
