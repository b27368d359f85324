// SPDX-License-Identifier: GPL-2.0-only
/*
 * starts.c - marks of where operations start.
 *
 * An edge waits for the end of an operation. That one may start only after another has
 * started, though they overlap, takes an operation that does nothing and ends when the
 * other one starts: a mark before it, which has its think time and waits. Marks are put
 * where the operation on files that began next is another task's and began before this
 * one had ended.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "analyse/graph/causal.h"
#include "order_passes.h"

/**
 * struct marker - a walk over operations on files
 * @marks: of each task, for each of its operations the marks up to it, or NULL if it has none
 * @task, @index: the operation before; GRAPH_NONE at first
 */
struct marker {
	struct graph *graph;
	u32 **marks;
	u32 task;
	u32 index;
};

static int mark(struct marker *m, u32 task, u32 index)
{
	if (!m->marks[task])
		m->marks[task] = calloc(m->graph->tasks[task].op_count, sizeof(u32));
	if (!m->marks[task])
		return -ENOMEM;
	m->marks[task][index] = 1;
	return 0;
}

static int visit(void *context, u32 task, u32 index)
{
	struct marker *m = context;
	const struct graph_task *tasks = m->graph->tasks;
	const struct graph_op *op = &tasks[task].ops[index];
	int err = 0;

	if (!tasks[task].has_io || !graph_is_io(op) || op->kind == IOT_KIND_complete)
		return 0;
	if (m->task != GRAPH_NONE && m->task != task &&
	    tasks[m->task].ops[m->index].end_ns >= op->enter_ns)
		err = mark(m, m->task, m->index);
	m->task = task;
	m->index = index;
	return err;
}

/* From here on marks are counted: an operation moves on by the marks up to it. */
static u32 count_marks(u32 *marks, u32 op_count)
{
	u32 count = 0, i;

	for (i = 0; i < op_count; i++)
		marks[i] = count += marks[i];
	return count;
}

static int insert_marks(struct graph *graph, struct graph_task *t, u32 *marks)
{
	u32 count = t->op_count + count_marks(marks, t->op_count), i;
	int err = graph_ops_resize(graph, t, count);
	struct graph_op *ops = t->ops;

	if (err)
		return err;
	for (i = t->op_count; i-- > 0;) {
		struct graph_op *op = &ops[i + marks[i]];

		*op = ops[i];
		if (marks[i] == (i ? marks[i - 1] : 0))
			continue;
		op[-1] = (struct graph_op){
			.kind = IOT_PLAY_nop,
			.flags = NOP_START,
			.enter_ns = op->enter_ns,
			.end_ns = op->enter_ns,
			.edges = op->edges, /* for ends of requests */
		};
		op->edges = GRAPH_NONE;
	}
	t->op_count = count;
	return 0;
}

static void move_on(const struct marker *m, u32 task, u32 *index)
{
	if (task != GRAPH_NONE && m->marks[task] && *index != GRAPH_NONE)
		*index += m->marks[task][*index];
}

static int apply(struct marker *m)
{
	struct graph *graph = m->graph;
	u32 i;
	int err = 0;

	for (i = 0; i < graph->task_count && !err; i++)
		if (m->marks[i])
			err = insert_marks(graph, &graph->tasks[i], m->marks[i]);
	for (i = 0; i < graph->edge_count && !err; i++)
		move_on(m, graph->edges[i].task, &graph->edges[i].index);
	for (i = 0; i < graph->mpi_count && !err; i++) {
		move_on(m, graph->mpi[i].task, &graph->mpi[i].signal);
		move_on(m, graph->mpi[i].task, &graph->mpi[i].wait);
	}
	for (i = 0; i < graph->wake_count && !err; i++) {
		move_on(m, graph->wakes[i].task, &graph->wakes[i].nop);
		move_on(m, graph->wakes[i].woken, &graph->wakes[i].wait);
	}
	return err;
}

/**
 * graph_pass_starts() - put marks before operations, if the graph's rules need any
 * @graph: with the edges of life and messages, and none of resources
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_starts(struct graph *graph)
{
	struct marker m = { .graph = graph, .task = GRAPH_NONE };
	u32 i;
	int err;

	if (!(graph->rules & ORDER_BIT(temporal)))
		return 0;
	m.marks = calloc(graph->task_count + 1, sizeof(*m.marks));
	if (!m.marks)
		return -ENOMEM;
	err = causal_traverse(graph, visit, &m);
	if (!err)
		err = apply(&m);
	for (i = 0; i < graph->task_count; i++)
		free(m.marks[i]);
	free(m.marks);
	return err;
}
