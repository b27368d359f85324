// SPDX-License-Identifier: GPL-2.0-only
/*
 * xattr.c - extended attributes of all name spaces; the lower file system decides which of them exist.
 */
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/xattr.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"

static int xattr_get(const struct xattr_handler *handler, struct dentry *dentry,
		     struct inode *inode, const char *name, void *value, size_t room)
{
	struct iot_span span;
	ssize_t result;

	tfs_gate_open(dentry->d_sb, IOT_KIND_getxattr, &span);
	if (unlikely(current->in_execve) && !strcmp(name, XATTR_NAME_CAPS) && !tfs_mount_may_suid(dentry->d_sb))
		result = -ENODATA; /* on a nosuid mount exec(2) does not look for capabilities */
	else
		result = tfs_do_getxattr(dentry, name, value, room);
	tfs_emit_getxattr(&span, dentry, name, room, result);
	return result;
}

static int xattr_set(const struct xattr_handler *handler, struct mnt_idmap *idmap,
		     struct dentry *dentry, struct inode *inode, const char *name,
		     const void *value, size_t bytes, int flags)
{
	const struct tfs_value given = { .bytes = value, .length_bytes = bytes };
	struct iot_span span;
	int err;

	tfs_gate_open(dentry->d_sb, IOT_KIND_setxattr, &span);
	if (value) {
		err = tfs_do_setxattr(dentry, name, value, bytes, flags);
		tfs_emit_setxattr(&span, dentry, name, &given, flags, err);
	} else {
		err = tfs_do_removexattr(dentry, name);
		tfs_emit_removexattr(&span, dentry, name, err);
	}
	if (!err)
		tfs_copy_attr_locked(inode);
	return err;
}

ssize_t tfs_listxattr(struct dentry *dentry, char *list, size_t room)
{
	struct iot_span span;
	ssize_t result;

	tfs_gate_open(dentry->d_sb, IOT_KIND_listxattr, &span);
	result = tfs_do_listxattr(dentry, list, room);
	tfs_emit_listxattr(&span, dentry, room, result);
	return result;
}

static const struct xattr_handler handler = {
	.prefix = "", /* all of them */
	.get = xattr_get,
	.set = xattr_set,
};

IOT_XATTR_HANDLERS(tfs_xattr_handlers) = {
	&handler,
	NULL,
};
