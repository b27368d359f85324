// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear.c - walk over the begins and ends of operations; see linear.h.
 *
 * The idea of ordering by results is that of checking a history for linearizability (Herlihy and
 * Wing, 1990; Wing and Gong, 1993): find an order of overlapping operations that explains the
 * result of each. One such order is sufficient here, and only the order that it needs becomes edges. Ambiguous
 * operations are taken in the order of the traversal; only if a result then has no explanation, the
 * last operations are searched (linear_search.c). Results without any explanation are counted and
 * left.
 */
#include "linear.h"

#include <stdlib.h>

#include "analyse/graph/tree.h"
#include "analyse/graph/causal.h"
#include "order_passes.h"

#define DEPTH_MAX 1000 /* of operations that must have happened for each other; a trace may be hostile */

/**
 * linear_graph_op() - an operation
 */
const struct graph_op *linear_graph_op(const struct linear *e, struct op_at at)
{
	return &e->graph->tasks[at.task].ops[at.index];
}

/**
 * linear_begun_ns() - when an operation began; of the end of a request, when that was submitted
 */
u64 linear_begun_ns(const struct linear *e, struct op_at at)
{
	const struct graph_op *op = linear_graph_op(e, at);
	const struct graph_edge *edge;

	if (op->kind != IOT_KIND_complete || op->edges == GRAPH_NONE)
		return op->enter_ns;
	edge = &e->graph->edges[op->edges]; /* it has no other */
	return linear_graph_op(e, (struct op_at){ edge->task, edge->index })->enter_ns;
}

/**
 * linear_overlap() - had one not ended when another one began? Else the resources order them.
 */
bool linear_overlap(const struct linear *e, struct op_at before, struct op_at after)
{
	return linear_graph_op(e, before)->end_ns >= linear_graph_op(e, after)->enter_ns;
}

/**
 * linear_is_under_way() - has an operation not ended? It may have happened, for another one.
 */
bool linear_is_under_way(const struct linear *e, struct op_at at)
{
	return linear_graph_op(e, at)->end_ns > e->now_ns;
}

/**
 * linear_wait() - an operation waits for another one, which happened before
 */
void linear_wait(struct linear *e, struct op_at before, struct op_at after,
		  enum edge_cause cause)
{
	struct graph_op *op = &e->graph->tasks[after.task].ops[after.index];

	if (e->err || before.task == after.task || !(e->causes & (1u << cause)))
		return;
	e->err = graph_edge_add(e->graph, before.task, before.index, op, cause);
}

/*
 * A request takes effect some time before it ends: an operation that observed the effect and ended
 * first cannot wait for the end of the request, or it would come after everything that followed the
 * request.
 */
static bool can_wait(const struct graph_op *before, const struct graph_op *after)
{
	return before->kind != IOT_KIND_complete || before->end_ns <= after->end_ns;
}

/**
 * linear_order() - if two overlapped, the second waits for the first; else the resources see to it
 * @before: task GRAPH_NONE: nothing
 */
void linear_order(struct linear *e, struct op_at before, struct op_at after,
		   enum edge_cause cause)
{
	if (before.task != GRAPH_NONE && linear_overlap(e, before, after) &&
	    can_wait(linear_graph_op(e, before), linear_graph_op(e, after)))
		linear_wait(e, before, after, cause);
}

/**
 * linear_room() - room for one more in an array
 * @array: or NULL
 * @count: number of elements
 * @room: in and out: for how many
 * @bytes: of an element
 *
 * Return: the array, which may have moved; on failure the old array, and e->err is set.
 */
void *linear_room(struct linear *e, void *array, u32 count, u32 *room, size_t bytes)
{
	u32 more = *room ? 2 * *room : 2;
	void *larger;

	if (count < *room)
		return array;
	larger = reallocarray(array, more, bytes);
	if (!larger) {
		e->err = -ENOMEM;
		return array;
	}
	*room = more;
	return larger;
}

/**
 * linear_happen() - an operation that is under way happens, if it has not
 */
void linear_happen(struct linear *e, struct linear_op *x)
{
	if (e->err || x->has_happened || x->is_happening || e->depth == DEPTH_MAX)
		return;
	e->depth++;
	x->is_happening = true;
	if (x->locks)
		locks_happen(e, x);
	else
		states_happen(e, x);
	x->is_happening = false;
	x->has_happened = true;
	e->depth--;
	if (e->tree)
		tree_happened(e->tree, e->graph->tasks[x->at.task].id, linear_graph_op(e, x->at)->number);
}

