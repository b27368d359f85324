// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - iotape.ko from load to unload.
 */
#include <iotape/version.h>
#include <linux/module.h>

#include "debug.h"
#include "session.h"
#include "task.h"
#include "wakes.h"

/* The core is compiled in user space, too, and exports nothing itself. */
EXPORT_SYMBOL_GPL(iot_record_encode);

static int __init iotape_init(void)
{
	int err = iot_task_init();

	if (err)
		goto err_task;
	iot_wakes_init();
	err = iot_netlink_init();
	if (err)
		goto err_netlink;
	err = iot_control_init();
	if (err)
		goto err_control;
	iot_debug_init();
	return 0;

err_control:
	iot_netlink_exit();
err_netlink:
	iot_task_exit();
err_task:
	return err;
}

static void __exit iotape_exit(void)
{
	iot_debug_exit();
	iot_control_exit();
	iot_netlink_exit();
	iot_task_exit();
}

module_init(iotape_init);
module_exit(iotape_exit);

MODULE_DESCRIPTION("record and replay of file I/O: sessions and transport");
MODULE_LICENSE("GPL v2");
MODULE_VERSION(IOTAPE_VERSION);
