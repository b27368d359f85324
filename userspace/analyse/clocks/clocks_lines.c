// SPDX-License-Identifier: GPL-2.0-only
/*
 * clocks_lines.c - a line for each clock, between the bounds from other nodes.
 *
 * Two clocks differ by an offset and a drift, a line. A message one way is a point that the line must
 * pass on one side, a message the other way one on the other side. Between the convex hulls of both
 * sets lie the lines that keep the order of all messages (Duda, Harrus, Haddad, Bernard: Estimating
 * Global Time in Distributed Systems, 1987). A line without drift is preferred: synchronized clocks
 * differ by an offset, and a short trace leaves room for any drift. Otherwise the drift is the mean
 * of the possible drifts, each weighted by the room that it leaves and by its prior probability.
 * The offset is in the middle of the room that this drift leaves. With more than two nodes, each is
 * first fitted to those before it, and then to all others, until all lie between their bounds.
 *
 * Floating point is used only for values that are small compared with a clock reading, and in a
 * fixed order, so that the same events give the same times.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clocks_state.h"

#define DRIFT_MAX   1e-3  /* twice the rate at which the kernel slews a clock */
#define DRIFT_USUAL 50e-6 /* of a clock that nothing keeps right; larger ones are less likely, by e for each */
#define STEPS	    100	  /* of a search for a drift; each takes a third away, or half */
#define SAMPLES	    256	  /* of the drifts that are possible */
#define SWEEPS	    6
#define SWEEPS_MAX  64	  /* if some node is not between its bounds by then */
#define FAR_NS	    1e12 /* from the base: from there on, double is not exact enough */
#define NO_NODE     (~0u)

/**
 * clock_line_extra_ns() - the amount that the line adds to a reading, without the base
 */
double clock_line_extra_ns(const struct clock_node *node, u64 time_ns)
{
	return node->start_ns + node->drift * (double)(s64)(time_ns - node->fit.origin_ns);
}

/**
 * clock_on_line() - the time of a reading, without corrections
 */