static int begin(void *context, u32 task, u32 index)
{
	struct linear *e = context;
	const struct graph_op *op = &e->graph->tasks[task].ops[index];
	const u64 begun_ns = linear_begun_ns(e, (struct op_at){ task, index });
	struct linear_op *x = e->of_task[task];

	if (!e->graph->tasks[task].has_io || !graph_is_io(op))
		return 0;
	e->now_ns = begun_ns > e->now_ns ? begun_ns : e->now_ns;
	if (!x) {
		x = malloc(sizeof(*x));
		if (!x)
			return -ENOMEM;
		e->of_task[task] = x;
	}
	x->at = (struct op_at){ task, index };
	x->begun = e->count;
	x->has_happened = false;
	x->is_happening = false;
	x->is_change = false;
	x->locks = NULL;
	x->observation_count = 0;
	locks_begin(e, x);
	if (e->is_made)
		names_begin(e, x);
	sizes_begin(e, x);
	return e->err ? e->err : x->locks || x->observation_count || x->size;
}

static int leave(void *context, u32 task, u32 index)
{
	struct linear *e = context;

	if (e->graph->tasks[task].ops[index].end_ns > e->now_ns)
		e->now_ns = e->graph->tasks[task].ops[index].end_ns;
	linear_happen(e, e->of_task[task]);
	return e->err;
}

/* Which edges the rules ask for: those of locks always, if there are rules. */
static u32 causes_of(const struct graph *graph)
{
	const u32 locks = 1u << EDGE_lock;
	u32 causes = graph->rules & ~ORDER_WAITS ? locks : 0;

	if (graph->rules & ORDER_BIT(found))
		causes = ~0u;
	return causes & ~graph->causes_left_out;
}

/* Inputs and results of one walk. */
static int walk_once(struct linear *e, struct tree *tree)
{
	u32 i;

	e->of_task = calloc(e->graph->task_count + 1, sizeof(struct linear_op *));
	if (!e->of_task)
		return -ENOMEM;
	if (e->tree || (e->graph->rules & ORDER_BIT(found)))
		e->err = names_open(e, tree);
	if (!e->err && (e->graph->rules & ORDER_BIT(found)))
		e->err = sizes_open(e, tree);
	searches_begin(e);
	if (!e->err)
		e->err = causal_traverse_spans(e->graph, begin, leave, e);
	names_close(e);
	sizes_close(e);
	locks_close(e);
	for (i = 0; i < e->graph->task_count; i++)
		free(e->of_task[i]);
	free(e->of_task);
	return e->err;
}

/* Take back the edges that a walk has made: they are the first of their operations. */
static void take_back(struct graph *graph, u32 edge_count, const u64 *by_cause)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			u32 *edges = &graph->tasks[i].ops[j].edges;

			while (*edges != GRAPH_NONE && *edges >= edge_count)
				*edges = graph->edges[*edges].next;
		}
	graph->edge_count = edge_count;
	memcpy(graph->edges_by_cause, by_cause, sizeof(graph->edges_by_cause));
}

static int linearize(struct linear *e, struct tree *tree)
{
	const struct linear fresh = *e;
	struct graph *graph = e->graph;
	const u32 edge_count = graph->edge_count;
	u64 by_cause[EDGE_CAUSE_COUNT];
	struct searches *searches;
	int err = searches_open(e);

	memcpy(by_cause, graph->edges_by_cause, sizeof(by_cause));
	if (!err)
		err = walk_once(e, tree);
	while (err == -EAGAIN && e->is_to_begin_anew) {
		searches = e->searches;
		*e = fresh;
		e->searches = searches;
		take_back(graph, edge_count, by_cause);
		if (e->tree)
			tree_begin_anew(e->tree);
		err = walk_once(e, tree);
	}
	graph->unexplained = e->unexplained;
	searches_close(e);
	return err;
}

/*
 * The initial state follows from the order of a traversal, but that traversal had to guess it, and
 * the number of names in directories. So the edges come from a second traversal, which knows both.
 */
static int settle(struct graph *graph, struct tree *tree)
{
	struct linear e = { .graph = graph, .tree = tree }; /* no causes: no edges */
	int err = linearize(&e, tree);

	tree_settle(tree);
	return err;
}

/**
 * graph_pass_linear() - edges between operations that overlapped, as their results demand
 * @graph: with the edges of life and messages
 * @tree: initial tree; names that operations observed in different states while they
 *	overlapped are settled, whatever the rules are. NULL: no tree
 *
 * Those of locks, whether they overlapped or not.
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_linear(struct graph *graph, struct tree *tree)
{
	bool is_disputed = tree && tree_is_disputed(tree);
	struct linear e = { .graph = graph, .causes = causes_of(graph) };
	int err = is_disputed ? settle(graph, tree) : 0;

	return err || !(graph->rules & ~ORDER_WAITS) ? err : linearize(&e, tree);
}
