// SPDX-License-Identifier: GPL-2.0-only
/*
 * asleep.c - sleep of unknown cause during operations of other tasks.
 *
 * A task that sleeps between two operations may wait for another task: for a pipe, a socket or a lock in memory. Unless
 * the trace contains the wake-up, this wait is think time, although it becomes shorter on a faster storage. Such a wait
 * overlaps with operations of the other task. So the part of all pauses that overlaps with any operation of the
 * trace is the most that may depend on the storage.
 *
 * The time of all operations is a row of spans that do not overlap, in the order of time. Time: of the order of n log m, for
 * n operations of m tasks.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "analyse/graph/spill.h"
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

/**
 * struct spans - all spans
 * @spill: has them, if they are many
 * @is_sorted: they are in the order of time
 */
struct spans {
	struct spill *spill;
	struct span *list;
	size_t count;
	size_t room;
	bool is_sorted;
};

/**
 * struct row - the operations of a task, which are in the order in which they began, but for few
 * @ops: the next one
 * @end: behind the last one
 */
struct row {
	const struct graph_op *ops;
	const struct graph_op *end;
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

/* Nearly always the span begins no earlier than those before it. Return: 0 or -ENOMEM. */
static int span_add(struct spans *spans, u64 begin_ns, u64 end_ns)
{
	struct span *last = spans->count ? &spans->list[spans->count - 1] : NULL;

	if (last && begin_ns >= last->begin_ns && begin_ns <= last->end_ns) {
		if (end_ns > last->end_ns)
			last->end_ns = end_ns;
		return 0;
	}
	spans->is_sorted &= !last || begin_ns >= last->begin_ns;
	if (spans->count == spans->room) {
		size_t room = spans->room ? 2 * spans->room : 64;
		struct span *list = spill_resize(spans->spill, spans->list, spans->room * sizeof(*list), room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		spans->list = list;
		spans->room = room;
	}
	spans->list[spans->count++] = (struct span){ begin_ns, end_ns, 0 };
	return 0;
}

/* The first of two rows is the one whose next operation began first. */
static void sift_down(struct row *rows, size_t count, size_t at)
{
	const struct row row = rows[at];
	size_t child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && rows[child + 1].ops->enter_ns < rows[child].ops->enter_ns)
			child++;
		if (row.ops->enter_ns <= rows[child].ops->enter_ns)
			break;
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = row;
}

/* Waits for requests are known, so those of request queues do not count. Return: number of rows. */
static size_t make_rows(const struct graph *graph, struct row *rows)
{
	size_t count = 0, at;
	u32 i;

	for (i = 0; i < graph->task_count; i++) {
		const struct graph_task *t = &graph->tasks[i];

		if (t->op_count && t->queue_of == GRAPH_NONE)
			rows[count++] = (struct row){ t->ops, t->ops + t->op_count };
	}
	for (at = count / 2; at-- > 0;)
		sift_down(rows, count, at);
	return count;
}

static int gather(const struct graph *graph, struct spans *spans)
{
	struct row *rows = malloc((graph->task_count + 1ul) * sizeof(*rows));
	size_t count = rows ? make_rows(graph, rows) : 0;
	int err = rows ? 0 : -ENOMEM;

	while (count && !err) {
		const struct graph_op *op = rows[0].ops++;

		if (graph_is_io(op))
			err = span_add(spans, op->enter_ns, op->end_ns);
		if (rows[0].ops == rows[0].end)
			rows[0] = rows[--count];
		if (count)
			sift_down(rows, count, 0);
	}
	free(rows);
	if (!spans->is_sorted)
		qsort(spans->list, spans->count, sizeof(*spans->list), compare);
	spans->count = join(spans->list, spans->count);
	return err;
}

/* The part of all spans that is before a time. @at: the search begins there; out: number of spans that began before */
static u64 busy_ns(const struct spans *spans, size_t *at, u64 ns)
{
	size_t low = *at, step = 1, high;
	const struct span *last;

	if (low && spans->list[low - 1].begin_ns >= ns)
		low = 0;
	while (low + step < spans->count && spans->list[low + step].begin_ns < ns) {
		low += step;
		step *= 2;
	}
	high = low + step < spans->count ? low + step : spans->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->list[middle].begin_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	if (!low)
		return 0;
	last = &spans->list[low - 1];
	return last->before_ns + (ns < last->end_ns ? ns : last->end_ns) - last->begin_ns;
}

/* An end is not an operation on files. Pauses before waits are those for a CPU. */
static bool is_pause(const struct graph_op *op)
{
	return op->pause_ns >= PAUSE_MIN_NS && op->kind != IOT_KIND_exit && op->kind != IOT_PLAY_wait;
}

/* Pauses of a task follow each other, so the search for one begins at the one before it. */
static u64 asleep_of(const struct graph_task *t, const struct spans *spans)
{
	size_t at = 0;
	u64 sum_ns = 0, before_ns;
	u32 i;

	for (i = 0; i < t->op_count; i++) {
		const struct graph_op *op = &t->ops[i];

		if (!is_pause(op))
			continue;
		before_ns = busy_ns(spans, &at, op->enter_ns - op->pause_ns);
		sum_ns += busy_ns(spans, &at, op->enter_ns) - before_ns;
	}
	return sum_ns;
}

/**
 * graph_sum_asleep() - how long tasks slept for an unknown reason while others were in operations
 * @graph: with think times; its asleep_ns is set
 *
 * Return: 0 or -ENOMEM.
 */
int graph_sum_asleep(struct graph *graph)
{
	struct spans spans = { .spill = graph->spill, .is_sorted = true };
	int err = gather(graph, &spans);
	u32 i;

	for (i = 0; i < graph->task_count && !err; i++)
		graph->asleep_ns += asleep_of(&graph->tasks[i], &spans);
	spill_free(spans.spill, spans.list, spans.room * sizeof(*spans.list));
	return err;
}
