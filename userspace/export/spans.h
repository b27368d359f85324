/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spans.h - events as beginnings and ends that nest, for formats of time lines. Private to this directory.
 */
#ifndef IOTAPE_EXPORT_SPANS_H
#define IOTAPE_EXPORT_SPANS_H

#include "format.h"

/**
 * struct span_line - a line of a time line: events of one task that nest
 * @task: id in the trace
 * @lane: 0; others have events that overlap with those of the lanes before: asynchronous requests
 * @actor: the task; NULL if the trace has no record of it
 * @process: identifies its process
 * @number: of the line, from 0
 * @events: beginnings and ends
 */
struct span_line {
	u32 task;
	u32 lane;
	const struct actor *actor;
	u64 process;
	size_t number;
	u64 events;
};

/**
 * struct span_user - the callbacks of a format
 * @line: a line begins; its events follow, and then those of the next line. NULL: nothing
 * @line_end: a line ends; NULL: nothing
 * @begin, @end: of an event, in the order of time; an event that began in another one ends before it
 *
 * Functions return 0 or a negative errno.
 */
struct span_user {
	int (*line)(struct export *x, const struct span_line *line);
	int (*line_end)(struct export *x, const struct span_line *line);
	int (*begin)(struct export *x, const struct span_line *line, const struct export_event *event);
	int (*end)(struct export *x, const struct span_line *line, const struct export_event *event, u64 end_ns);
};

int spans_walk(struct export *x, const struct span_user *user);

#endif
