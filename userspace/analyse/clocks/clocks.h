/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clocks.h - one time for the events of several nodes, each of which has a clock of its own.
 */
#ifndef IOTAPE_ANALYSE_CLOCKS_H
#define IOTAPE_ANALYSE_CLOCKS_H

#include <stdbool.h>

#include "core/port.h"

struct clocks;

/* The source of the fit of a node's clock. */
#define CLOCK_SOURCES(S)                                                       \
	S(reference, "its clock is the reference of the other clocks")         \
	S(messages, "messages in both directions between the node and others") \
	S(one_way, "wall clocks, corrected by messages in one direction")      \
	S(wall, "wall clocks, because no message connects the node with the others")

enum clock_source {
#define CLOCK_SOURCE_VALUE(name, sentence) CLOCK_SOURCE_##name,
	CLOCK_SOURCES(CLOCK_SOURCE_VALUE)
#undef CLOCK_SOURCE_VALUE
	CLOCK_SOURCE_END
};

/**
 * struct clock_fit - the fit of a node's clock
 * @source: an enum clock_source
 * @origin_ns: a reading of the node's clock
 * @offset_ns: to add to it for the time of the reference
 * @drift_ppb: growth of the offset, ns in a second
 * @bounds: ends of calls of this node with a cause on another one
 * @margin_ns: half of the room that the bounds leave for lines, where it is widest: the precision
 *	of the offset. Negative: no line fulfils all bounds, and this is the violation
 * @corrected: ends that the line puts before their causes, and that were moved
 * @corrected_max_ns: the largest of these moves
 * @contradicted: ends whose bounds form a cycle; these were not moved
 */
struct clock_fit {
	enum clock_source source;
	u64 origin_ns;
	s64 offset_ns;
	s64 drift_ppb;
	u64 bounds;
	s64 margin_ns;
	u64 corrected;
	u64 corrected_max_ns;
	u64 contradicted;
};

int clocks_open(u32 nodes, struct clocks **clocks);
void clocks_close(struct clocks *clocks);
void clocks_guess(struct clocks *clocks, u32 node, u64 mono_ns, u64 real_ns);
int clocks_meeting(struct clocks *clocks, u32 *meeting);
int clocks_arrive(struct clocks *clocks, u32 meeting, u32 node, u64 time_ns);
int clocks_leave(struct clocks *clocks, u32 meeting, u32 node, u64 time_ns);
int clocks_fit(struct clocks *clocks, u32 reference);
u64 clocks_map(const struct clocks *clocks, u32 node, u64 time_ns);
const struct clock_fit *clocks_result(const struct clocks *clocks, u32 node);
const char *clock_source_sentence(enum clock_source source);

#endif
