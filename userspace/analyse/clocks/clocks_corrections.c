// SPDX-License-Identifier: GPL-2.0-only
/*
 * clocks_corrections.c - corrections of times where no line keeps the order.
 *
 * A clock that is adjusted while it runs is not linear. Where an end would come before its cause,
 * the time of its node jumps forward, and then runs a little slower until it is on the line again:
 * the controlled logical clock (Rabenseifner: The Controlled Logical Clock, 1997), here of a node
 * rather than of a process, because the processes of a node see each other's files and must keep
 * their order. So time never runs backward on a node, and an end comes after all its causes; only
 * if the bounds form a cycle is that impossible, and the end stays where it is.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clocks_state.h"

#define CATCH_UP    (1.0 / 128) /* of the time after a jump */

/* The last knot at or before a moment, NULL if there is none. */
static const struct clock_knot *knot_at(const struct clock_node *node, u64 time_ns)
{
	u32 low = 0, high = node->knot_count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (node->knots[middle].at_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &node->knots[low - 1] : NULL;
}

/**
 * clock_time_of() - the time of a reading
 *
 * All in one rounding: then later readings are never earlier times.
 */
u64 clock_time_of(const struct clock_node *node, u64 time_ns)
{
	const struct clock_knot *knot = knot_at(node, time_ns);
	double extra_ns = clock_line_extra_ns(node, time_ns);

	if (knot)
		extra_ns += fmax(0, knot->jump_ns - (double)(time_ns - knot->at_ns) * CATCH_UP);
	return time_ns + (u64)node->base_ns + (u64)(s64)floor(extra_ns);
}

static int add_knot(struct clock_node *node, u64 at_ns, double jump_ns)
{
	if (node->knot_count == node->knot_room) {
		u32 room = node->knot_room ? 2 * node->knot_room : 64;
		struct clock_knot *bigger = reallocarray(node->knots, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		node->knots = bigger;
		node->knot_room = room;
	}
	node->knots[node->knot_count++] = (struct clock_knot){ at_ns, jump_ns };
	return 0;
}

/* An end that would be too early: from it on, the node is later. */
static int correct(struct clock_node *node, u64 time_ns, u64 after_ns)
{
	u64 line_ns = clock_on_line(node, time_ns), now_ns = clock_time_of(node, time_ns);
	u64 jump_ns;

	if ((s64)(now_ns - after_ns) > 0)
		return 0;
	jump_ns = after_ns - line_ns + 2; /* one more than rounding can take away */
	node->fit.corrected++;
	if (jump_ns > node->fit.corrected_max_ns)
		node->fit.corrected_max_ns = jump_ns;
	return add_knot(node, time_ns, (double)jump_ns);
}

static int compare_events(const void *a, const void *b, void *context)
{
	const struct clocks *clocks = context;
	u32 i = *(const u32 *)a, j = *(const u32 *)b;
	const struct clock_event *x = &clocks->events[i], *y = &clocks->events[j];

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1; /* a knot counts from its own moment */
	return i < j ? -1 : i > j;
}

static int sort_events(struct clocks *clocks)
{
	u32 i;

	for (i = 0; i < clocks->node_count; i++) {
		struct clock_node *node = &clocks->nodes[i];

		node->events = calloc(node->event_count + 1, sizeof(*node->events));
		if (!node->events)
			return -ENOMEM;
		node->event_count = 0;
	}
	for (i = 0; i < clocks->event_count; i++) {
		struct clock_node *node = &clocks->nodes[clocks->events[i].node];

		node->events[node->event_count++] = i;
	}
	for (i = 0; i < clocks->node_count; i++)
		qsort_r(clocks->nodes[i].events, clocks->nodes[i].event_count, sizeof(u32),
			compare_events, clocks);
	return 0;
}

static void arrived(struct clocks *clocks, const struct clock_event *event)
{
	struct clock_meeting *meeting = &clocks->meetings[event->meeting];
	u64 time_ns = clock_time_of(&clocks->nodes[event->node], event->time_ns);

	meeting->missing--;
	if (!meeting->has_arrival || (s64)(time_ns - meeting->after_ns) > 0)
		meeting->after_ns = time_ns;
	meeting->has_arrival = true;
}

/* Give times to the events of a node, up to an end that others have still to arrive for. */
static int advance(struct clocks *clocks, struct clock_node *node, u32 *done)
{
	int err = 0;

	for (; node->next < node->event_count && !err; node->next++, ++*done) {
		const struct clock_event *event = &clocks->events[node->events[node->next]];
		const struct clock_meeting *meeting = &clocks->meetings[event->meeting];

		if (!event->is_end)
			arrived(clocks, event);
		else if (meeting->missing)
			break;
		else if (meeting->has_arrival)
			err = correct(node, event->time_ns, meeting->after_ns);
	}
	return err;
}

/* The waits form a cycle: the first end stops waiting. */
static void break_circle(struct clocks *clocks, u32 *done)
{
	struct clock_node *first = NULL;
	u64 first_ns = 0;
	u32 i;

	for (i = 0; i < clocks->node_count; i++) {
		struct clock_node *node = &clocks->nodes[i];
		u64 time_ns;

		if (node->next == node->event_count)
			continue;
		time_ns = clock_time_of(node, clocks->events[node->events[node->next]].time_ns);
		if (!first || (s64)(time_ns - first_ns) < 0) {
			first = node;
			first_ns = time_ns;
		}
	}
	first->next++;
	first->fit.contradicted++;
	++*done;
}

/**
 * clocks_correct() - give times to all events, in order
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_correct(struct clocks *clocks)
{
	u32 done = 0, before, i;
	int err = sort_events(clocks);

	while (done < clocks->event_count && !err) {
		before = done;
		for (i = 0; i < clocks->node_count && !err; i++)
			err = advance(clocks, &clocks->nodes[i], &done);
		if (done == before && !err)
			break_circle(clocks, &done);
	}
	return err;
}
