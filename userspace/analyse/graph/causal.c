// SPDX-License-Identifier: GPL-2.0-only
/*
 * causal.c - operations in the order in which they began, as far as edges allow that.
 *
 * Edges point back in time, so they rarely matter; but with coarse clocks, an operation may
 * begin at the same time as one that it waits for, and then follows it in this order. Therefore
 * edges from earlier to later operations of a traversal can be added to a graph without creating
 * a cycle.
 *
 * A traversal of spans visits some operations twice, at their begin and at their end, in the
 * order of these times. There, the end of a request begins with its submission.
 */
#include "causal.h"

#include <stdlib.h>

/* A task, and the time at which its next operation begins, or its current one ends. */
struct place {
	u64 ns;
	u32 task;
	u32 is_end; /* then it comes after all that began at that time */
};

struct walk {
	const struct graph *graph;
	struct place *heap; /* the earliest start at the top */
	u32 heap_count;
	u32 *next;	    /* of each task, its next operation */
	u32 *parked;	    /* of each task, first of those that wait for it */
	u32 *latch_parked;
	u32 *next_parked;   /* the next that waits for the same */
	u32 *latch_left;
	bool *is_inside;    /* of each task, its operation has begun, and ends later */
	graph_visit_fn leave; /* NULL: nothing is visited twice */
};

static bool is_before(const struct place *a, const struct place *b)
{
	if (a->ns != b->ns)
		return a->ns < b->ns;
	return a->is_end != b->is_end ? b->is_end : a->task < b->task;
}

