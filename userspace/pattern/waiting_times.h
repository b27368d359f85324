/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waiting_times.h - times of a group of tasks that wait until the times of all groups before it have been added.
 *
 * Groups may share a distribution, and take its lengths of time one group after the other. But tasks of all groups come mixed.
 */
#ifndef IOTAPE_PATTERN_WAITING_TIMES_H
#define IOTAPE_PATTERN_WAITING_TIMES_H

#include "stream.h"

/* Equal times, one after the other, of a run: those before its operations, or of them. */
struct waiting_time {
	u64 time_ns;
	u64 count;
	u32 run;
	bool is_duration;
};

/**
 * struct waiting_times - the times of a group; all zero is an empty one, of the first group
 * @group: its number
 * @last: for each run two numbers, of thinking and of operations: the last item, plus 1
 */
struct waiting_times {
	struct waiting_time *items;
	u32 count;
	u32 room;
	u32 group;
	u32 *last;
};

/* The last item that takes from a distribution. */
struct last_use {
	u32 group;
	u32 item; /* plus 1 */
};

int waiting_times_add(struct waiting_times *w, struct last_use *uses, u32 runs, u32 run, bool is_duration, u64 time_ns);
void waiting_times_finish(struct waiting_times *w, const struct stream *stream, struct run_times *times);
void waiting_times_free(struct waiting_times *w);
void times_add_of_stream(struct times *times, const struct stream *stream, u64 time_ns);

#endif
