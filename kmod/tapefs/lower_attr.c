// SPDX-License-Identifier: GPL-2.0-only
/*
 * lower_attr.c - calls into the lower file system about attributes.
 */
#include <linux/fs.h>
#include <linux/fileattr.h>
#include <linux/namei.h>
#include <linux/posix_acl.h>
#include <linux/statfs.h>
#include <linux/xattr.h>

#include "lower.h"
#include "compat/vfs.h"

/* As truncate(2) does: a file that is being executed below is not truncated, and leases of it are broken. */
static int start_truncating(struct inode *lower)
{
	int err = get_write_access(lower);

	if (err)
		return err;
	err = break_lease(lower, O_WRONLY);
	if (err)
		put_write_access(lower);
	return err;
}

/*
 * The VFS has determined from the upper inode which set-user-ID and set-group-ID bits a change removes. The lower
 * inode may have other bits by now, so they are determined again, as chown_common() and do_truncate() do. The lower
 * inode is locked.
 */
static void find_bits_to_remove(struct mnt_idmap *idmap, const struct dentry *lower, struct iattr *attr)
{
	struct inode *inode = d_inode(lower);
	unsigned int bits = 0;

	if (attr->ia_valid & ATTR_SIZE)
		bits = setattr_should_drop_suidgid(idmap, inode);
	else if ((attr->ia_valid & ATTR_KILL_SUID) && (attr->ia_valid & (ATTR_UID | ATTR_GID)))
		bits = ATTR_KILL_SUID | setattr_should_drop_sgid(idmap, inode);
	else
		return;
	attr->ia_valid &= ~(ATTR_KILL_SUID | ATTR_KILL_SGID);
	attr->ia_valid |= bits;
	if (bits && (attr->ia_valid & ATTR_SIZE))
		attr->ia_valid |= ATTR_FORCE;
}

static int change_below(struct vfsmount *mnt, struct dentry *lower, const struct iattr *attr,
			struct delegated_inode *delegated)
{
	struct iattr below = *attr;
	int err;

	if (below.ia_valid & ATTR_FILE)
		below.ia_file = tfs_lower_file(attr->ia_file);
	/* The lower inode's own mode decides which bits these remove. */
	if (below.ia_valid & (ATTR_KILL_SUID | ATTR_KILL_SGID))
		below.ia_valid &= ~ATTR_MODE;
	inode_lock(d_inode(lower));
	find_bits_to_remove(mnt_idmap(mnt), lower, &below);
	if ((below.ia_valid & ATTR_SIZE) && IS_APPEND(d_inode(lower)))
		err = -EPERM; /* a descriptor from before: ftruncate(2) looks at the upper inode */
	else
		err = notify_change(mnt_idmap(mnt), lower, &below, iot_delegated(delegated));
	inode_unlock(d_inode(lower));
	return err;
}

/**
 * tfs_do_setattr() - chmod, chown, truncate, utimes
 * @dentry: upper dentry
 * @attr: as the VFS gave it; if it names a file, that is an upper one
 *
 * Return: 0 or a negative errno.
 */
int tfs_do_setattr(struct dentry *dentry, const struct iattr *attr)
{
	struct dentry *lower = tfs_lower_dentry(dentry);
	struct vfsmount *mnt = tfs_lower_mnt(dentry->d_sb);
	bool is_by_name = (attr->ia_valid & ATTR_SIZE) && !(attr->ia_valid & ATTR_FILE);
	struct delegated_inode delegated = {};
	int err = mnt_want_write(mnt);

	if (err)
		return err;
	if (is_by_name)
		err = start_truncating(d_inode(lower));
	if (err)
		goto err_start;
	do {
		err = change_below(mnt, lower, attr, &delegated);
	} while (tfs_is_given_back(&delegated, &err));
	if (is_by_name)
		put_write_access(d_inode(lower));
err_start:
	mnt_drop_write(mnt);
	return err;
}

/**
 * tfs_do_getattr() - attributes as the lower file system has them, its dev and ino included
 * @path: the upper object
 * @stat: filled in
 * @mask: requested attributes, STATX_*
 * @flags: AT_*
 *
 * Return: 0 or a negative errno.
 */
int tfs_do_getattr(const struct path *path, struct kstat *stat, u32 mask, unsigned int flags)
{
	struct path lower = tfs_lower_path(path->dentry);

	return iot_vfs_getattr(&lower, stat, mask, flags);
}

