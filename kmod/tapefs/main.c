// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - tapefs.ko from load to unload.
 */
#include <iotape/version.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "errand.h"
#include "exec.h"
#include "lease.h"
#include "tapefs.h"

static void kill_sb(struct super_block *sb)
{
	struct tfs_sb *tsb = sb->s_fs_info;

	if (tsb && tsb->source.sb)
		iot_source_remove(&tsb->source);
	if (tsb)
		tfs_watch_stop(sb);
	kill_anon_super(sb);
	if (tsb) {
		if (tsb->read_only)
			kern_unmount(tsb->read_only);
		path_put(&tsb->lower);
		kfree(tsb);
	}
}

static struct file_system_type tapefs_type = {
	.owner = THIS_MODULE,
	.name = TFS_NAME,
	.init_fs_context = tfs_init_fs_context,
	.parameters = tfs_parameters,
	.kill_sb = kill_sb,
};

static int __init tapefs_init(void)
{
	int err = tfs_super_init();

	if (err)
		goto err_super;
	err = tfs_rw_init();
	if (err)
		goto err_rw;
	err = tfs_lease_init();
	if (err)
		goto err_lease;
	err = tfs_exec_init();
	if (err)
		goto err_exec;
	err = register_filesystem(&tapefs_type);
	if (err)
		goto err_register;
	return 0;

err_register:
	tfs_exec_exit();
err_exec:
	tfs_lease_exit();
err_lease:
	tfs_rw_exit();
err_rw:
	tfs_super_exit();
err_super:
	return err;
}

static void __exit tapefs_exit(void)
{
	unregister_filesystem(&tapefs_type);
	/* This also waits for the task that has completed the last request, until it is back from rw.c. */
	tfs_errands_drain();
	tfs_exec_exit();
	tfs_lease_exit();
	tfs_rw_exit();
	tfs_super_exit();
}

module_init(tapefs_init);
module_exit(tapefs_exit);

MODULE_DESCRIPTION("stackable file system that records every operation");
MODULE_LICENSE("GPL v2");
MODULE_VERSION(IOTAPE_VERSION);
MODULE_ALIAS_FS(TFS_NAME);
