// SPDX-License-Identifier: GPL-2.0-only
/*
 * lower_names.c - calls into the lower file system that look up and change names.
 *
 * The VFS holds the lock of the upper parent in all of them (of both parents in a
 * rename), so the upper dentry keeps its name and parent. The lower names are looked
 * up again under the lower lock, because a task below may have changed them. If the name
 * then leads to another object than the upper dentry does, the result is ESTALE, and the
 * VFS looks the upper name up again and retries.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/namei.h>

#include "compat/dirop.h"
#include "lower.h"
#include "compat/vfs.h"

static struct mnt_idmap *lower_idmap(const struct dentry *dentry)
{
	return mnt_idmap(tfs_lower_mnt(dentry->d_sb));
}

static struct qstr name_of(const struct dentry *dentry)
{
	return (struct qstr)QSTR_INIT(dentry->d_name.name, dentry->d_name.len);
}

/**
 * tfs_do_lookup() - find a name below
 * @dentry: upper dentry that is being looked up; its parent is locked at least shared
 *
 * Return: the lower dentry with a reference, perhaps negative; or an error.
 */
struct dentry *tfs_do_lookup(struct dentry *dentry)
{
	struct qstr name = name_of(dentry);

	return iot_lookup_one_unlocked(lower_idmap(dentry), &name,
				       tfs_lower_dentry(dentry->d_parent));
}

/* The steps that all creations share; @child is negative and its parent is locked. */
static struct dentry *start_creating_below(struct dentry *dentry)
{
	struct vfsmount *mnt = tfs_lower_mnt(dentry->d_sb);
	struct qstr name = name_of(dentry);
	struct dentry *child;
	int err = mnt_want_write(mnt);

	if (err)
		return ERR_PTR(err);
	child = iot_start_creating(lower_idmap(dentry), tfs_lower_dentry(dentry->d_parent), &name);
	if (IS_ERR(child))
		mnt_drop_write(mnt);
	return child;
}

/* Return: @child with a reference of its own, or the error. */
static struct dentry *end_creating_below(struct dentry *dentry, struct dentry *child, int err)
{
	struct dentry *made = err ? ERR_PTR(err) : dget(child);

	iot_end_dirop(child);
	mnt_drop_write(tfs_lower_mnt(dentry->d_sb));
	return made;
}

/* As tfs_is_given_back(), for an operation that returned @made. */
static bool is_made_again(struct delegated_inode *delegated, struct dentry **made)
{
	int err = PTR_ERR_OR_ZERO(*made);
	bool again = tfs_is_given_back(delegated, &err);

	if (err)
		*made = ERR_PTR(err);
	return again;
}

/**
 * tfs_do_create() - make a regular file
 * @dentry: upper dentry, negative
 * @mode: as the VFS gave it
 *
 * This and the following functions return the positive lower dentry with a reference, or an error.
 */
struct dentry *tfs_do_create(struct dentry *dentry, umode_t mode)
{
	struct delegated_inode delegated = {};
	struct dentry *child;
	int err;

	do {
		child = start_creating_below(dentry);
		if (IS_ERR(child))
			return child;
		err = iot_vfs_create(lower_idmap(dentry), child, mode, &delegated);
		child = end_creating_below(dentry, child, err);
	} while (is_made_again(&delegated, &child));
	return child;
}

static struct dentry *mkdir_below(struct dentry *dentry, umode_t mode,
				  struct delegated_inode *delegated)
{
	struct dentry *child = start_creating_below(dentry);

	if (IS_ERR(child))
		return child;
	child = iot_vfs_mkdir(lower_idmap(dentry), child, mode, delegated);
	if (IS_ERR(child)) {
		mnt_drop_write(tfs_lower_mnt(dentry->d_sb));
		return child;
	}
	/* Some network file systems return no inode for a new object: a later lookup gets it. */
	return end_creating_below(dentry, child, d_is_positive(child) ? 0 : -ESTALE);
}

struct dentry *tfs_do_mkdir(struct dentry *dentry, umode_t mode)
{
	struct delegated_inode delegated = {};
	struct dentry *made;

	do {
		made = mkdir_below(dentry, mode, &delegated);
	} while (is_made_again(&delegated, &made));
	return made;
}

struct dentry *tfs_do_mknod(struct dentry *dentry, umode_t mode, dev_t dev)
{
	struct delegated_inode delegated = {};
	struct dentry *child;
	int err;

	do {
		child = start_creating_below(dentry);
		if (IS_ERR(child))
			return child;
		err = iot_vfs_mknod(lower_idmap(dentry), child, mode, dev, &delegated);
		child = end_creating_below(dentry, child, err);
	} while (is_made_again(&delegated, &child));
	return child;
}