u64 clock_on_line(const struct clock_node *node, u64 time_ns)
{
	return time_ns + (u64)node->base_ns + (u64)(s64)floor(clock_line_extra_ns(node, time_ns));
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
 * struct sides - the bounds between which a line must pass
 * @below: the line passes above these: this node ended something
 * @above: the line passes below these
 */
struct sides {
	struct points below;
	struct points above;
};

static struct point point_of(const struct clock_node *node, u64 own_ns, u64 there_ns)
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
	struct clock_node *node = &clocks->nodes[own];
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
		const struct clock_node *other = &clocks->nodes[i];

		if (i == own || !other->is_fitted)
			continue;
		for (j = 0; j < in->count; j++)
			sides->below.points[sides->below.count++] =
				point_of(node, in->hull[j].to_ns, clock_on_line(other, in->hull[j].from_ns));
		for (j = 0; j < out->count; j++)
			sides->above.points[sides->above.count++] =
				point_of(node, out->hull[j].from_ns, clock_on_line(other, out->hull[j].to_ns));
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

/* From a drift with enough margin towards another one: the last that has enough, too. */
static double as_far_as(const struct sides *sides, double from, double to, double enough)
{
	u32 i;

	if (margin(sides, to) >= enough)
		return to;
	for (i = 0; i < STEPS; i++) {
		double middle = (from + to) / 2;

		if (margin(sides, middle) >= enough)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* How usual a drift is, beside another one. */
static double usual(double drift, double other)
{
	return exp((fabs(other) - fabs(drift)) / DRIFT_USUAL);
}

/* The mean of the drifts between two, none of which is 0. */
static double mean(const struct sides *sides, double low, double high)
{
	double nearest = low > 0 ? low : high, sum = 0, weights = 0;
	u32 i;

	for (i = 0; i < SAMPLES; i++) {
		double drift = low + (high - low) * (i + 0.5) / SAMPLES;
		double weight = fmax(0, margin(sides, drift)) * usual(drift, nearest);

		sum += weight * drift;
		weights += weight;
	}
	return weights > 0 ? sum / weights : nearest;
}

/* @best: the drift whose line has the widest margin */
static double choose_drift(const struct sides *sides, double best)
{
	double most = margin(sides, best);

	if (margin(sides, 0) > 0)
		return 0;
	if (most <= 0) /* no line keeps all in order: one that fails by little more, and drifts less */
		return as_far_as(sides, best, 0, 2 * most);
	return mean(sides, as_far_as(sides, best, -DRIFT_MAX, 0), as_far_as(sides, best, DRIFT_MAX, 0));
}

/* Messages one way only, or none: as the wall clocks say, if the messages allow it. */
static void fit_one_way(struct clock_node *node, const struct sides *sides)
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
	struct clock_node *node = &clocks->nodes[own];
	struct sides sides;
	double best, room_ns;
	int err = sides_collect(clocks, own, &sides);

	if (!err && sides.below.count && sides.above.count) {
		best = widest(&sides);
		node->fit.source = CLOCK_SOURCE_messages;
		node->drift = choose_drift(&sides, best);
		node->start_ns = (lowest(&sides.below, node->drift) +
				  highest(&sides.above, node->drift)) / 2;
		room_ns = margin(&sides, node->drift);
		node->fit.margin_ns = (s64)floor(room_ns < 0 ? room_ns : fmax(room_ns, margin(&sides, best)));
	} else if (!err) {
		fit_one_way(node, &sides);
	}
	sides_free(&sides);
	return err;
}

/* If the wall clock is far off, move the base, so that the amounts added to it are small. */
static int fit_node(struct clocks *clocks, u32 own)
{
	struct clock_node *node = &clocks->nodes[own];
	int err = fit_line(clocks, own);

	if (!err && fabs(node->start_ns) > FAR_NS) {
		node->base_ns += (s64)node->start_ns;
		err = fit_line(clocks, own);
	}
	node->is_fitted = true;
	return err;
}

/* -- nodes one after the other ------------------------------------------------------------------ */

/* The connection of a node with nodes that have a line: both directions before one, then by number. */
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

/* The base comes from the wall clocks: everything else is small compared with a reading. */
static void set_bases(struct clocks *clocks, u32 reference)
{
	const struct clock_node *r = &clocks->nodes[reference];
	u32 i, e;

	for (i = 0; i < clocks->node_count; i++) {
		struct clock_node *node = &clocks->nodes[i];

		node->fit.origin_ns = node->guess_mono_ns;
		if (i != reference && node->has_guess && r->has_guess)
			node->base_ns = (s64)((node->guess_real_ns - node->guess_mono_ns) -
					      (r->guess_real_ns - r->guess_mono_ns));
	}
	for (e = 0; e < clocks->event_count; e++) { /* the first event, if there was no guess */
		struct clock_node *node = &clocks->nodes[clocks->events[e].node];

		if (!node->has_guess && !node->fit.origin_ns)
			node->fit.origin_ns = clocks->events[e].time_ns;
	}
}

static bool is_between_bounds(const struct clocks *clocks)
{
	u32 i;

	for (i = 0; i < clocks->node_count; i++)
		if (clocks->nodes[i].fit.margin_ns < 0)
			return false;
	return true;
}

/*
 * Move each line into the middle of the room that the others leave: so all lines find room, if
 * there is any.
 */
static int sweep(struct clocks *clocks, u32 reference)
{
	u32 own, i;
	int err = 0;

	for (i = 0; i < SWEEPS_MAX && clocks->node_count > 2 && !err; i++) {
		if (i >= SWEEPS && is_between_bounds(clocks))
			break;
		for (own = 0; own < clocks->node_count && !err; own++)
			if (own != reference)
				err = fit_node(clocks, own);
	}
	return err;
}

/**
 * clocks_fit_lines() - find a line for each clock
 *
 * Return: 0 or -ENOMEM.
 */
int clocks_fit_lines(struct clocks *clocks, u32 reference)
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
	return err ? err : sweep(clocks, reference);
}
