/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - a pattern in memory: private to this directory.
 */
#ifndef IOTAPE_PATTERN_STATE_H
#define IOTAPE_PATTERN_STATE_H

#include "columns.h"
#include "nodes.h"
#include "part.h"
#include "pattern.h"
#include "stream.h"
#include "time_sums.h"

/**
 * struct group - tasks with the same structure
 * @root: node of it
 * @task_count: their number
 * @positions: of the tasks, ascending
 * @columns: of the structure, their number is in its root
 * @times: of the operations of each run, in order; NULL if there are none
 * @sums: of a part of a job: sums of the same times, likewise
 */
struct group {
	u32 root;
	u64 task_count;
	struct series *positions;
	struct column *columns;
	struct run_times *times;
	struct run_sums *sums;
};

/**
 * struct pattern - the operations of a trace
 * @is_made: it was extrapolated or changed
 * @facts: of tasks, by enum task_fact: series over their positions
 * @part: what it is a part of; NULL if it is none
 */
struct pattern {
	unsigned char capture[16];
	u8 digest[32];
	u64 operations;
	u64 task_count;
	struct series *facts[TASK_FACT_COUNT];
	struct shapes shapes;
	struct nodes nodes;
	struct group *groups;
	u32 group_count;
	bool has_times;
	bool is_made;
	struct part *part;
};

/* compare.c */
const struct group *pattern_find_group(const struct pattern *of, const struct group *group, const struct pattern *in);
u32 pattern_same_parts(const struct pattern *a, u32 root_a, const struct pattern *b, u32 root_b);

#endif
