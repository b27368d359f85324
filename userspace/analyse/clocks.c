// SPDX-License-Identifier: GPL-2.0-only
/*
 * clocks.c - one time for several nodes: a line for each clock, and corrections of what no line
 * can keep in order.
 *
 * What is known are meetings: something was done on some nodes (a message was sent, a rank
 * came to a barrier), and something ended on others that cannot have ended before. Two clocks
 * differ by an offset and a drift, a line. A message one way is a point that the line must
 * pass on one side, a message the other way one on the other side. Between the convex hulls of
 * both sets lie the lines that keep all in order (Duda, Harrus, Haddad, Bernard: Estimating
 * Global Time in Distributed Systems, 1987). Of these the one is taken that is as far from
 * both hulls as can be, or one with half that distance and less drift: clocks differ by little.
 * With more than two nodes each is fitted to those that were before it, and then, some times
 * over, to all others.
 *
 * A clock that is corrected while it runs is no line. Where an end would come before what it
 * must follow, the time of its node jumps forward, and then runs a little slower until it is
 * on the line again: the controlled logical clock (Rabenseifner: The Controlled Logical Clock,
 * 1997), here of a node rather than of a process, because the processes of a node see each
 * other's files and must keep their order. So time never runs backward on a node, and an end
 * is after all that it must follow; only if what is known is a circle, that cannot be, and the
 * end stays where it is.
 *
 * Floating point is used for what is small beside a reading of a clock, and in one order, so
 * that the same events give the same times.
 */
#include "clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clock_bounds.h"

#define DRIFT_MAX   1e-3 /* twice what the kernel slews a clock by */
#define STEPS	    100	 /* of a search for a drift; each takes a third away */
#define SWEEPS	    6
#define CATCH_UP    (1.0 / 128) /* of the time after a jump */
#define FAR_NS	    1e12 /* from the base: from there on, double is not exact enough */
#define NO_NODE     (~0u)

/* From @at_ns on the node is @jump_ns off its line, and then less. */
struct knot {
	u64 at_ns;
	double jump_ns;
};

/**
 * struct node - a clock
 * @base_ns, @start_ns, @drift: what is added to a reading: the first, and a small part
 *	that is @start_ns at the origin
 * @events: indices of its events, in the order of its clock
 * @next: the first that has no time yet
 */
struct node {
	struct clock_fit fit;
	bool has_guess;
	bool is_fitted;
	u64 guess_mono_ns;
	u64 guess_real_ns;
	s64 base_ns;
	double start_ns;
	double drift;
	struct knot *knots;
	u32 knot_count;
	u32 knot_room;
	u32 *events;
	u32 event_count;
	u32 next;
};

struct event {
	u64 time_ns;
	u32 node;
	u32 meeting;
	bool is_end;
};

/* What ends in a meeting ends after @after_ns, which is known when nobody is @missing. */
struct meeting {
	u64 after_ns;
	u32 missing;
	bool has_arrival;
};

struct clocks {
	u32 node_count;
	struct node *nodes;
	struct clock_bounds *bounds; /* from each node to each */
	struct event *events;
	u32 event_count;
	u32 event_room;
	struct meeting *meetings;
	u32 meeting_count;
	u32 meeting_room;
};

/**
 * clocks_open() - nothing is known yet
 * @nodes: how many there are, at least one
 * @clocks: out: to be given to clocks_close()
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
 * clocks_guess() - both clocks of a node at one moment
 *
 * Used where messages do not tell more. The first one of a node counts.
 */
void clocks_guess(struct clocks *clocks, u32 node, u64 mono_ns, u64 real_ns)
{
	struct node *n = &clocks->nodes[node];

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
		struct meeting *bigger = reallocarray(clocks->meetings, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		clocks->meetings = bigger;
		clocks->meeting_room = room;
	}
	clocks->meetings[clocks->meeting_count] = (struct meeting){};
	*meeting = clocks->meeting_count++;
	return 0;
}

