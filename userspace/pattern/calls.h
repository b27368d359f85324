/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - the calls of all tasks of a trace. Private to stream.c and calls.c.
 */
#ifndef IOTAPE_PATTERN_CALLS_H
#define IOTAPE_PATTERN_CALLS_H

#include <uthash.h>

#include "call.h"

/**
 * struct caller - a task
 * @rank: of the task
 * @calls: sorted by calls_compare() once all are there
 */
struct caller {
	UT_hash_handle hh;
	u32 task;
	struct task_rank rank;
	struct call *calls;
	u32 count;
	u32 room;
};

int calls_read(const char *path, struct caller **callers, struct iot_reject *reject);
struct caller *calls_of(struct caller *callers, u32 task);
const struct call *call_find(const struct caller *caller, u32 op);
void calls_free(struct caller *callers);

#endif
