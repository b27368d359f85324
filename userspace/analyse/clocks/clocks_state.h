/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clocks_state.h - private declarations of the files that fit clocks.
 */
#ifndef IOTAPE_ANALYSE_CLOCKS_STATE_H
#define IOTAPE_ANALYSE_CLOCKS_STATE_H

#include "clock_bounds.h"
#include "clocks.h"

/* From @at_ns on the node is @jump_ns off its line, and then less. */
struct clock_knot {
	u64 at_ns;
	double jump_ns;
};

/**
 * struct clock_node - a clock
 * @base_ns, @start_ns, @drift: correction of a reading: the base, and a small part that is
 *	@start_ns at the origin
 * @events: indices of its events, in the order of its clock
 * @next: the first that has no time yet
 */
struct clock_node {
	struct clock_fit fit;
	bool has_guess;
	bool is_fitted;
	u64 guess_mono_ns;
	u64 guess_real_ns;
	s64 base_ns;
	double start_ns;
	double drift;
	struct clock_knot *knots;
	u32 knot_count;
	u32 knot_room;
	u32 *events;
	u32 event_count;
	u32 next;
};

struct clock_event {
	u64 time_ns;
	u32 node;
	u32 meeting;
	bool is_end;
};

/* The ends of a meeting come after @after_ns, which is known once @missing is 0. */
struct clock_meeting {
	u64 after_ns;
	u32 missing;
	bool has_arrival;
};

struct clocks {
	u32 node_count;
	struct clock_node *nodes;
	struct clock_bounds *bounds; /* from each node to each */
	struct clock_event *events;
	u32 event_count;
	u32 event_room;
	struct clock_meeting *meetings;
	u32 meeting_count;
	u32 meeting_room;
};

/* clocks_lines.c */
double clock_line_extra_ns(const struct clock_node *node, u64 time_ns);
u64 clock_on_line(const struct clock_node *node, u64 time_ns);
int clocks_fit_lines(struct clocks *clocks, u32 reference);

/* clocks_corrections.c */
u64 clock_time_of(const struct clock_node *node, u64 time_ns);
int clocks_correct(struct clocks *clocks);

#endif
