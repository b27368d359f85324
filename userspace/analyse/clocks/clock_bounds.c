// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock_bounds.c - of many bounds between two clocks those that a line can touch: a convex hull.
 */
#include "clock_bounds.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 256

static int compare(const void *a, const void *b)
{
	const struct clock_bound *x = a, *y = b;

	if (x->to_ns != y->to_ns)
		return x->to_ns < y->to_ns ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* Does the way from a to c pass below b, or through it? */
static bool is_outside(const struct clock_bound *a, const struct clock_bound *b,
		       const struct clock_bound *c)
{
	__int128 ab_x = (s64)(b->to_ns - a->to_ns), ab_y = (s64)(b->from_ns - a->from_ns);
	__int128 ac_x = (s64)(c->to_ns - a->to_ns), ac_y = (s64)(c->from_ns - a->from_ns);

	return ab_y * ac_x > ac_y * ab_x;
}

/**
 * clock_bounds_reduce() - keep the upper hull of the points (to_ns, from_ns)
 *
 * Andrew's monotone chain. In all directions that a line between two clocks can have, which
 * both run forwards, no other point lies farther out.
 */
void clock_bounds_reduce(struct clock_bounds *bounds)
{
	struct clock_bound *hull = bounds->hull;
	u32 i, kept = 0;

	if (bounds->kept == bounds->count)
		return;
	qsort(hull, bounds->count, sizeof(*hull), compare);
	for (i = 0; i < bounds->count; i++) {
		if (kept && hull[kept - 1].to_ns == hull[i].to_ns)
			kept--; /* the later one of the same moment is the tighter one */
		while (kept > 1 && !is_outside(&hull[kept - 2], &hull[kept - 1], &hull[i]))
			kept--;
		hull[kept++] = hull[i];
	}
	bounds->count = kept;
	bounds->kept = kept;
}

/**
 * clock_bounds_add() - one more
 *
 * Return: 0 or -ENOMEM.
 */
int clock_bounds_add(struct clock_bounds *bounds, u64 from_ns, u64 to_ns)
{
	struct clock_bound *bigger;
	u32 room;

	if (bounds->count == bounds->room)
		clock_bounds_reduce(bounds);
	if (bounds->count == bounds->room || (bounds->kept == bounds->count && bounds->count > bounds->room / 2)) {
		room = bounds->room ? 2 * bounds->room : ROOM_MIN;
		bigger = realloc(bounds->hull, room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		bounds->hull = bigger;
		bounds->room = room;
	}
	bounds->hull[bounds->count++] = (struct clock_bound){ .from_ns = from_ns, .to_ns = to_ns };
	bounds->total++;
	return 0;
}
