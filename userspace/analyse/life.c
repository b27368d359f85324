// SPDX-License-Identifier: GPL-2.0-only
/*
 * life.c - fork, exec and exit: what they order, and what shares memory.
 */
#include <stdlib.h>

#include "graph.h"

/* A pause that is shorter is taken for preemption rather than for waiting. */
#define WAIT_MIN_NS 20000

static bool is_event(const struct graph_op *op)
{
	return op->kind == IOT_KIND_fork || op->kind == IOT_KIND_exec || op->kind == IOT_KIND_exit;
}

static bool is_io(const struct graph_op *op)
{
	return op->kind < IOT_PLAY_arrive && !is_event(op);
}

/* A task matters if it, or one that it made, does something to files or synchronizes. */
static void mark_io(struct graph *graph)
{
	u32 i, j, task;

	for (i = 0; i < graph->task_count; i++) {
		struct graph_task *t = &graph->tasks[i];

		for (j = 0; j < t->op_count && !t->has_io; j++)
			t->has_io = is_io(&t->ops[j]) || t->ops[j].kind == IOT_PLAY_arrive;
	}
	for (i = 0; i < graph->task_count; i++) {
		if (!graph->tasks[i].has_io)
			continue;
		task = graph_task_find(graph, graph->tasks[i].parent);
		while (task != GRAPH_NONE && !graph->tasks[task].has_io) {
			graph->tasks[task].has_io = true;
			task = graph_task_find(graph, graph->tasks[task].parent);
		}
	}
}

/* Threads share the space of who made them; other tasks have one of their own. */
static void number_spaces(struct graph *graph)
{
	u32 i, parent;

	for (i = 0; i < graph->task_count; i++) {
		struct graph_task *t = &graph->tasks[i];

		parent = graph_task_find(graph, t->parent);
		if (t->why == IOT_REASON_fork && parent != GRAPH_NONE && parent < i &&
		    graph->tasks[parent].tgid == t->tgid)
			t->space = graph->tasks[parent].space;
		else
			t->space = graph->space_count++;
	}
}

static bool is_map_op(const struct graph_op *op)
{
	return op->kind >= IOT_KIND_map && op->kind <= IOT_KIND_madvise;
}

static void mark_maps(struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			graph->tasks[i].has_maps |= is_map_op(&graph->tasks[i].ops[j]);
}

/* The operations before and after index @j that are real, not events or halves of calls. */
static const struct graph_op *neighbour(const struct graph_task *t, u32 j, int step)
{
	for (j += (u32)step; j < t->op_count; j += (u32)step)
		if (is_io(&t->ops[j]))
			return &t->ops[j];
	return NULL;
}

/*
 * Did the task wait when this child ended? It did not if it was in an operation, or if it
 * used the CPU all the time between the operations before and after.
 */
static bool has_waited(const struct graph_task *t, u32 j)
{
	const struct graph_op *before = neighbour(t, j, -1), *after = neighbour(t, j, 1);
	u64 since_ns = before ? before->end_ns : t->begin_ns, gap_ns, run_ns;

	if (since_ns > t->ops[j].enter_ns)
		return false;
	if (!after)
		return true;
	gap_ns = after->enter_ns - since_ns;
	run_ns = after->runtime_ns - (before ? before->runtime_ns + before->oncpu_ns : 0);
	return run_ns < gap_ns && gap_ns - run_ns > WAIT_MIN_NS;
}

/*
 * Did the task wait for the end of this request? If the next thing that it did was to submit
 * one, the last end before that was enough.
 */
static bool has_waited_for_request(const struct graph_task *t, u32 j)
{
	u32 next = j + 1;

	while (next < t->op_count && t->ops[next].kind == IOT_PLAY_leave &&
	       t->ops[next].flags == LEAVE_DONE)
		next++;
	if (next > j + 1 && next < t->op_count && t->ops[next].kind == IOT_KIND_submit)
		return false;
	return has_waited(t, j);
}

static bool is_kept(const struct graph *graph, const struct graph_task *t, u32 j)
{
	const struct graph_op *op = &t->ops[j];
	u32 child;

	if (op->kind != IOT_PLAY_leave || (op->flags != LEAVE_ENDED && op->flags != LEAVE_DONE))
		return true;
	if (op->flags == LEAVE_DONE)
		return has_waited_for_request(t, j);
	child = graph_task_find(graph, op->event);
	return child != GRAPH_NONE && graph->tasks[child].has_io && has_waited(t, j);
}

/* Waits for children and requests that nobody waited for go. */
static int drop_idle_leaves(struct graph *graph, struct graph_task *t)
{
	bool *kept = calloc(t->op_count + 1, sizeof(*kept));
	u32 j, count = 0;

	if (!kept)
		return -ENOMEM;
	for (j = 0; j < t->op_count; j++)
		kept[j] = is_kept(graph, t, j);
	for (j = 0; j < t->op_count; j++)
		if (kept[j])
			t->ops[count++] = t->ops[j];
	t->op_count = count;
	free(kept);
	return 0;
}

/* The task's own last operation, which is its exit if that was recorded. */
static int wait_for_end(struct graph *graph, struct graph_op *op)
{
	u32 child = graph_task_find(graph, op->event);
	const struct graph_task *t = &graph->tasks[child];

	if (!t->op_count || t->ops[t->op_count - 1].end_ns > op->end_ns)
		return 0; /* it closed files after its maker had gone on */
	return graph_edge_add(graph, child, t->op_count - 1, op, EDGE_life);
}

static int wait_for_making(struct graph *graph, u32 task, u32 j)
{
	u32 child = graph_task_find(graph, graph->tasks[task].ops[j].event);
	struct graph_task *t;

	if (child == GRAPH_NONE || !graph->tasks[child].has_io)
		return 0;
	t = &graph->tasks[child];
	if (!t->op_count || t->ops[0].kind != IOT_PLAY_leave || t->ops[0].flags != LEAVE_MADE)
		return 0;
	return graph_edge_add(graph, task, j, &t->ops[0], EDGE_life);
}

static int connect(struct graph *graph, u32 task)
{
	struct graph_task *t = &graph->tasks[task];
	u32 j;
	int err = 0;

	for (j = 0; j < t->op_count && !err; j++) {
		struct graph_op *op = &t->ops[j];

		if (op->kind == IOT_KIND_fork || op->kind == IOT_KIND_exec)
			err = wait_for_making(graph, task, j);
		else if (op->kind == IOT_PLAY_leave && op->flags == LEAVE_ENDED)
			err = wait_for_end(graph, op);
	}
	return err;
}

/**
 * graph_pass_life() - edges of fork, exec and exit; address spaces; which tasks matter
 * @graph: sorted; the first pass, because it removes operations
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_life(struct graph *graph)
{
	u32 i;
	int err = 0;

	mark_io(graph);
	number_spaces(graph);
	mark_maps(graph);
	for (i = 0; i < graph->task_count && !err; i++)
		err = drop_idle_leaves(graph, &graph->tasks[i]);
	for (i = 0; i < graph->task_count && !err; i++)
		if (graph->tasks[i].has_io)
			err = connect(graph, i);
	return err;
}