/* Callable in RCU walk: the lower inode is found without references. */
int tfs_do_permission(struct inode *inode, int mask)
{
	return inode_permission(mnt_idmap(tfs_lower_mnt(inode->i_sb)), tfs_lower_inode(inode), mask);
}

const char *tfs_do_get_link(struct dentry *dentry, struct delayed_call *done)
{
	struct path lower = tfs_lower_path(dentry);
	const char *target = vfs_get_link(lower.dentry, done);

	if (!IS_ERR(target))
		touch_atime(&lower); /* as a walk through the lower name would */
	return target;
}

int tfs_do_statfs(struct dentry *dentry, struct kstatfs *stat)
{
	struct path lower = tfs_lower_path(dentry);

	return vfs_statfs(&lower, stat);
}

/*
 * The lower super block notes write-back errors (s_wb_err), and syncfs(2) reports an error once for each open
 * file: the VFS compares the value in the super block with the sample that it took when the file was opened.
 * Upper files have the sample of their lower file, see tfs_open_lower(). The upper super block therefore has
 * a copy of the lower value, including the flag that an error has been reported. The last copy is the latest
 * value.
 */
static void copy_errors(struct super_block *sb, struct super_block *lower)
{
	errseq_t old, now;

	do {
		old = READ_ONCE(sb->s_wb_err);
		now = 0;
		errseq_check_and_advance(&lower->s_wb_err, &now);
	} while (cmpxchg(&sb->s_wb_err, old, now) != old);
}

/**
 * tfs_do_sync_fs() - syncfs(2) and unmounting; sync(2) reaches the lower one by itself
 * @sb: upper super block
 *
 * Return: 0 or a negative errno.
 */
int tfs_do_sync_fs(struct super_block *sb)
{
	struct super_block *lower = tfs_lower_mnt(sb)->mnt_sb;
	int err;

	down_read_nested(&lower->s_umount, TFS_BELOW);
	err = sync_filesystem(lower);
	up_read(&lower->s_umount);
	if (sb->s_root) /* else there is no upper inode to report errors on */
		copy_errors(sb, lower);
	return err;
}

/**
 * tfs_do_freeze() - ioctl(FIFREEZE): all of the lower file system, as through its own mount
 * @sb: the upper one, which does not freeze: its writers wait for write access to the lower one, until that is
 *	thawed, perhaps through its own mount
 * @who: FREEZE_HOLDER_USERSPACE; the kernel freezes the lower file system by itself
 * @owner: passed on
 *
 * The caller holds no lock of either. The lower file system stays frozen when the upper one is unmounted.
 *
 * Return: 0 or a negative errno; EOPNOTSUPP as from the lower file system, if it cannot.
 */
int tfs_do_freeze(struct super_block *sb, enum freeze_holder who, const void *owner)
{
	struct super_block *lower = tfs_lower_mnt(sb)->mnt_sb;

	if (who != FREEZE_HOLDER_USERSPACE ||
	    (!lower->s_op->freeze_fs && !lower->s_op->freeze_super))
		return -EOPNOTSUPP;
	return iot_freeze_super(lower, who, owner);
}

/**
 * tfs_do_thaw() - ioctl(FITHAW)
 * @sb: the upper one
 * @who: as for tfs_do_freeze()
 * @owner: passed on
 *
 * Return: 0 or a negative errno; EINVAL if the lower file system is not frozen.
 */
int tfs_do_thaw(struct super_block *sb, enum freeze_holder who, const void *owner)
{
	if (who != FREEZE_HOLDER_USERSPACE)
		return -EINVAL;
	return iot_thaw_super(tfs_lower_mnt(sb)->mnt_sb, who, owner);
}

ssize_t tfs_do_getxattr(struct dentry *dentry, const char *name, void *value, size_t room)
{
	struct path lower = tfs_lower_path(dentry);

	if (!strcmp(name, XATTR_NAME_CAPS))
		return tfs_do_getcaps(dentry, value, room);
	return vfs_getxattr(mnt_idmap(lower.mnt), lower.dentry, name, value, room);
}

int tfs_do_setxattr(struct dentry *dentry, const char *name, const void *value, size_t bytes,
		    int flags)
{
	struct path lower = tfs_lower_path(dentry);
	int err = mnt_want_write(lower.mnt);

	if (err)
		return err;
	if (!strcmp(name, XATTR_NAME_CAPS))
		err = tfs_do_setcaps(dentry, value, bytes, flags);
	else
		err = vfs_setxattr(mnt_idmap(lower.mnt), lower.dentry, name, value, bytes, flags);
	mnt_drop_write(lower.mnt);
	return err;
}

