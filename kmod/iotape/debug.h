/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debug.h - the reasons of refusals, and the counters of sessions.
 */
#ifndef IOT_DEBUG_H
#define IOT_DEBUG_H

#include <linux/printk.h>
#include <linux/sched.h>

/**
 * iot_refuse() - state the reason of an errno in the kernel log, if dynamic debug is on there
 * @err: a negative errno
 * @format: the request and the reason, with the arguments that follow
 *
 * Return: @err.
 */
#define iot_refuse(err, format, ...)                                                              \
	({                                                                                        \
		int __refused = (err);                                                            \
		pr_debug("%s[%d]: " format " (%d)\n", current->comm, task_pid_nr(current),         \
			 ##__VA_ARGS__, __refused);                                                \
		__refused;                                                                        \
	})

void iot_debug_init(void);
void iot_debug_exit(void);

#endif
