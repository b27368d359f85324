// SPDX-License-Identifier: GPL-2.0-only
/*
 * link.c - symbolic links: followed by a path walk, or read by readlink(2).
 */
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"

const char *tfs_get_link(struct dentry *dentry, struct inode *inode, struct delayed_call *done)
{
	struct iot_span span;
	const char *target;

	if (!dentry)
		return ERR_PTR(-ECHILD); /* RCU walk: the VFS calls again with references */
	if (tfs_mount_is_nosymfollow(inode->i_sb))
		return ERR_PTR(-ELOOP); /* as the VFS does before it calls the file system */
	tfs_gate_open(inode->i_sb, IOT_KIND_follow, &span);
	target = tfs_do_get_link(dentry, done);
	tfs_emit_follow(&span, dentry, IS_ERR(target) ? NULL : target, PTR_ERR_OR_ZERO(target));
	return target;
}

int tfs_readlink(struct dentry *dentry, char __user *buffer, int room)
{
	DEFINE_DELAYED_CALL(done);
	struct iot_span span;
	const char *target;
	int result;

	tfs_gate_open(dentry->d_sb, IOT_KIND_readlink, &span);
	target = tfs_do_get_link(dentry, &done);
	if (IS_ERR(target)) {
		result = PTR_ERR(target);
		target = NULL;
	} else {
		result = min_t(size_t, strlen(target), room);
		if (copy_to_user(buffer, target, result))
			result = -EFAULT;
	}
	tfs_emit_readlink(&span, dentry, target, room, result);
	do_delayed_call(&done);
	return result;
}
