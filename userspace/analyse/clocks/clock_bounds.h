/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock_bounds.h - the bounds that calls on two nodes set to the line between their clocks, as far
 * as they can matter. Within clocks.c only.
 */
#ifndef IOTAPE_ANALYSE_CLOCK_BOUNDS_H
#define IOTAPE_ANALYSE_CLOCK_BOUNDS_H

#include "core/port.h"

/* An event on one node at @from_ns precedes the end of an event on another node at @to_ns. */
struct clock_bound {
	u64 from_ns;
	u64 to_ns;
};

/**
 * struct clock_bounds - those from one node to another
 * @hull: the ones that a line can touch, and some that came since it was made
 * @kept: of @hull, those that are the hull
 * @total: their number
 */
struct clock_bounds {
	struct clock_bound *hull;
	u32 count;
	u32 kept;
	u32 room;
	u64 total;
};

int clock_bounds_add(struct clock_bounds *bounds, u64 from_ns, u64 to_ns);
void clock_bounds_reduce(struct clock_bounds *bounds);

#endif