struct dentry *tfs_do_symlink(struct dentry *dentry, const char *target)
{
	struct delegated_inode delegated = {};
	struct dentry *child;
	int err;

	do {
		child = start_creating_below(dentry);
		if (IS_ERR(child))
			return child;
		err = iot_vfs_symlink(lower_idmap(dentry), child, target, &delegated);
		child = end_creating_below(dentry, child, err);
	} while (is_made_again(&delegated, &child));
	return child;
}

struct dentry *tfs_do_link(struct dentry *old, struct dentry *dentry)
{
	struct delegated_inode delegated = {};
	struct dentry *child;
	int err;

	do {
		child = start_creating_below(dentry);
		if (IS_ERR(child))
			return child;
		err = vfs_link(tfs_lower_dentry(old), lower_idmap(dentry), d_inode(child->d_parent),
			       child, iot_delegated(&delegated));
		child = end_creating_below(dentry, child, err);
	} while (is_made_again(&delegated, &child));
	return child;
}

/**
 * tfs_do_create_open() - create a regular file and open it, which is one operation below
 * @dentry: upper dentry, negative
 * @flags: of the open
 * @mode: as the VFS gave it
 *
 * For file systems on which two operations would not be equivalent: a task that creates a file
 * without write permission can still write to it through this one handle.
 *
 * Return: the lower file, open; or an error, -EEXIST if another task has created the name.
 */
struct file *tfs_do_create_open(struct dentry *dentry, int flags, umode_t mode)
{
	struct path dir = tfs_lower_path(dentry->d_parent);

	return file_open_root(&dir, dentry->d_name.name, (flags & ~O_TRUNC) | O_CREAT | O_EXCL,
			      mode);
}

/* As start_creating_below(): @child is @object, which the upper dentry stands for. */
static struct dentry *start_removing_below(struct dentry *dentry, const struct inode *object)
{
	struct vfsmount *mnt = tfs_lower_mnt(dentry->d_sb);
	struct qstr name = name_of(dentry);
	struct dentry *child;
	int err = mnt_want_write(mnt);

	if (err)
		return ERR_PTR(err);
	child = iot_start_removing(lower_idmap(dentry), tfs_lower_dentry(dentry->d_parent), &name);
	if (!IS_ERR(child) && d_inode(child) != object) {
		iot_end_dirop(child);
		child = ERR_PTR(-ESTALE);
	}
	if (IS_ERR(child))
		mnt_drop_write(mnt);
	return child;
}

static void end_removing_below(struct dentry *dentry, struct dentry *child)
{
	iot_end_dirop(child);
	mnt_drop_write(tfs_lower_mnt(dentry->d_sb));
}

/*
 * NFS counts the references of a dentry whose name is removed: if there are more than the caller's, the
 * object is in use, and NFS renames it (".nfs...") instead. The reference of the upper dentry is not a
 * use: it is dropped while the caller has @child.
 */
static bool lend(const struct dentry *dentry, struct dentry *child)
{
	if (!(child->d_flags & DCACHE_OP_REVALIDATE) || child != tfs_lower_dentry(dentry))
		return false;
	dput(child);
	return true;
}

static void take_back(struct dentry *child, bool is_lent)
{
	if (is_lent)
		dget(child);
}

static int unlink_below(struct dentry *dentry, struct dentry *child,
			struct delegated_inode *delegated)
{
	return vfs_unlink(lower_idmap(dentry), d_inode(child->d_parent), child,
			  iot_delegated(delegated));
}

static int hide_and_unlink_below(struct dentry *dentry, struct dentry *child,
				 struct delegated_inode *delegated)
{
	bool is_lent = lend(dentry, child);
	int err = unlink_below(dentry, child, delegated);

	take_back(child, is_lent);
	if (err)
		d_rehash(dentry);
	return err;
}

static int find_and_unlink_below(struct dentry *dentry, struct delegated_inode *delegated)
{
	struct dentry *child = start_removing_below(dentry, tfs_lower_inode(d_inode(dentry)));
	int err;

	if (IS_ERR(child))
		return PTR_ERR(child);
	/*
	 * A lower dentry without further references becomes negative when its name is removed, so no other
	 * task may have the upper one then, or find it.
	 */
	if ((child->d_flags & DCACHE_OP_REVALIDATE) && tfs_dentry_hide(dentry, 1))
		err = hide_and_unlink_below(dentry, child, delegated);
	else
		err = unlink_below(dentry, child, delegated);
	end_removing_below(dentry, child);
	return err;
}

