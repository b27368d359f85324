// SPDX-License-Identifier: GPL-2.0-only
/*
 * spans.c - events as beginnings and ends that nest, for formats of time lines.
 *
 * The operations of a task nest in each other or follow each other; asynchronous requests overlap. Each event goes to
 * the first lane of its task in which it nests.
 */
#include "spans.h"

#include <errno.h>
#include <stdlib.h>

#define LANES_MAX 1024 /* of a task; no queue is deeper, unless the trace is damaged */
#define NO_LANE	  UINT32_MAX

struct span {
	const struct export_kept *kept;
	u64 end_ns;
	u32 task;
	u32 lane;
};

/* Ends of events that are open in a lane, the innermost last. */
struct lane {
	u64 *ends_ns;
	size_t count;
	size_t room;
};

static u64 begin_of(const struct span *span)
{
	return span->kept->begin_ns;
}

static int compare_numbers(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* By task and beginning; of those that begin at once, the outer one is first. */
static int compare_begins(const void *a, const void *b)
{
	const struct span *p = a, *q = b;
	int order = compare_numbers(p->task, q->task);

	if (!order)
		order = compare_numbers(begin_of(p), begin_of(q));
	if (!order)
		order = compare_numbers(q->end_ns, p->end_ns);
	return order ? order : compare_numbers(p->kept->number, q->kept->number);
}

static int compare_lanes(const void *a, const void *b)
{
	const struct span *p = a, *q = b;
	int order = compare_numbers(p->task, q->task);

	if (!order)
		order = compare_numbers(p->lane, q->lane);
	return order ? order : compare_begins(a, b);
}

/* -- lanes ------------------------------------------------------------------------------------- */

static bool lane_has_room(struct lane *lane, const struct span *span)
{
	while (lane->count && lane->ends_ns[lane->count - 1] <= begin_of(span))
		lane->count--;
	return !lane->count || lane->ends_ns[lane->count - 1] >= span->end_ns;
}

static int lane_push(struct lane *lane, u64 end_ns)
{
	if (lane->count == lane->room) {
		size_t room = lane->room ? 2 * lane->room : 8;
		u64 *ends_ns = reallocarray(lane->ends_ns, room, sizeof(*ends_ns));

		if (!ends_ns)
			return -ENOMEM;
		lane->ends_ns = ends_ns;
		lane->room = room;
	}
	lane->ends_ns[lane->count++] = end_ns;
	return 0;
}

static int find_lane(struct lane *lanes, struct span *span)
{
	u32 lane = span->kept->record.kind == IOT_KIND_submit;

	while (lane < LANES_MAX && !lane_has_room(&lanes[lane], span))
		lane++;
	span->lane = lane < LANES_MAX ? lane : NO_LANE;
	return lane < LANES_MAX ? lane_push(&lanes[lane], span->end_ns) : 0;
}

static int find_lanes(struct span *spans, size_t count)
{
	struct lane *lanes = calloc(LANES_MAX, sizeof(*lanes));
	size_t i, k;
	int err = lanes ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i++) {
		for (k = 0; i && spans[i].task != spans[i - 1].task && k < LANES_MAX; k++)
			lanes[k].count = 0;
		err = find_lane(lanes, &spans[i]);
	}
	for (i = 0; lanes && i < LANES_MAX; i++)
		free(lanes[i].ends_ns);
	free(lanes);
	return err;
}

/* -- the walk ------------------------------------------------------------------------------------- */

/* Close all events that end at a time or before. */
static int close_until(struct export *x, const struct span_user *user, const struct span_line *line,
		       const struct span **open, size_t *depth, u64 time_ns)
{
	int err = 0;

	while (*depth && open[*depth - 1]->end_ns <= time_ns && !err) {
		const struct span *span = open[--*depth];
		struct export_event event = export_kept_event(x, span->kept);

		err = user->end(x, line, &event, span->end_ns);
	}
	return err;
}

static int walk_line(struct export *x, const struct span_user *user, const struct span_line *line,
		     const struct span *spans, size_t count, const struct span **open)
{
	size_t depth = 0, i;
	int err = user->line ? user->line(x, line) : 0;

	for (i = 0; i < count && !err; i++) {
		struct export_event event = export_kept_event(x, spans[i].kept);

		err = close_until(x, user, line, open, &depth, begin_of(&spans[i]));
		if (!err)
			err = user->begin(x, line, &event);
		open[depth++] = &spans[i];
	}
	if (!err)
		err = close_until(x, user, line, open, &depth, UINT64_MAX);
	return !err && user->line_end ? user->line_end(x, line) : err;
}

static int walk_lines(struct export *x, const struct span_user *user, const struct span *spans, size_t count)
{
	const struct span **open = calloc(count + 1, sizeof(*open));
	size_t i, n, number = 0;
	int err = open ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i += n) {
		struct span_line line = { .task = spans[i].task, .lane = spans[i].lane };

		for (n = 1; i + n < count && spans[i + n].task == line.task && spans[i + n].lane == line.lane; n++)
			;
		if (line.lane == NO_LANE) {
			for (; n; n--, i++) {
				struct export_event event = export_kept_event(x, spans[i].kept);

				export_lose(x, &event, "too many operations of their task overlap");
			}
			continue;
		}
		line.actor = actors_find(&x->actors, line.task);
		line.process = line.actor ? actor_process(line.actor) : line.task;
		line.number = number++;
		line.events = 2 * n;
		err = walk_line(x, user, &line, spans + i, n, open);
	}
	free(open);
	return err;
}

/**
 * spans_walk() - go through all events that were kept, line by line
 * @x: of a format that is ordered
 * @user: takes them
 *
 * Return: 0 or a negative errno.
 */
int spans_walk(struct export *x, const struct span_user *user)
{
	struct span *spans = calloc(x->kept_count + 1, sizeof(*spans));
	size_t i;
	int err;

	if (!spans)
		return -ENOMEM;
	for (i = 0; i < x->kept_count; i++) {
		const struct export_kept *kept = &x->kept[i];
		u64 end_ns = kept->begin_ns + kept->duration_ns;

		spans[i] = (struct span){ .kept = kept, .end_ns = end_ns >= kept->begin_ns ? end_ns : UINT64_MAX,
					  .task = iot_record_task(&kept->record) };
	}
	qsort(spans, x->kept_count, sizeof(*spans), compare_begins);
	err = find_lanes(spans, x->kept_count);
	if (!err) {
		qsort(spans, x->kept_count, sizeof(*spans), compare_lanes);
		err = walk_lines(x, user, spans, x->kept_count);
	}
	free(spans);
	return err;
}
