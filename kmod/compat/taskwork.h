/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * taskwork.h - whether a task can be made to wait before it returns to user mode.
 *
 * This needs task_work_add(). Debian's kernels export it to modules; those of Enterprise Linux 9, and perhaps
 * others, do not. Until all do.
 */
#ifndef IOT_COMPAT_TASKWORK_H
#define IOT_COMPAT_TASKWORK_H

#include <linux/task_work.h>

#ifdef IOT_HAVE_TASK_WORK_ADD
#define IOT_WAITS_AT_RETURN true
#define iot_task_work_add(task, work) task_work_add(task, work, TWA_RESUME)
#else
#define IOT_WAITS_AT_RETURN false
#define iot_task_work_add(task, work) (-EOPNOTSUPP)
#endif

#endif
