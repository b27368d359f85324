// SPDX-License-Identifier: GPL-2.0-only
/*
 * around_edges.c - the edges of a graph in both directions, and the waits of its operations.
 */
#include "around_edges.h"

#include <stdlib.h>

#include "around.h"

/**
 * around_edges_op() - an operation by its number
 */
const struct graph_op *around_edges_op(const struct around_edges *edges, u32 op)
{
	u32 task = around_edges_task(edges, op);

	return &edges->graph->tasks[task].ops[op - edges->first[task]];
}

/**
 * around_edges_task() - the index of the task of an operation
 */
u32 around_edges_task(const struct around_edges *edges, u32 op)
{
	u32 low = 0, high = edges->graph->task_count;

	while (high - low > 1) { /* first[low] <= op < first[high] */
		u32 middle = low + (high - low) / 2;

		if (edges->first[middle] <= op)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* -- groups ----------------------------------------------------------------------------------------------- */

/* Adds a member if there is room for members, else counts it. */
static void group_take(struct around_groups *groups, u32 group, u32 member)
{
	if (groups->members)
		groups->members[groups->first[group]++] = member;
	else
		groups->first[group + 1]++;
}

static void take_op(struct around_edges *edges, u32 op, const struct graph_op *graph_op)
{
	const struct graph *graph = edges->graph;
	u32 e;

	if (graph_op->kind == IOT_PLAY_signal && graph_op->latch)
		group_take(&edges->signals, (u32)graph_op->latch - 1, op);
	for (e = graph_op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];

		if (edge->task == GRAPH_NONE)
			group_take(&edges->latch_waiters, edge->index, op);
		else
			group_take(&edges->waiters, edges->first[edge->task] + edge->index, op);
	}
}

static void take_all(struct around_edges *edges)
{
	u32 task, i;

	for (task = 0; task < edges->graph->task_count; task++)
		for (i = 0; i < edges->graph->tasks[task].op_count; i++)
			take_op(edges, edges->first[task] + i, &edges->graph->tasks[task].ops[i]);
}

/* From numbers of members to their places. */
static int groups_sum(struct around_groups *groups, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		groups->first[i + 1] += groups->first[i];
	groups->members = calloc(groups->first[count] + 1ul, sizeof(*groups->members));
	return groups->members ? 0 : -ENOMEM;
}

/* Each first member was moved behind its group. */
static void groups_rewind(struct around_groups *groups, u32 count)
{
	u32 i;

	for (i = count; i-- > 0;)
		groups->first[i + 1] = groups->first[i];
	groups->first[0] = 0;
}

static int groups_make(struct around_edges *edges)
{
	u32 latches = edges->graph->latch_count;

	edges->waiters.first = calloc(edges->count + 2ul, sizeof(u32));
	edges->signals.first = calloc(latches + 2ul, sizeof(u32));
	edges->latch_waiters.first = calloc(latches + 2ul, sizeof(u32));
	if (!edges->waiters.first || !edges->signals.first || !edges->latch_waiters.first)
		return -ENOMEM;
	take_all(edges);
	if (groups_sum(&edges->waiters, edges->count) || groups_sum(&edges->signals, latches) ||
	    groups_sum(&edges->latch_waiters, latches))
		return -ENOMEM;
	take_all(edges);
	groups_rewind(&edges->waiters, edges->count);
	groups_rewind(&edges->signals, latches);
	groups_rewind(&edges->latch_waiters, latches);
	return 0;
}

/* -- waits ------------------------------------------------------------------------------------------------ */

static int waits_make(struct around_edges *edges)
{
	const struct graph *graph = edges->graph;
	u32 task, i;

	edges->waits = calloc(edges->count + 1ul, sizeof(*edges->waits));
	edges->opened_ns = graph_latches_opened(graph);
	if (!edges->waits || !edges->opened_ns)
		return -ENOMEM;
	for (task = 0; task < graph->task_count; task++) {
		const struct graph_task *t = &graph->tasks[task];
		u64 since_ns = t->begin_ns;

		for (i = 0; i < t->op_count; i++) {
			u64 free_ns = graph_op_free_ns(graph, &t->ops[i], edges->opened_ns);

			edges->waits[edges->first[task] + i] = graph_op_wait(graph, &t->ops[i], since_ns, edges->opened_ns);
			if (free_ns > since_ns)
				since_ns = free_ns;
		}
	}
	return 0;
}

/**
 * around_edges_open() - make the tables of a graph
 * @edges: all zero; to be closed, also after an error
 * @graph: after all passes; must live as long as @edges
 *
 * Return: 0 or -ENOMEM.
 */
int around_edges_open(struct around_edges *edges, const struct graph *graph)
{
	u32 task;
	int err;

	edges->graph = graph;
	edges->first = calloc(graph->task_count + 1ul, sizeof(*edges->first));
	if (!edges->first)
		return -ENOMEM;
	for (task = 0; task < graph->task_count; task++) {
		edges->first[task] = edges->count;
		edges->count += graph->tasks[task].op_count;
	}
	edges->first[task] = edges->count;
	err = groups_make(edges);
	return err ? err : waits_make(edges);
}

/**
 * around_edges_close() - free the tables
 */
void around_edges_close(struct around_edges *edges)
{
	free(edges->first);
	free(edges->waits);
	free(edges->opened_ns);
	free(edges->waiters.first);
	free(edges->waiters.members);
	free(edges->signals.first);
	free(edges->signals.members);
	free(edges->latch_waiters.first);
	free(edges->latch_waiters.members);
}

/* -- neighbours ------------------------------------------------------------------------------------------- */

static u64 after(u64 ns, u64 since_ns)
{
	return ns > since_ns ? ns - since_ns : 0;
}

/* How long the operation @op waited for one that ended at @end_ns. */
static u64 waited_ns(const struct around_edges *edges, u32 op, u64 end_ns)
{
	const struct op_wait *wait = &edges->waits[op];

	return after(end_ns < wait->end_ns ? end_ns : wait->end_ns, wait->begin_ns);
}

static int list_add(const struct around_edges *edges, struct around_edge_list *list, u32 before, u32 after_op, u32 cause, u32 op)
{
	u64 end_ns = around_edges_op(edges, before)->end_ns;
	struct around_edge *larger;

	if (list->count == list->room) {
		larger = reallocarray(list->edges, list->room ? 2ul * list->room : 64, sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		list->edges = larger;
		list->room = list->room ? 2 * list->room : 64;
	}
	list->edges[list->count++] = (struct around_edge){
		.op = op,
		.cause = cause,
		.waited_ns = cause == AROUND_CAUSE_TASK ? 0 : waited_ns(edges, after_op, end_ns),
		.distance_ns = after(around_edges_op(edges, after_op)->enter_ns, end_ns),
	};
	return 0;
}

/* The order of the task first, then the longest waits, then the nearest. */
static int compare_edges(const void *a, const void *b)
{
	const struct around_edge *x = a, *y = b;

	if ((x->cause == AROUND_CAUSE_TASK) != (y->cause == AROUND_CAUSE_TASK))
		return x->cause == AROUND_CAUSE_TASK ? -1 : 1;
	if (x->waited_ns != y->waited_ns)
		return x->waited_ns < y->waited_ns ? 1 : -1;
	if (x->distance_ns != y->distance_ns)
		return x->distance_ns < y->distance_ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

/* A task that signals a latch and waits for it waits for the others. */
static bool is_same_task(const struct around_edges *edges, u32 op, u32 other)
{
	return around_edges_task(edges, op) == around_edges_task(edges, other);
}

static int add_signals(const struct around_edges *edges, u32 op, const struct graph_edge *edge, struct around_edge_list *list)
{
	const struct around_groups *signals = &edges->signals;
	u32 i;
	int err = 0;

	for (i = signals->first[edge->index]; i < signals->first[edge->index + 1] && !err; i++)
		if (!is_same_task(edges, op, signals->members[i]))
			err = list_add(edges, list, signals->members[i], op, edge->cause, signals->members[i]);
	return err;
}

/**
 * around_edges_before() - the predecessors of an operation
 * @edges: of the graph
 * @op: number of the operation
 * @list: out: the operation before it in its task first, then those that it waited for longest; instead of a latch, all
 *	operations that signal it
 *
 * Return: 0 or -ENOMEM.
 */
int around_edges_before(const struct around_edges *edges, u32 op, struct around_edge_list *list)
{
	const struct graph *graph = edges->graph;
	int err = 0;
	u32 e;

	list->count = 0;
	if (op > edges->first[around_edges_task(edges, op)])
		err = list_add(edges, list, op - 1, op, AROUND_CAUSE_TASK, op - 1);
	for (e = around_edges_op(edges, op)->edges; e != GRAPH_NONE && !err; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];
		u32 before = edge->task == GRAPH_NONE ? AROUND_NONE : edges->first[edge->task] + edge->index;

		err = before == AROUND_NONE ? add_signals(edges, op, edge, list) :
					      list_add(edges, list, before, op, edge->cause, before);
	}
	if (list->count)
		qsort(list->edges, list->count, sizeof(*list->edges), compare_edges);
	return err;
}

/* The cause of an edge from an operation, or from a latch if @op is AROUND_NONE, to @waiter. */
static u32 cause_of(const struct around_edges *edges, u32 waiter, u32 op, u32 latch)
{
	const struct graph *graph = edges->graph;
	u32 e;

	for (e = around_edges_op(edges, waiter)->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];

		if (edge->task == GRAPH_NONE ? op == AROUND_NONE && edge->index == latch :
					       op == edges->first[edge->task] + edge->index)
			return edge->cause;
	}
	return AROUND_CAUSE_TASK; /* never: the waiter has the edge */
}

static int add_waiters(const struct around_edges *edges, u32 op, const struct around_groups *groups, u32 group, bool is_latch,
		       struct around_edge_list *list)
{
	u32 i;
	int err = 0;

	for (i = groups->first[group]; i < groups->first[group + 1] && !err; i++) {
		u32 waiter = groups->members[i];

		if (!is_latch || !is_same_task(edges, op, waiter))
			err = list_add(edges, list, op, waiter, cause_of(edges, waiter, is_latch ? AROUND_NONE : op, group), waiter);
	}
	return err;
}

/**
 * around_edges_after() - the successors of an operation
 * @edges: of the graph
 * @op: number of the operation
 * @list: out: the next operation of its task first, then those that waited longest for it; instead of a latch, all operations
 *	that wait for it
 *
 * Return: 0 or -ENOMEM.
 */
int around_edges_after(const struct around_edges *edges, u32 op, struct around_edge_list *list)
{
	const struct graph_op *graph_op = around_edges_op(edges, op);
	int err = 0;

	list->count = 0;
	if (op + 1 < edges->first[around_edges_task(edges, op) + 1])
		err = list_add(edges, list, op, op + 1, AROUND_CAUSE_TASK, op + 1);
	if (!err)
		err = add_waiters(edges, op, &edges->waiters, op, false, list);
	if (!err && graph_op->kind == IOT_PLAY_signal && graph_op->latch)
		err = add_waiters(edges, op, &edges->latch_waiters, (u32)graph_op->latch - 1, true, list);
	if (list->count)
		qsort(list->edges, list->count, sizeof(*list->edges), compare_edges);
	return err;
}

/* The operation that opened a latch. */
static u32 last_signal(const struct around_edges *edges, u32 latch)
{
	const struct around_groups *signals = &edges->signals;
	u32 i, last = AROUND_NONE;

	for (i = signals->first[latch]; i < signals->first[latch + 1]; i++)
		if (last == AROUND_NONE ||
		    around_edges_op(edges, signals->members[i])->end_ns > around_edges_op(edges, last)->end_ns)
			last = signals->members[i];
	return last;
}

/**
 * around_edges_binding() - the predecessor that determined when an operation could begin or end
 * @edges: of the graph
 * @op: number of the operation
 * @is_crossed: out: it is not the operation before it in its task
 *
 * Return: the operation that it waited for longest; if it did not wait, the one before it in its task; of the end of a request,
 * the later one of its submission and the end of the request before; AROUND_NONE if there is none.
 */
u32 around_edges_binding(const struct around_edges *edges, u32 op, bool *is_crossed)
{
	const struct graph *graph = edges->graph;
	u32 task = around_edges_task(edges, op), latest = AROUND_NONE, e;
	bool is_first = op == edges->first[task], is_request = graph->tasks[task].queue_of != GRAPH_NONE;
	u64 latest_ns = is_first ? 0 : is_request ? around_edges_op(edges, op - 1)->end_ns : edges->waits[op].begin_ns;

	for (e = around_edges_op(edges, op)->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		const struct graph_edge *edge = &graph->edges[e];
		u64 end_ns = graph_edge_ends(graph, edge, edges->opened_ns);

		if (end_ns <= latest_ns || (!is_first && !is_request && !waited_ns(edges, op, end_ns)))
			continue;
		latest_ns = end_ns;
		latest = edge->task == GRAPH_NONE ? last_signal(edges, edge->index) : edges->first[edge->task] + edge->index;
	}
	*is_crossed = latest != AROUND_NONE;
	return *is_crossed ? latest : is_first ? AROUND_NONE : op - 1;
}
