// SPDX-License-Identifier: GPL-2.0-only
/*
 * clocks.c - one time for several nodes: a line for each clock, and corrections where no line keeps
 * the order.
 *
 * The input is a list of meetings: some nodes did something (sent a message, reached a barrier),
 * and on other nodes something ended that cannot have ended earlier.
 */
#include "clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clocks_state.h"

/**
 * clocks_open() - nothing is known yet
 * @nodes: their number, at least one
 * @clocks: out: to be freed by clocks_close()
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_open(u32 nodes, struct clocks **clocks)
{
	struct clocks *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->node_count = nodes;
	c->nodes = calloc(nodes, sizeof(*c->nodes));
	c->bounds = calloc((size_t)nodes * nodes, sizeof(*c->bounds));
	*clocks = c;
	if (c->nodes && c->bounds)
		return 0;
	clocks_close(c);
	return -ENOMEM;
}

/**
 * clocks_close() - free; NULL is allowed
 */
void clocks_close(struct clocks *clocks)
{
	size_t i;

	if (!clocks)
		return;
	for (i = 0; clocks->nodes && i < clocks->node_count; i++) {
		free(clocks->nodes[i].knots);
		free(clocks->nodes[i].events);
	}
	for (i = 0; clocks->bounds && i < (size_t)clocks->node_count * clocks->node_count; i++)
		free(clocks->bounds[i].hull);
	free(clocks->nodes);
	free(clocks->bounds);
	free(clocks->events);
	free(clocks->meetings);
	free(clocks);
}

/**
 * clocks_guess() - add a reading of both clocks of a node at one moment
 *
 * Used where messages give no better bound. The first reading of a node counts.
 */
void clocks_guess(struct clocks *clocks, u32 node, u64 mono_ns, u64 real_ns)
{
	struct clock_node *n = &clocks->nodes[node];

	if (n->has_guess)
		return;
	n->has_guess = true;
	n->guess_mono_ns = mono_ns;
	n->guess_real_ns = real_ns;
}

/**
 * clocks_meeting() - something that two nodes or more have to do with
 * @meeting: out: its number
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_meeting(struct clocks *clocks, u32 *meeting)
{
	if (clocks->meeting_count == clocks->meeting_room) {
		u32 room = clocks->meeting_room ? 2 * clocks->meeting_room : 1024;
		struct clock_meeting *bigger = reallocarray(clocks->meetings, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		clocks->meetings = bigger;
		clocks->meeting_room = room;
	}
	clocks->meetings[clocks->meeting_count] = (struct clock_meeting){};
	*meeting = clocks->meeting_count++;
	return 0;
}

static int add_event(struct clocks *clocks, const struct clock_event *event)
{
	if (clocks->event_count == clocks->event_room) {
		u32 room = clocks->event_room ? 2 * clocks->event_room : 4096;
		struct clock_event *bigger = reallocarray(clocks->events, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		clocks->events = bigger;
		clocks->event_room = room;
	}
	clocks->events[clocks->event_count++] = *event;
	clocks->nodes[event->node].event_count++;
	return 0;
}

/**
 * clocks_arrive() - a rank entered a meeting: calls of the meeting end later
 * @meeting: the last one that was made
 * @time_ns: by the node's clock
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_arrive(struct clocks *clocks, u32 meeting, u32 node, u64 time_ns)
{
	const struct clock_event event = { .time_ns = time_ns, .node = node, .meeting = meeting };

	clocks->meetings[meeting].missing++;
	return add_event(clocks, &event);
}

/**
 * clocks_leave() - a call ended in a meeting: after all arrivals of other nodes
 * @meeting: the last one that was made; all have arrived
 * @time_ns: by the node's clock
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_leave(struct clocks *clocks, u32 meeting, u32 node, u64 time_ns)
{
	const struct clock_event end = {
		.time_ns = time_ns, .node = node, .meeting = meeting, .is_end = true,
	};
	u32 i;
	int err = 0;

	for (i = clocks->event_count; i > 0 && clocks->events[i - 1].meeting == meeting && !err; i--) {
		const struct clock_event *other = &clocks->events[i - 1];

		if (other->is_end || other->node == node)
			continue;
		err = clock_bounds_add(&clocks->bounds[other->node * clocks->node_count + node],
				       other->time_ns, time_ns);
		clocks->nodes[node].fit.bounds++;
	}
	return err ? err : add_event(clocks, &end);
}

/**
 * clocks_fit() - find the time of the reference for each reading of each clock
 * @clocks: with all meetings
 * @reference: a node; even its own time is corrected where an end would precede its cause
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_fit(struct clocks *clocks, u32 reference)
{
	int err = clocks_fit_lines(clocks, reference);
	u32 i;

	for (i = 0; i < clocks->node_count && !err; i++) {
		struct clock_node *node = &clocks->nodes[i];

		node->fit.offset_ns = node->base_ns + (s64)floor(node->start_ns);
		node->fit.drift_ppb = (s64)llround(node->drift * 1e9);
	}
	return err ? err : clocks_correct(clocks);
}

/**
 * clocks_map() - the time of a reading
 * @clocks: after clocks_fit()
 * @time_ns: by the node's clock
 *
 * Return: by the clock of the reference; later readings of a node are never earlier.
 */
u64 clocks_map(const struct clocks *clocks, u32 node, u64 time_ns)
{
	u64 mapped_ns = clock_time_of(&clocks->nodes[node], time_ns);

	return (s64)mapped_ns < 0 ? 0 : mapped_ns;
}

/**
 * clocks_result() - how well a clock could be fitted
 */
const struct clock_fit *clocks_result(const struct clocks *clocks, u32 node)
{
	return &clocks->nodes[node].fit;
}

/**
 * clock_source_sentence() - the source of a clock fit
 */
const char *clock_source_sentence(enum clock_source source)
{
#define CLOCK_SOURCE_SENTENCE(name, sentence) [CLOCK_SOURCE_##name] = sentence,
	static const char *const sentences[] = { CLOCK_SOURCES(CLOCK_SOURCE_SENTENCE) };
#undef CLOCK_SOURCE_SENTENCE

	return sentences[source];
}
