// SPDX-License-Identifier: GPL-2.0-only
/*
 * effects.c - walk over the begins and ends of operations; see effects.h.
 *
 * The idea of ordering by results is that of checking a history for linearizability (Herlihy and
 * Wing, 1990; Wing and Gong, 1993): find an order of overlapping operations that explains what
 * each returned. Here one such order is enough, and what it does not need gets no edges; there is
 * no search: what is ambiguous is taken as it comes, and a result that nothing explains is let be.
 */
#include "effects.h"

#include <stdlib.h>

#include "walk.h"

#define DEPTH_MAX 1000 /* of operations that must have happened for each other; a trace may be hostile */

/**
 * effects_op() - an operation
 */
const struct graph_op *effects_op(const struct effects *e, struct deed_at at)
{
	return &e->graph->tasks[at.task].ops[at.index];
}

/**
 * effects_overlap() - had one not ended when another one began? Else the resources order them.
 */
bool effects_overlap(const struct effects *e, struct deed_at before, struct deed_at after)
{
	return effects_op(e, before)->end_ns >= effects_op(e, after)->enter_ns;
}

/**
 * effects_wait() - an operation waits for another one, which happened before
 */
void effects_wait(struct effects *e, struct deed_at before, struct deed_at after,
		  enum edge_cause cause)
{
	struct graph_op *op = &e->graph->tasks[after.task].ops[after.index];

	if (e->err || before.task == after.task || (e->graph->causes_left_out & (1u << cause)))
		return;
	e->err = graph_edge_add(e->graph, before.task, before.index, op, cause);
}

/**
 * effects_order() - if two overlapped, the second waits for the first; else the resources see to it
 * @before: task GRAPH_NONE: nothing
 */
void effects_order(struct effects *e, struct deed_at before, struct deed_at after,
		   enum edge_cause cause)
{
	if (before.task != GRAPH_NONE && effects_overlap(e, before, after))
		effects_wait(e, before, after, cause);
}

/**
 * effects_room() - room for one more in an array
 * @array: or NULL
 * @count: how many it has
 * @room: in and out: for how many
 * @bytes: of an element
 *
 * Return: the array, which may have moved; on failure e->err is set and it is what it was.
 */
void *effects_room(struct effects *e, void *array, u32 count, u32 *room, size_t bytes)
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
 * effects_happen() - an operation that is under way happens, if it has not
 */
void effects_happen(struct effects *e, struct effect *x)
{
	if (e->err || x->has_happened || x->is_happening || e->depth == DEPTH_MAX)
		return;
	e->depth++;
	x->is_happening = true;
	if (x->locks)
		locks_happen(e, x);
	else
		names_happen(e, x);
	x->is_happening = false;
	x->has_happened = true;
	e->depth--;
}

static int begin(void *context, u32 task, u32 index)
{
	struct effects *e = context;
	const struct graph_op *op = &e->graph->tasks[task].ops[index];
	struct effect *x = e->of_task[task];

	if (!e->graph->tasks[task].has_io || !graph_is_io(op))
		return 0;
	e->now_ns = op->enter_ns > e->now_ns ? op->enter_ns : e->now_ns;
	if (!x) {
		x = malloc(sizeof(*x));
		if (!x)
			return -ENOMEM;
		e->of_task[task] = x;
	}
	x->at = (struct deed_at){ task, index };
	x->begun = e->count;
	x->has_happened = false;
	x->is_happening = false;
	x->is_change = false;
	x->locks = NULL;
	x->claim_count = 0;
	locks_begin(e, x);
	if (op->path && (e->graph->rules & ORDER_BIT(found)))
		names_begin(e, x);
	sizes_begin(e, x);
	return e->err ? e->err : x->locks || x->claim_count || x->size;
}

static int leave(void *context, u32 task, u32 index)
{
	struct effects *e = context;

	if (e->graph->tasks[task].ops[index].end_ns > e->now_ns)
		e->now_ns = e->graph->tasks[task].ops[index].end_ns;
	effects_happen(e, e->of_task[task]);
	return e->err;
}

/**
 * graph_pass_effects() - edges between operations that overlapped, as their results demand
 * @graph: with the edges of life and messages
 *
 * Those of locks, whether they overlapped or not.
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_effects(struct graph *graph)
{
	struct effects e = { .graph = graph };
	u32 i;

	if (!(graph->rules & ~ORDER_BIT(mpi)))
		return 0;
	e.of_task = calloc(graph->task_count + 1, sizeof(struct effect *));
	if (!e.of_task)
		return -ENOMEM;
	e.err = names_open(&e);
	if (!e.err)
		e.err = sizes_open(&e);
	if (!e.err)
		e.err = graph_walk_spans(graph, begin, leave, &e);
	names_close(&e);
	sizes_close(&e);
	locks_close(&e);
	for (i = 0; i < graph->task_count; i++)
		free(e.of_task[i]);
	free(e.of_task);
	return e.err;
}
