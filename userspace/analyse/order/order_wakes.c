// SPDX-License-Identifier: GPL-2.0-only
/*
 * order_wakes.c - wake-ups from waits for pipes, sockets, locks in memory and ends of children, and waits that
 * delays in other runs showed.
 *
 * A wake-up is represented by an operation in each of the two tasks: a nop where the waker called, and a wait in the
 * woken task that waits for the nop. Operations before the wake-up, and those that they waited for, therefore precede
 * operations after the wait, also along a chain of tasks without file operations. The time until the wake-up
 * is think time of the waker, not of the task that waited.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "order_passes.h"

static bool is_left_out(const struct graph *graph, const struct graph_wake *wake)
{
	return graph->causes_left_out & (1u << wake->cause);
}

/**
 * graph_wakes_mark() - a task matters if it wakes one that does
 * @graph: some tasks have has_io
 *
 * Return: true if there are more of them now.
 */
bool graph_wakes_mark(struct graph *graph)
{
	bool is_more = false;
	u32 i;

	for (i = graph->wake_count; i-- > 0;) {
		const struct graph_wake *wake = &graph->wakes[i];

		if (is_left_out(graph, wake) || !graph->tasks[wake->woken].has_io || graph->tasks[wake->task].has_io)
			continue;
		graph->tasks[wake->task].has_io = true;
		is_more = true;
	}
	return is_more;
}

/**
 * graph_wakes_drop() - remove operations of wake-ups that order nothing
 * @graph: it is known which tasks matter, and nothing refers to operations by their place
 */
void graph_wakes_drop(struct graph *graph)
{
	u32 i, j, count;

	for (i = 0; i < graph->task_count && graph->wake_count; i++) {
		struct graph_task *t = &graph->tasks[i];

		for (j = 0, count = 0; j < t->op_count; j++) {
			const struct graph_op *op = &t->ops[j];

			if (graph_is_wake(op) &&
			    (is_left_out(graph, &graph->wakes[op->event]) ||
			     !graph->tasks[graph->wakes[op->event].woken].has_io))
				continue;
			t->ops[count++] = *op;
		}
		t->op_count = count;
	}
}

/*
 * The two ends of the edge. The kernel records no wake-up from inside an operation; if a trace has
 * one, the operation has not ended at that time, so no other can wait for it.
 */
static void find_ends(struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++) {
		u64 ended_ns = 0;

		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (graph_is_wake(op) && op->kind == IOT_PLAY_wait)
				graph->wakes[op->event].wait = j;
			else if (graph_is_wake(op) && ended_ns <= op->enter_ns)
				graph->wakes[op->event].nop = j;
			if (op->end_ns > ended_ns)
				ended_ns = op->end_ns;
		}
	}
}

/* When the last of those had arrived that a wait in an MPI call waits for; 0 if it waits for none. */
static u64 arrived_ns(const struct graph *graph, const struct graph_op *op, const u64 *opened_ns)
{
	u64 ns = 0;
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		u64 end_ns = graph_edge_ends(graph, &graph->edges[e], opened_ns);

		if (end_ns > ns)
			ns = end_ns;
	}
	return ns;
}

/* A wake-up, or the end of a task that this one made. */
static bool is_event_in_call(const struct graph_op *op)
{
	return op->kind == IOT_PLAY_wait && (op->flags == WAIT_WOKEN || op->flags == WAIT_ENDED);
}

/*
 * A task may be woken inside an MPI call: MPI_Finalize ends threads of the library, and joins them, when all ranks have
 * arrived. The record of the call ends later. If the last rank had arrived before the wake-up, the task waits for the
 * ranks first. No edge leads to a wait yet, so waits may still change places.
 */
static void wait_for_ranks_first(struct graph *graph, struct graph_task *t, u32 wait, const u64 *opened_ns)
{
	struct graph_mpi *mpi = &graph->mpi[t->ops[wait].event - 1];
	u64 ns = arrived_ns(graph, &t->ops[wait], opened_ns);

	for (; ns && wait; wait--) {
		struct graph_op *other = &t->ops[wait - 1], *op = &t->ops[wait], moved = *op;

		if (!is_event_in_call(other) || other->enter_ns < ns || other->enter_ns < mpi->enter_ns)
			break;
		moved.enter_ns = other->enter_ns;
		moved.end_ns = other->enter_ns;
		*op = *other;
		*other = moved;
		mpi->wait = wait - 1;
	}
}

static int order_mpi_waits(struct graph *graph)
{
	u64 *opened_ns = graph_latches_opened(graph);
	u32 i, j;

	if (!opened_ns)
		return -ENOMEM;
	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (op->kind == IOT_PLAY_wait && op->flags == WAIT_MPI)
				wait_for_ranks_first(graph, &graph->tasks[i], j, opened_ns);
		}
	free(opened_ns);
	return 0;
}

/**
 * graph_pass_wakes() - edges of wake-ups
 * @graph: after graph_pass_life(), which removes operations, and graph_pass_mpi() if there are MPI calls
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_wakes(struct graph *graph)
{
	u32 i;
	int err = 0;

	if (graph->wake_count && graph->mpi_count)
		err = order_mpi_waits(graph);
	if (graph->wake_count)
		find_ends(graph);
	for (i = 0; i < graph->wake_count && !err; i++) {
		const struct graph_wake *wake = &graph->wakes[i];

		if (wake->nop != GRAPH_NONE && wake->wait != GRAPH_NONE)
			err = graph_edge_add(graph, wake->task, wake->nop,
					     &graph->tasks[wake->woken].ops[wake->wait],
					     (enum edge_cause)wake->cause);
	}
	return err;
}
