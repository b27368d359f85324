/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * errand.h - deferred work of the current task, which holds locks that prevent it from doing the work now.
 */
#ifndef TFS_ERRAND_H
#define TFS_ERRAND_H

#include <linux/task_work.h>
#include <linux/workqueue.h>

/**
 * struct tfs_errand - one piece of deferred work; part of a structure of the caller
 * @task: used if the task does it
 * @queued: used if a kernel thread does it
 * @run: does it, and frees the structure
 */
struct tfs_errand {
	union {
		struct callback_head task;
		struct work_struct queued;
	};
	void (*run)(struct tfs_errand *errand);
};

bool tfs_try_at_return(struct tfs_errand *errand);
void tfs_run_at_return(struct tfs_errand *errand);
void tfs_errands_drain(void);

#endif