/**
 * tfs_do_unlink() - remove the name of anything but a directory
 * @dentry: upper dentry, positive; unhashed if the name is removed, and perhaps otherwise
 *
 * Return: 0 or a negative errno.
 */
int tfs_do_unlink(struct dentry *dentry)
{
	struct delegated_inode delegated = {};
	int err;

	do {
		err = find_and_unlink_below(dentry, &delegated);
	} while (tfs_is_given_back(&delegated, &err));
	return err;
}

/**
 * tfs_do_uncreate() - remove a new object that could not get an upper inode or file
 * @dentry: upper dentry of the name, whose parent is still locked
 * @made: lower dentry of the new object
 * @refs: number of its references if no other task has found it
 *
 * Best effort: there may be no memory for that either. And if another task has found the object,
 * above or below, and perhaps opened it, it stays.
 */
void tfs_do_uncreate(struct dentry *dentry, const struct dentry *made, unsigned int refs)
{
	struct dentry *child;

	if (!d_unhashed(dentry) && !tfs_dentry_hide(dentry, 1))
		return;
	child = start_removing_below(dentry, d_inode(made));
	if (IS_ERR(child))
		return;
	if (child == made && tfs_dentry_hide(child, refs + 1) && unlink_below(dentry, child, NULL))
		d_rehash(child);
	end_removing_below(dentry, child);
}

static int rmdir_below(struct dentry *dentry, struct delegated_inode *delegated)
{
	struct dentry *child = start_removing_below(dentry, tfs_lower_inode(d_inode(dentry)));
	int err;

	if (IS_ERR(child))
		return PTR_ERR(child);
	err = iot_vfs_rmdir(lower_idmap(dentry), child, delegated);
	end_removing_below(dentry, child);
	return err;
}

int tfs_do_rmdir(struct dentry *dentry)
{
	struct delegated_inode delegated = {};
	int err;

	do {
		err = rmdir_below(dentry, &delegated);
	} while (tfs_is_given_back(&delegated, &err));
	return err;
}

static bool is_stale(const struct dentry *upper, const struct dentry *lower)
{
	struct inode *inode = d_inode(upper);

	return d_inode(lower) != (inode ? tfs_lower_inode(inode) : NULL);
}

static int rename_below(struct dentry *old, struct dentry *new, unsigned int flags,
			struct delegated_inode *delegated)
{
	struct vfsmount *mnt = tfs_lower_mnt(old->d_sb);
	struct qstr old_name = name_of(old), new_name = name_of(new);
	struct iot_renaming renaming = {
		.idmap = lower_idmap(old),
		.old_parent = tfs_lower_dentry(old->d_parent),
		.old_name = &old_name,
		.new_parent = tfs_lower_dentry(new->d_parent),
		.new_name = &new_name,
		.flags = flags,
		.delegated = delegated,
	};
	bool is_lent;
	int err = mnt_want_write(mnt);

	if (err)
		return err;
	err = iot_start_renaming(&renaming);
	if (err)
		goto err_start;
	if (is_stale(old, renaming.old_dentry) || is_stale(new, renaming.new_dentry)) {
		err = -ESTALE;
	} else {
		is_lent = lend(new, renaming.new_dentry); /* the object stays, without a name */
		err = iot_vfs_rename(&renaming);
		take_back(renaming.new_dentry, is_lent);
	}
	iot_end_renaming(&renaming);
err_start:
	mnt_drop_write(mnt);
	return err;
}

/**
 * tfs_do_rename() - rename, exchange or white out
 * @old: upper dentry of the old name
 * @new: upper dentry of the new name, perhaps negative
 * @flags: RENAME_*
 *
 * Return: 0 or a negative errno.
 */
int tfs_do_rename(struct dentry *old, struct dentry *new, unsigned int flags)
{
	struct delegated_inode delegated = {};
	int err;

	do {
		err = rename_below(old, new, flags, &delegated);
	} while (tfs_is_given_back(&delegated, &err));
	return err;
}

/**
 * tfs_do_tmpfile() - make a file that has no name
 * @dir: upper dentry of the directory
 * @mode: as the VFS gave it
 * @flags: of the open
 *
 * Return: the lower file, open; or an error.
 */
struct file *tfs_do_tmpfile(struct dentry *dir, umode_t mode, int flags)
{
	struct path lower = tfs_lower_path(dir);
	struct file *file;
	int err = mnt_want_write(lower.mnt);

	if (err)
		return ERR_PTR(err);
	file = kernel_tmpfile_open(mnt_idmap(lower.mnt), &lower, mode, flags, current_cred());
	mnt_drop_write(lower.mnt);
	return file;
}
