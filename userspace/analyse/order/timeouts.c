// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeouts.c - waits that a timer ended and another task could have ended earlier.
 *
 * A task that waits with a time limit, as pthread_cond_timedwait(3) does, usually waits again in the same way until another task
 * wakes it. On a faster storage that task may be early enough to end a wait that a timer ended in the trace. So a replay of such a
 * wait lasts until the think time has passed, or until the next wake-up of the task out of the same system call has happened.
 * If the trace has no such wake-up, the wait is think time like any other.
 */
#include "analyse/graph/graph.h"
#include "order_passes.h"

#define CALLS 512 /* system calls have smaller numbers */

/* Assigns to each wait of a task the next wake-up; the last place of a system call in the trace is seen first. */
static void match(struct graph_task *t)
{
	u32 next[CALLS], i;

	for (i = 0; i < CALLS; i++)
		next[i] = GRAPH_NONE;
	for (i = t->op_count; i-- > 0;) {
		struct graph_op *op = &t->ops[i];

		if (op->kind != IOT_PLAY_wait || !op->call || op->call >= CALLS)
			continue;
		if (op->flags == WAIT_WOKEN)
			next[op->call] = op->event;
		else if (op->flags == WAIT_TIMED)
			op->event = next[op->call];
	}
}

/**
 * graph_timeouts_match() - find the wake-ups that would have ended waits before a timer did
 * @graph: without the wake-ups that order nothing, and nothing refers to operations by their place
 *
 * Waits without one are removed.
 */
void graph_timeouts_match(struct graph *graph)
{
	u32 i, j, count;

	for (i = 0; i < graph->task_count && graph->timeout_count; i++) {
		struct graph_task *t = &graph->tasks[i];

		match(t);
		for (j = 0, count = 0; j < t->op_count; j++)
			if (!graph_is_timed(&t->ops[j]) || t->ops[j].event != GRAPH_NONE)
				t->ops[count++] = t->ops[j];
		t->op_count = count;
	}
}