int tfs_do_removexattr(struct dentry *dentry, const char *name)
{
	struct path lower = tfs_lower_path(dentry);
	int err = mnt_want_write(lower.mnt);

	if (err)
		return err;
	err = vfs_removexattr(mnt_idmap(lower.mnt), lower.dentry, name);
	mnt_drop_write(lower.mnt);
	return err;
}

ssize_t tfs_do_listxattr(struct dentry *dentry, char *list, size_t room)
{
	return vfs_listxattr(tfs_lower_dentry(dentry), list, room);
}

#ifdef IOT_HAVE_GET_INODE_ACL
/* Convert the ids to those of the mount below: file systems cache the form that is the same for all mounts. */
static void map_acl(const struct path *lower, struct posix_acl *acl)
{
	struct user_namespace *of_fs = i_user_ns(d_inode(lower->dentry));
	struct mnt_idmap *idmap = mnt_idmap(lower->mnt);
	struct posix_acl_entry *entry;

	for (entry = acl->a_entries; entry < acl->a_entries + acl->a_count; entry++) {
		if (entry->e_tag == ACL_USER)
			entry->e_uid = vfsuid_into_kuid(make_vfsuid(idmap, of_fs, entry->e_uid));
		else if (entry->e_tag == ACL_GROUP)
			entry->e_gid = vfsgid_into_kgid(make_vfsgid(idmap, of_fs, entry->e_gid));
	}
}

struct posix_acl *tfs_do_get_acl(struct dentry *dentry, const char *name)
{
	struct path lower = tfs_lower_path(dentry);
	struct posix_acl *acl = vfs_get_acl(mnt_idmap(lower.mnt), lower.dentry, name);
	struct posix_acl *mapped;

	if (IS_ERR_OR_NULL(acl) || likely(!is_idmapped_mnt(lower.mnt)))
		return acl;
	mapped = posix_acl_clone(acl, GFP_KERNEL);
	posix_acl_release(acl);
	if (!mapped)
		return ERR_PTR(-ENOMEM);
	map_acl(&lower, mapped);
	return mapped;
}

/*
 * The VFS writes the ids of the file system into the list that it gets, but the list of the caller is also
 * recorded: so this passes a copy.
 */
static int set_acl(const struct path *lower, const char *name, struct posix_acl *acl)
{
	struct mnt_idmap *idmap = mnt_idmap(lower->mnt);
	struct posix_acl *copy;
	int err;

	if (likely(!is_idmapped_mnt(lower->mnt)))
		return vfs_set_acl(idmap, lower->dentry, name, acl);
	copy = posix_acl_clone(acl, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	err = vfs_set_acl(idmap, lower->dentry, name, copy);
	posix_acl_release(copy);
	return err;
}

int tfs_do_set_acl(struct dentry *dentry, const char *name, struct posix_acl *acl)
{
	struct path lower = tfs_lower_path(dentry);
	int err = mnt_want_write(lower.mnt);

	if (err)
		return err;
	if (acl)
		err = set_acl(&lower, name, acl);
	else
		err = vfs_remove_acl(mnt_idmap(lower.mnt), lower.dentry, name);
	mnt_drop_write(lower.mnt);
	return err;
}
#endif

int tfs_do_fiemap(struct inode *inode, struct fiemap_extent_info *info, u64 start, u64 length)
{
	struct inode *lower = tfs_lower_inode(inode);

	if (!lower->i_op->fiemap)
		return -EOPNOTSUPP;
	return lower->i_op->fiemap(lower, info, start, length);
}

int tfs_do_fileattr_get(struct dentry *dentry, struct file_kattr *attr)
{
	return vfs_fileattr_get(tfs_lower_dentry(dentry), attr);
}

int tfs_do_fileattr_set(struct dentry *dentry, struct file_kattr *attr)
{
	struct path lower = tfs_lower_path(dentry);
	int err = mnt_want_write(lower.mnt);

	if (err)
		return err;
	err = vfs_fileattr_set(mnt_idmap(lower.mnt), lower.dentry, attr);
	mnt_drop_write(lower.mnt);
	return err;
}