static int add_event(struct clocks *clocks, const struct event *event)
{
	if (clocks->event_count == clocks->event_room) {
		u32 room = clocks->event_room ? 2 * clocks->event_room : 4096;
		struct event *bigger = reallocarray(clocks->events, room, sizeof(*bigger));

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
 * clocks_arrive() - somebody came to a meeting: what ends there ends later
 * @meeting: the last one that was made
 * @time_ns: by the node's clock
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_arrive(struct clocks *clocks, u32 meeting, u32 node, u64 time_ns)
{
	const struct event event = { .time_ns = time_ns, .node = node, .meeting = meeting };

	clocks->meetings[meeting].missing++;
	return add_event(clocks, &event);
}

/**
 * clocks_leave() - what ended in a meeting: after all arrivals of other nodes
 * @meeting: the last one that was made; all have arrived
 * @time_ns: by the node's clock
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_leave(struct clocks *clocks, u32 meeting, u32 node, u64 time_ns)
{
	const struct event end = {
		.time_ns = time_ns, .node = node, .meeting = meeting, .is_end = true,
	};
	u32 i;
	int err = 0;

	for (i = clocks->event_count; i > 0 && clocks->events[i - 1].meeting == meeting && !err; i--) {
		const struct event *other = &clocks->events[i - 1];

		if (other->is_end || other->node == node)
			continue;
		err = clock_bounds_add(&clocks->bounds[other->node * clocks->node_count + node],
				       other->time_ns, time_ns);
		clocks->nodes[node].fit.bounds++;
	}
	return err ? err : add_event(clocks, &end);
}

/* -- lines ------------------------------------------------------------------------------------- */

/* What the line adds to a reading, beside the base. */
static double line_at(const struct node *node, u64 time_ns)
{
	return node->start_ns + node->drift * (double)(s64)(time_ns - node->fit.origin_ns);
}

static u64 on_line(const struct node *node, u64 time_ns)
{
	return time_ns + (u64)node->base_ns + (u64)(s64)floor(line_at(node, time_ns));
}

/* A point that the line of a node must pass: above it, or below. */
struct point {
	double at_ns;
	double extra_ns;
};

struct points {
	struct point *points;
	u32 count;
};

/**
 * struct sides - what a line must pass between
 * @below: it passes above these, that is, this node ended something
 * @above: it passes below these
 */
struct sides {
	struct points below;
	struct points above;
};

static struct point point_of(const struct node *node, u64 own_ns, u64 there_ns)
{
	return (struct point){
		.at_ns = (double)(s64)(own_ns - node->fit.origin_ns),
		.extra_ns = (double)((s64)(there_ns - own_ns) - node->base_ns),
	};
}

static void sides_free(struct sides *sides)
{
	free(sides->below.points);
	free(sides->above.points);
}

/* All bounds between a node and the others that have a line. */
static int sides_collect(struct clocks *clocks, u32 own, struct sides *sides)
{
	struct node *node = &clocks->nodes[own];
	size_t below = 1, above = 1;
	u32 i, j;

	for (i = 0; i < clocks->node_count; i++) {
		below += clocks->bounds[i * clocks->node_count + own].count;
		above += clocks->bounds[own * clocks->node_count + i].count;
	}
	*sides = (struct sides){};
	sides->below.points = calloc(below, sizeof(struct point));
	sides->above.points = calloc(above, sizeof(struct point));
	if (!sides->below.points || !sides->above.points)
		return -ENOMEM;
	for (i = 0; i < clocks->node_count; i++) {
		const struct clock_bounds *in = &clocks->bounds[i * clocks->node_count + own];
		const struct clock_bounds *out = &clocks->bounds[own * clocks->node_count + i];
		const struct node *other = &clocks->nodes[i];

		if (i == own || !other->is_fitted)
			continue;
		for (j = 0; j < in->count; j++)
			sides->below.points[sides->below.count++] =
				point_of(node, in->hull[j].to_ns, on_line(other, in->hull[j].from_ns));
		for (j = 0; j < out->count; j++)
			sides->above.points[sides->above.count++] =
				point_of(node, out->hull[j].from_ns, on_line(other, out->hull[j].to_ns));
	}
	return 0;
}

/* How far up lines of this drift must begin at least. */
static double lowest(const struct points *below, double drift)
{
	double start_ns = -INFINITY;
	u32 i;

	for (i = 0; i < below->count; i++)
		start_ns = fmax(start_ns, below->points[i].extra_ns - drift * below->points[i].at_ns);
	return start_ns;
}

static double highest(const struct points *above, double drift)
{
	double start_ns = INFINITY;
	u32 i;

	for (i = 0; i < above->count; i++)
		start_ns = fmin(start_ns, above->points[i].extra_ns - drift * above->points[i].at_ns);
	return start_ns;
}

/* Half of the room that lines of this drift have: concave, so that thirds find its top. */
static double margin(const struct sides *sides, double drift)
{
	return (highest(&sides->above, drift) - lowest(&sides->below, drift)) / 2;
}

static double widest(const struct sides *sides)
{
	double low = -DRIFT_MAX, high = DRIFT_MAX;
	u32 i;

	for (i = 0; i < STEPS; i++) {
		double third = (high - low) / 3;

		if (margin(sides, low + third) < margin(sides, high - third))
			low += third;
		else
			high -= third;
	}
	return (low + high) / 2;
}

/* The drift nearest to none that keeps half of what the best one has. */
static double least(const struct sides *sides, double best)
{
	double enough = margin(sides, best) / 2, low = 0, high = best;
	u32 i;

	if (enough <= 0)
		return best;
	if (margin(sides, 0) >= enough)
		return 0;
	for (i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;

		if (margin(sides, middle) >= enough)
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Messages one way only, or none: as the wall clocks say, if the messages allow it. */
static void fit_one_way(struct node *node, const struct sides *sides)
{
	node->fit.source = sides->below.count || sides->above.count ? CLOCK_SOURCE_one_way :
								       CLOCK_SOURCE_wall;
	node->drift = 0;
	node->start_ns = 0; /* the base is the guess */
	if (sides->below.count)
		node->start_ns = fmax(0, lowest(&sides->below, 0) + 1);
	if (sides->above.count)
		node->start_ns = fmin(0, highest(&sides->above, 0) - 1);
}

static int fit_line(struct clocks *clocks, u32 own)
{
	struct node *node = &clocks->nodes[own];
	struct sides sides;
	int err = sides_collect(clocks, own, &sides);

	if (!err && sides.below.count && sides.above.count) {
		node->fit.source = CLOCK_SOURCE_messages;
		node->drift = least(&sides, widest(&sides));
		node->start_ns = (lowest(&sides.below, node->drift) +
				  highest(&sides.above, node->drift)) / 2;
		node->fit.margin_ns = (s64)floor(margin(&sides, node->drift));
	} else if (!err) {
		fit_one_way(node, &sides);
	}
	sides_free(&sides);
	return err;
}

/* If the wall clock is far off, the base is moved, for what is added to it to be small. */
static int fit_node(struct clocks *clocks, u32 own)
{
	struct node *node = &clocks->nodes[own];
	int err = fit_line(clocks, own);

	if (!err && fabs(node->start_ns) > FAR_NS) {
		node->base_ns += (s64)node->start_ns;
		err = fit_line(clocks, own);
	}
	node->is_fitted = true;
	return err;
}

/* -- nodes one after the other ------------------------------------------------------------------ */

/* What connects a node with those that have a line: both ways before one, then by number. */
static u64 connection(const struct clocks *clocks, u32 own)
{
	u64 in = 0, out = 0;
	u32 i;

	for (i = 0; i < clocks->node_count; i++) {
		if (!clocks->nodes[i].is_fitted)
			continue;
		in += clocks->bounds[i * clocks->node_count + own].total;
		out += clocks->bounds[own * clocks->node_count + i].total;
	}
	return in && out ? (1ull << 62) + (in < out ? in : out) : in + out;
}

static u32 next_to_fit(const struct clocks *clocks)
{
	u32 i, best = NO_NODE;

	for (i = 0; i < clocks->node_count; i++)
		if (!clocks->nodes[i].is_fitted &&
		    (best == NO_NODE || connection(clocks, i) > connection(clocks, best)))
			best = i;
	return best;
}

/* The base is what the wall clocks say: everything else is small beside a reading. */
static void set_bases(struct clocks *clocks, u32 reference)
{
	const struct node *r = &clocks->nodes[reference];
	u32 i, e;

	for (i = 0; i < clocks->node_count; i++) {
		struct node *node = &clocks->nodes[i];

		node->fit.origin_ns = node->guess_mono_ns;
		if (i != reference && node->has_guess && r->has_guess)
			node->base_ns = (s64)((node->guess_real_ns - node->guess_mono_ns) -
					      (r->guess_real_ns - r->guess_mono_ns));
	}
	for (e = 0; e < clocks->event_count; e++) { /* the first event, if nobody has guessed */
		struct node *node = &clocks->nodes[clocks->events[e].node];

		if (!node->has_guess && !node->fit.origin_ns)
			node->fit.origin_ns = clocks->events[e].time_ns;
	}
}

static int fit_lines(struct clocks *clocks, u32 reference)
{
	u32 own, i;
	int err = 0;

	for (i = 0; i < clocks->node_count * clocks->node_count; i++)
		clock_bounds_reduce(&clocks->bounds[i]);
	set_bases(clocks, reference);
	clocks->nodes[reference].fit.source = CLOCK_SOURCE_reference;
	clocks->nodes[reference].is_fitted = true;
	while (!err && (own = next_to_fit(clocks)) != NO_NODE)
		err = fit_node(clocks, own);
	for (i = 0; i < SWEEPS && clocks->node_count > 2 && !err; i++)
		for (own = 0; own < clocks->node_count && !err; own++)
			if (own != reference)
				err = fit_node(clocks, own);
	return err;
}

/* -- corrections --------------------------------------------------------------------------------- */

/* The last knot at or before a moment, NULL if there is none. */
static const struct knot *knot_at(const struct node *node, u64 time_ns)
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

/* All in one rounding: then later readings are never earlier times. */
static u64 time_of(const struct node *node, u64 time_ns)
{
	const struct knot *knot = knot_at(node, time_ns);
	double extra_ns = line_at(node, time_ns);

	if (knot)
		extra_ns += fmax(0, knot->jump_ns - (double)(time_ns - knot->at_ns) * CATCH_UP);
	return time_ns + (u64)node->base_ns + (u64)(s64)floor(extra_ns);
}

static int add_knot(struct node *node, u64 at_ns, double jump_ns)
{
	if (node->knot_count == node->knot_room) {
		u32 room = node->knot_room ? 2 * node->knot_room : 64;
		struct knot *bigger = reallocarray(node->knots, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		node->knots = bigger;
		node->knot_room = room;
	}
	node->knots[node->knot_count++] = (struct knot){ at_ns, jump_ns };
	return 0;
}

/* An end that would be too early: from it on, the node is later. */
static int correct(struct node *node, u64 time_ns, u64 after_ns)
{
	u64 line_ns = on_line(node, time_ns), now_ns = time_of(node, time_ns);
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
	const struct event *x = &clocks->events[i], *y = &clocks->events[j];

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
		struct node *node = &clocks->nodes[i];

		node->events = calloc(node->event_count + 1, sizeof(*node->events));
		if (!node->events)
			return -ENOMEM;
		node->event_count = 0;
	}
	for (i = 0; i < clocks->event_count; i++) {
		struct node *node = &clocks->nodes[clocks->events[i].node];

		node->events[node->event_count++] = i;
	}
	for (i = 0; i < clocks->node_count; i++)
		qsort_r(clocks->nodes[i].events, clocks->nodes[i].event_count, sizeof(u32),
			compare_events, clocks);
	return 0;
}

static void arrived(struct clocks *clocks, const struct event *event)
{
	struct meeting *meeting = &clocks->meetings[event->meeting];
	u64 time_ns = time_of(&clocks->nodes[event->node], event->time_ns);

	meeting->missing--;
	if (!meeting->has_arrival || (s64)(time_ns - meeting->after_ns) > 0)
		meeting->after_ns = time_ns;
	meeting->has_arrival = true;
}

/* Give times to the events of a node, up to an end that others have still to arrive for. */
static int advance(struct clocks *clocks, struct node *node, u32 *done)
{
	int err = 0;

	for (; node->next < node->event_count && !err; node->next++, ++*done) {
		const struct event *event = &clocks->events[node->events[node->next]];
		const struct meeting *meeting = &clocks->meetings[event->meeting];

		if (!event->is_end)
			arrived(clocks, event);
		else if (meeting->missing)
			break;
		else if (meeting->has_arrival)
			err = correct(node, event->time_ns, meeting->after_ns);
	}
	return err;
}

/* Everybody waits for somebody: the end that comes first does not wait any longer. */
static void break_circle(struct clocks *clocks, u32 *done)
{
	struct node *first = NULL;
	u64 first_ns = 0;
	u32 i;

	for (i = 0; i < clocks->node_count; i++) {
		struct node *node = &clocks->nodes[i];
		u64 time_ns;

		if (node->next == node->event_count)
			continue;
		time_ns = time_of(node, clocks->events[node->events[node->next]].time_ns);
		if (!first || (s64)(time_ns - first_ns) < 0) {
			first = node;
			first_ns = time_ns;
		}
	}
	first->next++;
	first->fit.contradicted++;
	++*done;
}

static int correct_all(struct clocks *clocks)
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

/**
 * clocks_fit() - find the time of the reference for each reading of each clock
 * @clocks: with all meetings
 * @reference: a node; if it comes before what it must follow, even its own time is corrected
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_fit(struct clocks *clocks, u32 reference)
{
	int err = fit_lines(clocks, reference);
	u32 i;

	for (i = 0; i < clocks->node_count && !err; i++) {
		struct node *node = &clocks->nodes[i];

		node->fit.offset_ns = node->base_ns + (s64)floor(node->start_ns);
		node->fit.drift_ppb = (s64)llround(node->drift * 1e9);
	}
	return err ? err : correct_all(clocks);
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
	u64 mapped_ns = time_of(&clocks->nodes[node], time_ns);

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
 * clock_source_sentence() - what a clock was fitted by
 */
const char *clock_source_sentence(enum clock_source source)
{
#define CLOCK_SOURCE_SENTENCE(name, sentence) [CLOCK_SOURCE_##name] = sentence,
	static const char *const sentences[] = { CLOCK_SOURCES(CLOCK_SOURCE_SENTENCE) };
#undef CLOCK_SOURCE_SENTENCE

	return sentences[source];
}
