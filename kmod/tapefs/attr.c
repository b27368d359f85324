// SPDX-License-Identifier: GPL-2.0-only
/*
 * attr.c - attributes and permissions, and the tables of inode operations.
 */
#include <linux/fs.h>
#include <linux/fileattr.h> /* needs fs.h */
#include <linux/namei.h>
#include <linux/posix_acl.h>

#include "acl.h"
#include "emit.h"
#include "exec.h"
#include "compat/iops.h"
#include "lower.h"
#include "tapefs.h"

int tfs_setattr(struct mnt_idmap *idmap, struct dentry *dentry, struct iattr *attr)
{
	struct inode *inode = d_inode(dentry);
	u64 old_size_bytes = i_size_read(tfs_lower_inode(inode));
	struct iot_span span;
	int err;

	tfs_gate_open(dentry->d_sb, IOT_KIND_setattr, &span);
	err = tfs_do_setattr(dentry, attr);
	if (!err) {
		tfs_copy_attr_locked(inode);
		tfs_copy_size(inode);
	}
	tfs_emit_setattr(&span, dentry, attr, old_size_bytes, err);
	return err;
}

int tfs_getattr(struct mnt_idmap *idmap, const struct path *path, struct kstat *stat, u32 mask,
		unsigned int flags)
{
	struct inode *inode = d_inode(path->dentry);
	struct iot_span span;
	int err;

	iot_backpressure_here(&TFS_SB(inode->i_sb)->source);
	tfs_gate_open(inode->i_sb, IOT_KIND_stat, &span);
	err = tfs_do_getattr(path, stat, mask, flags);
	if (!err) {
		tfs_copy_attr(inode);
		tfs_copy_size(inode);
	}
	tfs_emit_stat(&span, path->dentry, stat, err);
	return err;
}

/*
 * Only a refused permission is recorded, without a duration. A granted one is followed by the operation that needs
 * it.
 */
int tfs_permission(struct mnt_idmap *idmap, struct inode *inode, int mask)
{
	struct iot_span span;
	int err;

	tfs_refresh(inode);
	if (unlikely(mask == MAY_EXEC && tfs_is_setid(inode->i_mode)))
		err = tfs_exec_permission(inode, mask);
	else
		err = tfs_do_permission(inode, mask);
	if (likely(!err))
		err = tfs_mount_permits(inode, mask);
	if (unlikely(err && err != -ECHILD)) {
		tfs_gate_open(inode->i_sb, IOT_KIND_denied, &span);
		tfs_emit_denied(&span, inode, mask, err);
	}
	return err;
}

static int fiemap(struct inode *inode, struct fiemap_extent_info *info, u64 start, u64 length)
{
	return tfs_do_fiemap(inode, info, start, length);
}

/*
 * The VFS reads the flags before it sets them, to fill in flags that the program does not pass. It then requests
 * neither set of flags; only requests of programs are recorded. If the lower file system lacks this operation, it
 * handles the ioctl itself, which is recorded as an ioctl.
 */
static int fileattr_get(struct dentry *dentry, struct file_kattr *attr)
{
	bool is_asked = attr->flags_valid || attr->fsx_valid;
	struct iot_span span;
	int err;

	if (!is_asked)
		return tfs_do_fileattr_get(dentry, attr);
	tfs_gate_open(dentry->d_sb, IOT_KIND_getfileattr, &span);
	err = tfs_do_fileattr_get(dentry, attr);
	if (err == -ENOIOCTLCMD)
		iot_span_cancel(&span);
	else
		tfs_emit_getfileattr(&span, dentry, err);
	return err;
}

static int fileattr_set(struct mnt_idmap *idmap, struct dentry *dentry, struct file_kattr *attr)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dentry->d_sb, IOT_KIND_setfileattr, &span);
	err = tfs_do_fileattr_set(dentry, attr);
	if (!err)
		tfs_copy_attr_locked(d_inode(dentry));
	if (err == -ENOIOCTLCMD)
		iot_span_cancel(&span);
	else
		tfs_emit_setfileattr(&span, dentry, attr, err);
	return err;
}

IOT_CREATE(tfs_create)
IOT_MKDIR(tfs_mkdir)

#define COMMON_IOPS                     \
	.setattr = tfs_setattr,         \
	.getattr = tfs_getattr,         \
	.permission = tfs_permission,   \
	.listxattr = tfs_listxattr,     \
	TFS_ACL_IOPS

const struct inode_operations tfs_dir_iops = {
	.lookup = tfs_lookup,
	.create = IOT_CREATE_OP(tfs_create),
	.link = tfs_link,
	.unlink = tfs_unlink,
	.symlink = tfs_symlink,
	.mkdir = IOT_MKDIR_OP(tfs_mkdir),
	.rmdir = tfs_rmdir,
	.mknod = tfs_mknod,
	.rename = tfs_rename,
	.atomic_open = tfs_atomic_open,
	.tmpfile = tfs_tmpfile,
	.fiemap = fiemap,
	.fileattr_get = fileattr_get,
	.fileattr_set = fileattr_set,
	COMMON_IOPS
};

const struct inode_operations tfs_file_iops = {
	.fiemap = fiemap,
	.fileattr_get = fileattr_get,
	.fileattr_set = fileattr_set,
	COMMON_IOPS
};

const struct inode_operations tfs_symlink_iops = {
	.get_link = tfs_get_link,
	.readlink = tfs_readlink,
	.fileattr_get = fileattr_get,
	.fileattr_set = fileattr_set,
	COMMON_IOPS
};
