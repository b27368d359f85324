/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_places.h - the order of the tasks of a trace in its canonical stream. Private to the streams of traces.
 */
#ifndef IOTAPE_PATTERN_TASK_PLACES_H
#define IOTAPE_PATTERN_TASK_PLACES_H

#include "call.h"

/* A task of the trace. */
struct task_place {
	u32 index; /* in the trace */
	u32 node;  /* of a merged trace */
	bool is_rank;
	u64 job;
	u32 rank;
	u32 ranks;
	u32 first; /* index of the first task of its process */
};

/**
 * struct task_places - the order of the tasks of a trace
 * @tasks: by position, @count of them
 * @positions: by index in the trace
 */
struct task_places {
	const struct canon *canon;
	struct task_place *tasks;
	u32 *positions;
	u32 count;
};

typedef int (*found_take_event)(void *context, struct event *event);

int task_places_find(struct task_places *places, const struct canon *canon, const struct task_rank *ranks);
void task_places_facts(const struct task_places *places, u32 position, u64 facts[TASK_FACT_COUNT]);
void task_places_free(struct task_places *places);
int found_walk(const struct canon *canon, found_take_event take, void *context);

#endif