static void sift_down(struct walk *w, u32 at)
{
	const struct place place = w->heap[at];
	u32 child;

	while ((child = 2 * at + 1) < w->heap_count) {
		if (child + 1 < w->heap_count && is_before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (is_before(&place, &w->heap[child]))
			break;
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = place;
}

/* When its next operation begins. In a walk over spans a request does as soon as it is submitted. */
static u64 begin_ns(const struct walk *w, u32 task)
{
	const struct graph_op *op = &w->graph->tasks[task].ops[w->next[task]];

	return w->leave && op->kind == IOT_KIND_complete ? 0 : op->enter_ns;
}

static void push(struct walk *w, u32 task)
{
	const struct place place = { begin_ns(w, task), task, 0 };
	u32 at = w->heap_count++;

	while (at && is_before(&place, &w->heap[(at - 1) / 2])) {
		w->heap[at] = w->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	w->heap[at] = place;
}

static void drop_top(struct walk *w)
{
	w->heap[0] = w->heap[--w->heap_count];
	if (w->heap_count)
		sift_down(w, 0);
}

/* Park the task at the first edge of its next operation that does not hold. */
static bool is_parked(struct walk *w, u32 task)
{
	const struct graph *graph = w->graph;
	u32 e = graph->tasks[task].ops[w->next[task]].edges, *list;

	for (; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];

		if (edge->task == GRAPH_NONE ? !w->latch_left[edge->index] :
					       w->next[edge->task] > edge->index)
			continue;
		list = edge->task == GRAPH_NONE ? &w->latch_parked[edge->index] :
						  &w->parked[edge->task];
		w->next_parked[task] = *list;
		*list = task;
		return true;
	}
	return false;
}

static void unpark(struct walk *w, u32 *list)
{
	u32 task;

	while ((task = *list) != GRAPH_NONE) {
		*list = w->next_parked[task];
		push(w, task);
	}
}

static void signal_latch(struct walk *w, const struct graph_op *op)
{
	if (op->kind == IOT_PLAY_signal && op->handle && !--w->latch_left[op->handle - 1])
		unpark(w, &w->latch_parked[op->handle - 1]);
}

/* The task at the top is in an operation until that ends. */
static void stay(struct walk *w, u32 task)
{
	const struct graph_op *op = &w->graph->tasks[task].ops[w->next[task]];

	w->is_inside[task] = true;
	if (op->end_ns > w->heap[0].ns)
		w->heap[0].ns = op->end_ns;
	w->heap[0].is_end = 1;
	sift_down(w, 0);
}

/* The task at the top continues until another one is to come first. */
static int step(struct walk *w, graph_visit_fn visit, void *context)
{
	u32 task = w->heap[0].task;
	const struct graph_task *t = &w->graph->tasks[task];
	int err;

	if (w->is_inside[task]) {
		w->is_inside[task] = false;
		err = w->leave(context, task, w->next[task]);
	} else if (is_parked(w, task)) {
		drop_top(w);
		return 0;
	} else {
		err = visit(context, task, w->next[task]);
		if (err > 0 && w->leave) {
			stay(w, task);
			return 0;
		}
	}
	w->next[task]++;
	if (w->next[task] == t->op_count) {
		drop_top(w);
	} else {
		w->heap[0].ns = begin_ns(w, task);
		w->heap[0].is_end = 0;
		sift_down(w, 0);
	}
	signal_latch(w, &t->ops[w->next[task] - 1]);
	unpark(w, &w->parked[task]);
	return err;
}

static int walk_init(struct walk *w, const struct graph *graph, graph_visit_fn leave)
{
	u32 tasks = graph->task_count, latches = graph->latch_count, i;

	*w = (struct walk){
		.graph = graph,
		.heap = calloc(tasks + 1, sizeof(*w->heap)),
		.next = calloc(tasks + 1, sizeof(u32)),
		.parked = malloc((tasks + 1) * sizeof(u32)),
		.latch_parked = malloc((latches + 1ull) * sizeof(u32)),
		.next_parked = malloc((tasks + 1) * sizeof(u32)),
		.latch_left = malloc((latches + 1ull) * sizeof(u32)),
		.is_inside = calloc(tasks + 1, sizeof(bool)),
		.leave = leave,
	};
	if (!w->heap || !w->next || !w->parked || !w->latch_parked || !w->next_parked ||
	    !w->latch_left || !w->is_inside)
		return -ENOMEM;
	for (i = 0; i < latches; i++) {
		w->latch_parked[i] = GRAPH_NONE;
		w->latch_left[i] = graph->latches[i];
	}
	for (i = 0; i < tasks; i++) {
		w->parked[i] = GRAPH_NONE;
		if (graph->tasks[i].op_count)
			push(w, i);
	}
	return 0;
}

static int walk(const struct graph *graph, graph_visit_fn visit, graph_visit_fn leave, void *context)
{
	struct walk w;
	int err = walk_init(&w, graph, leave);

	while (!err && w.heap_count)
		err = step(&w, visit, context);
	free(w.heap);
	free(w.next);
	free(w.parked);
	free(w.latch_parked);
	free(w.next_parked);
	free(w.latch_left);
	free(w.is_inside);
	return err;
}

/**
 * causal_traverse() - visit all operations
 * @graph: sorted; the visitor may add edges to the operation that it visits
 * @visit: called for each, after those that it waits for; of the others, in the order in which
 *	they began
 * @context: for @visit
 *
 * Operations that wait for each other in a circle are not visited.
 *
 * Return: 0, -ENOMEM, or the result of @visit if it is not 0.
 */
int causal_traverse(const struct graph *graph, graph_visit_fn visit, void *context)
{
	return walk(graph, visit, NULL, context);
}

/**
 * causal_traverse_spans() - visit all operations where they begin, and some where they end
 * @graph: sorted; edges may be added to operations that have been visited
 * @visit: called for each where it begins, as causal_traverse() does; returns 1 if @leave is to be called
 * @leave: called where it ends; no operation of its task, or that waits for it, has begun
 * @context: for both
 *
 * Return: 0, or a negative errno as causal_traverse() does.
 */
int causal_traverse_spans(const struct graph *graph, graph_visit_fn visit, graph_visit_fn leave, void *context)
{
	return walk(graph, visit, leave, context);
}
