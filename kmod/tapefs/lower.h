/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lower.h - tfs_do_*(): the only calls into the lower file system.
 *
 * Each takes upper objects, finds the lower ones, makes the VFS call with its requirements
 * (write access to the mount, the lock of the lower parent), and returns its result. None
 * records anything: the calling operation of tapefs does, because only that operation knows
 * the resulting objects.
 */
#ifndef TFS_LOWER_H
#define TFS_LOWER_H

#include "tapefs.h"
#include "compat/freeze.h"

/*
 * An NFS client has to return its delegation of an object before the object is changed here: the server
 * works on the lower file system, never on this one. So the waiting task may hold the locks of upper
 * objects that the VFS has taken for it, but none of lower ones.
 *
 * Return: whether the operation that ended with @err is to be retried, because the delegation was
 * returned. If a signal ended the wait, @err is set accordingly.
 */
static inline bool tfs_is_given_back(struct delegated_inode *delegated, int *err)
{
	if (likely(!is_delegated(delegated)))
		return false;
	*err = break_deleg_wait(delegated);
	return !*err;
}

/*
 * For lockdep, which knows locks by the type of their file system: s_umount of a super block below one of ours. It may
 * be of a type that lies on tapefs elsewhere, and takes the two the other way around. 1 is for one that is being made.
 */
#define TFS_BELOW 2

/* names: lower_names.c */
struct dentry *tfs_do_lookup(struct dentry *dentry);
struct dentry *tfs_do_create(struct dentry *dentry, umode_t mode);
struct dentry *tfs_do_mkdir(struct dentry *dentry, umode_t mode);
struct dentry *tfs_do_mknod(struct dentry *dentry, umode_t mode, dev_t dev);
struct dentry *tfs_do_symlink(struct dentry *dentry, const char *target);
struct dentry *tfs_do_link(struct dentry *old, struct dentry *dentry);
struct file *tfs_do_create_open(struct dentry *dentry, int flags, umode_t mode);
void tfs_do_uncreate(struct dentry *dentry, const struct dentry *made, unsigned int refs);
int tfs_do_unlink(struct dentry *dentry);
int tfs_do_rmdir(struct dentry *dentry);
int tfs_do_rename(struct dentry *old, struct dentry *new, unsigned int flags);
struct file *tfs_do_tmpfile(struct dentry *dir, umode_t mode, int flags);

/* attributes: lower_attr.c */
int tfs_do_setattr(struct dentry *dentry, const struct iattr *attr);
int tfs_do_getattr(const struct path *path, struct kstat *stat, u32 mask, unsigned int flags);
int tfs_do_permission(struct inode *inode, int mask);
const char *tfs_do_get_link(struct dentry *dentry, struct delayed_call *done);
int tfs_do_statfs(struct dentry *dentry, struct kstatfs *stat);
int tfs_do_sync_fs(struct super_block *sb);
int tfs_do_freeze(struct super_block *sb, enum freeze_holder who, const void *owner);
int tfs_do_thaw(struct super_block *sb, enum freeze_holder who, const void *owner);
ssize_t tfs_do_getxattr(struct dentry *dentry, const char *name, void *value, size_t room);
int tfs_do_setxattr(struct dentry *dentry, const char *name, const void *value, size_t bytes,
		    int flags);
int tfs_do_removexattr(struct dentry *dentry, const char *name);
ssize_t tfs_do_listxattr(struct dentry *dentry, char *list, size_t room);

/* capabilities: lower_caps.c */
ssize_t tfs_do_getcaps(struct dentry *dentry, void *value, size_t room);
int tfs_do_setcaps(struct dentry *dentry, const void *value, size_t bytes, int flags);

#ifdef IOT_HAVE_GET_INODE_ACL
struct posix_acl *tfs_do_get_acl(struct dentry *dentry, const char *name);
int tfs_do_set_acl(struct dentry *dentry, const char *name, struct posix_acl *acl);
#endif

/* quotas: lower_quota.c */
void tfs_quota_inherit(struct super_block *sb);

/* files: lower_file.c */
struct file *tfs_do_open(const struct file *file, int flags);
struct file *tfs_lower_as_set(struct file *file);
void tfs_notify_rw(const struct file *file, bool is_write, ssize_t result);
int tfs_do_flush(struct file *file, fl_owner_t owner);
int tfs_do_lock(struct file *file, int command, struct file_lock *lock);
void tfs_do_unlock_process(struct file *file);
int tfs_do_flock(struct file *file, int command, struct file_lock *lock);
loff_t tfs_do_llseek(struct file *file, loff_t offset, int whence);
int tfs_do_fsync(struct file *file, loff_t start, loff_t end, int datasync);
long tfs_do_fallocate(struct file *file, int mode, loff_t offset, loff_t length);
int tfs_do_fadvise(struct file *file, loff_t offset, loff_t length, int advice);
ssize_t tfs_do_splice_read(struct file *file, loff_t *offset, struct pipe_inode_info *pipe,
			   size_t length, unsigned int flags);
ssize_t tfs_do_splice_write(struct pipe_inode_info *pipe, struct file *file, loff_t *offset,
			    size_t length, unsigned int flags);
ssize_t tfs_do_copy_range(struct file *in, loff_t offset_in, struct file *out, loff_t offset_out,
			  size_t length, unsigned int flags);
loff_t tfs_do_remap_range(struct file *in, loff_t offset_in, struct file *out, loff_t offset_out,
			  loff_t length, unsigned int flags);
long tfs_do_ioctl(struct file *file, unsigned int command, unsigned long argument);
long tfs_do_compat_ioctl(struct file *file, unsigned int command, unsigned long argument);
int tfs_do_iterate(struct file *file, struct dir_context *context);
int tfs_do_fiemap(struct inode *inode, struct fiemap_extent_info *info, u64 start, u64 length);
int tfs_do_fileattr_get(struct dentry *dentry, struct file_kattr *attr);
int tfs_do_fileattr_set(struct dentry *dentry, struct file_kattr *attr);

#endif
