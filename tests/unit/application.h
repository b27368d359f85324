/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * application.h - a random application of several tasks, and the trace of one run of it.
 */
#ifndef IOTAPE_TEST_APPLICATION_H
#define IOTAPE_TEST_APPLICATION_H

#include "filesystem.h"

#define APP_TASKS   6
#define APP_OPS_MAX 512

/**
 * struct app_truth - results and start times of operations, by task and number
 * @overlaps: number of pairs of operations that overlapped
 *
 * Ids of tasks are 1 to APP_TASKS.
 */
struct app_truth {
	u64 seen[APP_TASKS + 1][APP_OPS_MAX];
	u64 enter_ns[APP_TASKS + 1][APP_OPS_MAX];
	u32 overlaps;
};

/* The tag of an object that existed at the beginning, or that an operation created. */
u32 app_tag_of_path(const char *path);
u32 app_tag_of_op(u32 task, u32 op);

/* Write the trace of a run of about @steps system calls. The same seed gives the same run. */
void app_record(u64 seed, u32 steps, const char *path, struct app_truth *truth);

#endif
