// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - operations that make, remove and change names.
 *
 * The VFS holds the lock of the upper parent (of both, in a rename), so the upper
 * dentries keep their names and parents.
 */
#include <linux/dcache.h>
#include <linux/fs.h>

#include "emit.h"
#include "lower.h"
#include "tapefs.h"

static void copy_attr_of_parent(struct inode *dir)
{
	tfs_copy_attr(dir);
	tfs_copy_size(dir);
}

/*
 * The last steps of each creation: @lower is the dentry of the new object, or the error. If there is
 * no memory for an upper inode, the object still exists, and a later lookup finds it.
 */
static int made(struct inode *dir, struct dentry *dentry, struct dentry *lower)
{
	if (IS_ERR(lower))
		return PTR_ERR(lower);
	if (tfs_instantiate(dentry, lower))
		d_drop(dentry);
	copy_attr_of_parent(dir);
	return 0;
}

/* Called only for regular files that are created without being opened: by mknod(2) and nfsd. */
int tfs_create(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_mknod, &span);
	err = made(dir, dentry, tfs_do_create(dentry, mode));
	tfs_emit_mknod(&span, dentry, mode, 0, err);
	return err;
}

int tfs_mkdir(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_mkdir, &span);
	err = made(dir, dentry, tfs_do_mkdir(dentry, mode));
	tfs_emit_mkdir(&span, dentry, mode, err);
	return err;
}

int tfs_mknod(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry, umode_t mode,
	      dev_t dev)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_mknod, &span);
	err = made(dir, dentry, tfs_do_mknod(dentry, mode, dev));
	tfs_emit_mknod(&span, dentry, mode, dev, err);
	return err;
}

int tfs_symlink(struct mnt_idmap *idmap, struct inode *dir, struct dentry *dentry,
		const char *target)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_symlink, &span);
	err = made(dir, dentry, tfs_do_symlink(dentry, target));
	tfs_emit_symlink(&span, dentry, target, err);
	return err;
}

int tfs_link(struct dentry *old, struct inode *dir, struct dentry *dentry)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_link, &span);
	if (tfs_mount_may_link(&nop_mnt_idmap, d_inode(old)))
		err = made(dir, dentry, tfs_do_link(old, dentry));
	else
		err = -EPERM;
	tfs_copy_attr(d_inode(old));
	tfs_emit_link(&span, old, dentry, err);
	return err;
}

/*
 * The name was removed. Its negative upper dentry is not kept, since it would keep the
 * lower dentry, and with it the lower inode.
 */
static void removed(struct inode *dir, struct dentry *dentry)
{
	tfs_copy_attr(d_inode(dentry));
	copy_attr_of_parent(dir);
	d_drop(dentry);
}

/* Tells gone.c to leave the dentry to this task, which drops it itself. The VFS has locked the inode. */
static void set_remover(const struct dentry *dentry, const struct task_struct *task)
{
	if (d_is_positive(dentry))
		WRITE_ONCE(TFS_I(d_inode(dentry))->remover, task);
}

int tfs_unlink(struct inode *dir, struct dentry *dentry)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_unlink, &span);
	set_remover(dentry, current);
	err = tfs_do_unlink(dentry);
	set_remover(dentry, NULL);
	tfs_emit_unlink(&span, dentry, err);
	if (!err)
		removed(dir, dentry);
	return err;
}

int tfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct iot_span span;
	int err;

	tfs_gate_open(dir->i_sb, IOT_KIND_rmdir, &span);
	set_remover(dentry, current);
	err = tfs_do_rmdir(dentry);
	set_remover(dentry, NULL);
	tfs_emit_rmdir(&span, dentry, err);
	if (!err)
		removed(dir, dentry);
	return err;
}

/* Note the new places of the lower names; the VFS moves the upper ones afterwards. */
static void place_renamed(struct dentry *old, struct dentry *new, unsigned int flags, int err)
{
	struct dentry *old_at = err ? old : new;
	struct dentry *new_at = !err && (flags & RENAME_EXCHANGE) ? old : new;

	tfs_dentry_place(old, old_at->d_parent, &old_at->d_name);
	tfs_dentry_place(new, new_at->d_parent, &new_at->d_name);
}

int tfs_rename(struct mnt_idmap *idmap, struct inode *old_dir, struct dentry *old,
	       struct inode *new_dir, struct dentry *new, unsigned int flags)
{
	struct iot_span span;
	int err;

	tfs_gate_open(old_dir->i_sb, IOT_KIND_rename, &span);
	tfs_dentry_place(old, NULL, NULL);
	tfs_dentry_place(new, NULL, NULL);
	set_remover(new, current);
	err = tfs_do_rename(old, new, flags);
	set_remover(new, NULL);
	place_renamed(old, new, flags, err);
	tfs_emit_rename(&span, old, new, flags, err);
	if (err)
		return err;
	copy_attr_of_parent(old_dir);
	if (new_dir != old_dir)
		copy_attr_of_parent(new_dir);
	tfs_copy_attr(d_inode(old));
	if (d_is_positive(new))
		tfs_copy_attr(d_inode(new));
	return 0;
}
