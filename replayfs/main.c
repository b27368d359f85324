// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - replayfs.ko from load to unload.
 */
#include <iotape/version.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "replayfs.h"

static int __init replayfs_init(void)
{
	return rfs_control_init();
}

static void __exit replayfs_exit(void)
{
	rfs_control_exit();
	/* The thread that ended the last request may still be in requests.c, preempted. */
	synchronize_rcu_tasks();
}

module_init(replayfs_init);
module_exit(replayfs_exit);

MODULE_DESCRIPTION("replay of recorded file I/O in the kernel");
MODULE_LICENSE("GPL v2");
MODULE_VERSION(IOTAPE_VERSION);
