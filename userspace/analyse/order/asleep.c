// SPDX-License-Identifier: GPL-2.0-only
/*
 * asleep.c - sleep of unknown cause during operations of other tasks.
 *
 * A task that sleeps between two operations may wait for another task: for a pipe, a socket or a lock in memory. Unless
 * the trace contains the wake-up, this wait is think time, although it becomes shorter on a faster storage. Such a wait
 * overlaps with operations of the other task. So the part of all pauses that overlaps with any operation of the
 * trace is the most that may depend on the storage.
 *
 * The time of all operations is a row of spans that do not overlap, in the order of time. Time and memory: of the order
 * of n log n and of n, for n operations.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "order_passes.h"

#define PAUSE_MIN_NS 1000000 /* a shorter pause may be a wait for a CPU */

/**
 * struct span - a time in which at least one operation was under way
 * @before_ns: length of all earlier spans
 */
struct span {
	u64 begin_ns;
	u64 end_ns;
	u64 before_ns;
};

static int compare(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Joins spans that overlap. Return: the number that is left. */
static size_t join(struct span *spans, size_t count)
{
	size_t i, left = 0;

	for (i = 0; i < count; i++) {
		struct span *last = left ? &spans[left - 1] : NULL;

		if (last && spans[i].begin_ns <= last->end_ns) {
			if (spans[i].end_ns > last->end_ns)
				last->end_ns = spans[i].end_ns;
			continue;
		}
		spans[left] = spans[i];
		spans[left++].before_ns = last ? last->before_ns + last->end_ns - last->begin_ns : 0;
	}
	return left;
}

static size_t count_ops(const struct graph *graph)
{
	size_t count = 0;
	u32 i;

	for (i = 0; i < graph->task_count; i++)
		count += graph->tasks[i].op_count;
	return count;
}

/* Waits for requests are known, so those of request queues do not count. */
static size_t gather(const struct graph *graph, struct span *spans)
{
	size_t count = 0;
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (graph_is_io(op) && graph->tasks[i].queue_of == GRAPH_NONE)
				spans[count++] = (struct span){ op->enter_ns, op->end_ns, 0 };
		}
	qsort(spans, count, sizeof(*spans), compare);
	return join(spans, count);
}

/* The part of all spans that is before a time. */
static u64 busy_ns(const struct span *spans, size_t count, u64 ns)
{
	size_t low = 0, high = count;
	const struct span *last;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans[middle].begin_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	last = &spans[low - 1];
	return last->before_ns + (ns < last->end_ns ? ns : last->end_ns) - last->begin_ns;
}

/* An end is not an operation on files. Pauses before waits are those for a CPU. */
static bool is_pause(const struct graph_op *op)
{
	return op->pause_ns >= PAUSE_MIN_NS && op->kind != IOT_KIND_exit && op->kind != IOT_PLAY_wait;
}

/**
 * graph_sum_asleep() - how long tasks slept for an unknown reason while others were in operations
 * @graph: with think times; its asleep_ns is set
 *
 * Return: 0 or -ENOMEM.
 */
int graph_sum_asleep(struct graph *graph)
{
	size_t count = count_ops(graph);
	struct span *spans = malloc((count + 1) * sizeof(*spans));
	u32 i, j;

	if (!spans)
		return -ENOMEM;
	count = gather(graph, spans);
	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++) {
			const struct graph_op *op = &graph->tasks[i].ops[j];

			if (is_pause(op))
				graph->asleep_ns += busy_ns(spans, count, op->enter_ns) -
						    busy_ns(spans, count, op->enter_ns - op->pause_ns);
		}
	free(spans);
	return 0;
}
