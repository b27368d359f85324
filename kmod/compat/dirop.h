/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dirop.h - change a directory: lock it, look a name up in it, create, remove, rename.
 *
 * Since 6.19 the VFS does the first two in one step: start_creating() and similar functions.
 * This header has the same for older kernels, under names of its own because the functions
 * around it (vfs_mkdir() and others) changed their arguments more than once. The kernel's
 * functions replace it when 6.12 is removed.
 */
#ifndef IOT_COMPAT_DIROP_H
#define IOT_COMPAT_DIROP_H

#include <linux/fs.h>
#include <linux/namei.h>

#include "vfs.h"

#ifdef IOT_HAVE_START_CREATING

/* It finds what exists, and leaves the errno to vfs_mkdir() and its like. */
static inline struct dentry *iot_start_creating(struct mnt_idmap *idmap, struct dentry *parent,
						struct qstr *name)
{
	struct dentry *child = start_creating(idmap, parent, name);

	if (!IS_ERR(child) && d_is_positive(child)) {
		end_creating(child);
		return ERR_PTR(-EEXIST);
	}
	return child;
}

#define iot_start_removing(idmap, parent, name) start_removing(idmap, parent, name)
#define iot_end_dirop(child)			end_creating(child)

static inline int iot_vfs_create(struct mnt_idmap *idmap, struct dentry *child, umode_t mode,
				 struct delegated_inode *delegated)
{
	return vfs_create(idmap, child, mode, delegated);
}

static inline struct dentry *iot_vfs_mkdir(struct mnt_idmap *idmap, struct dentry *child,
					   umode_t mode, struct delegated_inode *delegated)
{
	return vfs_mkdir(idmap, d_inode(child->d_parent), child, mode, delegated);
}

static inline int iot_vfs_mknod(struct mnt_idmap *idmap, struct dentry *child, umode_t mode,
				dev_t dev, struct delegated_inode *delegated)
{
	return vfs_mknod(idmap, d_inode(child->d_parent), child, mode, dev, delegated);
}

static inline int iot_vfs_symlink(struct mnt_idmap *idmap, struct dentry *child,
				  const char *target, struct delegated_inode *delegated)
{
	return vfs_symlink(idmap, d_inode(child->d_parent), child, target, delegated);
}

static inline int iot_vfs_rmdir(struct mnt_idmap *idmap, struct dentry *child,
				struct delegated_inode *delegated)
{
	return vfs_rmdir(idmap, d_inode(child->d_parent), child, delegated);
}

#else

/*
 * Enterprise Linux 9 exports lookup_one() instead, which passes no flags to the file system. But NFS, for example, does
 * not ask its server for a name that is about to be created exclusively. Remove with Enterprise Linux 9.
 */
#ifdef IOT_HAVE_LOOKUP_ONE_QSTR_EXCL
#define iot_lookup_qstr(name, parent, flags) lookup_one_qstr_excl(name, parent, flags)
#else

/* A name that is already known, if its file system confirms it. Return: NULL if it must be looked up. */
static inline struct dentry *iot_lookup_known(const struct qstr *name, struct dentry *parent, unsigned int flags)
{
	struct dentry *known = d_lookup(parent, name);
	int valid = known && (known->d_flags & DCACHE_OP_REVALIDATE) ? iot_d_revalidate(known, flags) : 1;

	if (valid > 0)
		return known;
	if (!valid)
		d_invalidate(known);
	dput(known);
	return ERR_PTR(valid);
}

static inline struct dentry *iot_lookup_qstr(const struct qstr *name, struct dentry *parent, unsigned int flags)
{
	struct dentry *child = iot_lookup_known(name, parent, flags), *other;
	struct inode *dir = d_inode(parent);

	if (child)
		return child;
	if (IS_DEADDIR(dir))
		return ERR_PTR(-ENOENT);
	child = d_alloc(parent, name);
	if (!child)
		return ERR_PTR(-ENOMEM);
	other = dir->i_op->lookup(dir, child, flags);
	if (!other)
		return child;
	dput(child);
	return other;
}

#endif

/* The parent is locked; the flags are those of the system call that would look it up. */
static inline struct dentry *iot_lookup_locked(struct mnt_idmap *idmap, struct dentry *parent,
					       struct qstr *name, unsigned int flags)
{
	int err;

	name->hash = full_name_hash(parent, name->name, name->len);
	if (parent->d_flags & DCACHE_OP_HASH) {
		err = parent->d_op->d_hash(parent, name);
		if (err < 0)
			return ERR_PTR(err);
	}
	err = inode_permission(idmap, d_inode(parent), MAY_EXEC);
	if (err)
		return ERR_PTR(err);
	return iot_lookup_qstr(name, parent, flags);
}

static inline struct dentry *iot_start_dirop(struct mnt_idmap *idmap, struct dentry *parent,
					     struct qstr *name, unsigned int flags)
{
	struct dentry *child;

	inode_lock_nested(d_inode(parent), I_MUTEX_PARENT);
	child = iot_lookup_locked(idmap, parent, name, flags);
	if (IS_ERR(child))
		inode_unlock(d_inode(parent));
	return child;
}

/* Undoes iot_start_creating() and iot_start_removing(); an error pointer is none to undo. */
static inline void iot_end_dirop(struct dentry *child)
{
	if (IS_ERR(child))
		return;
	inode_unlock(d_inode(child->d_parent));
	dput(child);
}

/**
 * iot_start_creating() - get ready to create a name
 * @idmap: of the mount
 * @parent: the directory
 * @name: the name; its hash is filled in
 *
 * Return: a negative dentry whose parent is locked until iot_end_dirop(); -EEXIST.
 */
static inline struct dentry *iot_start_creating(struct mnt_idmap *idmap, struct dentry *parent,
						struct qstr *name)
{
	struct dentry *child = iot_start_dirop(idmap, parent, name, LOOKUP_CREATE | LOOKUP_EXCL);

	if (!IS_ERR(child) && d_is_positive(child)) {
		iot_end_dirop(child);
		return ERR_PTR(-EEXIST);
	}
	return child;
}

/**
 * iot_start_removing() - get ready to remove a name
 * @idmap: of the mount
 * @parent: the directory
 * @name: the name; its hash is filled in
 *
 * Return: a positive dentry whose parent is locked until iot_end_dirop(); -ENOENT.
 */
static inline struct dentry *iot_start_removing(struct mnt_idmap *idmap, struct dentry *parent,
						struct qstr *name)
{
	struct dentry *child = iot_start_dirop(idmap, parent, name, 0);

	if (!IS_ERR(child) && d_is_negative(child)) {
		iot_end_dirop(child);
		return ERR_PTR(-ENOENT);
	}
	return child;
}

/* 6.19: directories are delegated, too. */
static inline int iot_vfs_create(struct mnt_idmap *idmap, struct dentry *child, umode_t mode,
				 struct delegated_inode *delegated)
{
	return vfs_create(idmap, d_inode(child->d_parent), child, mode, true);
}

/* 6.15: mkdir returns the dentry that it made, which may be another one. */
static inline struct dentry *iot_vfs_mkdir(struct mnt_idmap *idmap, struct dentry *child,
					   umode_t mode, struct delegated_inode *delegated)
{
	int err = vfs_mkdir(idmap, d_inode(child->d_parent), child, mode);

	if (err) {
		iot_end_dirop(child);
		return ERR_PTR(err);
	}
	return child;
}

static inline int iot_vfs_mknod(struct mnt_idmap *idmap, struct dentry *child, umode_t mode,
				dev_t dev, struct delegated_inode *delegated)
{
	return vfs_mknod(idmap, d_inode(child->d_parent), child, mode, dev);
}

static inline int iot_vfs_symlink(struct mnt_idmap *idmap, struct dentry *child,
				  const char *target, struct delegated_inode *delegated)
{
	return vfs_symlink(idmap, d_inode(child->d_parent), child, target);
}

static inline int iot_vfs_rmdir(struct mnt_idmap *idmap, struct dentry *child,
				struct delegated_inode *delegated)
{
	return vfs_rmdir(idmap, d_inode(child->d_parent), child);
}

#endif

/**
 * struct iot_renaming - a rename in progress
 * @idmap: of the mount that both names are in
 * @old_parent: directory of the old name
 * @old_name: the old name; its hash is filled in
 * @new_parent: directory of the new name
 * @new_name: the new name; its hash is filled in
 * @flags: RENAME_*
 * @delegated: out, if set: the inode whose delegation must be returned first
 * @old_dentry: out: dentry of the old name
 * @new_dentry: out: dentry of the new name, perhaps negative
 */
struct iot_renaming {
	struct mnt_idmap *idmap;
	struct dentry *old_parent;
	struct qstr *old_name;
	struct dentry *new_parent;
	struct qstr *new_name;
	unsigned int flags;
	struct delegated_inode *delegated;
	struct dentry *old_dentry;
	struct dentry *new_dentry;
};

#ifdef IOT_HAVE_START_CREATING

static inline int iot_start_renaming(struct iot_renaming *r)
{
	struct renamedata rd = {
		.mnt_idmap = r->idmap,
		.old_parent = r->old_parent,
		.new_parent = r->new_parent,
		.flags = r->flags,
	};
	int err = start_renaming(&rd, 0, r->old_name, r->new_name);

	r->old_dentry = rd.old_dentry;
	r->new_dentry = rd.new_dentry;
	return err;
}

static inline int iot_vfs_rename(struct iot_renaming *r)
{
	struct renamedata rd = {
		.mnt_idmap = r->idmap,
		.old_parent = r->old_parent,
		.old_dentry = r->old_dentry,
		.new_parent = r->new_parent,
		.new_dentry = r->new_dentry,
		.delegated_inode = iot_delegated(r->delegated),
		.flags = r->flags,
	};

	return vfs_rename(&rd);
}

static inline void iot_end_renaming(struct iot_renaming *r)
{
	struct renamedata rd = {
		.old_parent = r->old_parent,
		.old_dentry = r->old_dentry,
		.new_parent = r->new_parent,
		.new_dentry = r->new_dentry,
	};

	end_renaming(&rd);
}

#else

/* The errors that rename(2) finds before the file system is asked. */
static inline int iot_check_renaming(const struct iot_renaming *r, const struct dentry *trap)
{
	bool is_exchange = r->flags & RENAME_EXCHANGE;

	if (d_is_negative(r->old_dentry))
		return -ENOENT;
	if ((r->flags & RENAME_NOREPLACE) && d_is_positive(r->new_dentry))
		return -EEXIST;
	if (is_exchange && d_is_negative(r->new_dentry))
		return -ENOENT;
	if (r->old_dentry == trap)
		return -EINVAL;
	if (r->new_dentry == trap)
		return is_exchange ? -EINVAL : -ENOTEMPTY;
	return 0;
}

/**
 * iot_start_renaming() - get ready to rename
 * @r: all but the two dentries is set
 *
 * Return: 0, and both parents are locked until iot_end_renaming(); the errno of
 * rename(2).
 */
static inline int iot_start_renaming(struct iot_renaming *r)
{
	unsigned int target = r->flags & RENAME_EXCHANGE ? 0 : LOOKUP_RENAME_TARGET;
	struct dentry *trap = lock_rename(r->new_parent, r->old_parent);
	int err;

	if (IS_ERR(trap))
		return PTR_ERR(trap);
	r->old_dentry = iot_lookup_locked(r->idmap, r->old_parent, r->old_name, 0);
	err = PTR_ERR_OR_ZERO(r->old_dentry);
	if (err)
		goto err_old;
	r->new_dentry = iot_lookup_locked(r->idmap, r->new_parent, r->new_name, target);
	err = PTR_ERR_OR_ZERO(r->new_dentry);
	if (err)
		goto err_new;
	err = iot_check_renaming(r, trap);
	if (!err)
		return 0;

	dput(r->new_dentry);
err_new:
	dput(r->old_dentry);
err_old:
	unlock_rename(r->new_parent, r->old_parent);
	return err;
}

/* 5.17: vfs_rename() takes one structure, whose members changed in 6.19. */
static inline int iot_vfs_rename(struct iot_renaming *r)
{
	struct renamedata rd = {
#ifdef IOT_HAVE_MNT_IDMAP
		.old_mnt_idmap = r->idmap,
		.new_mnt_idmap = r->idmap,
#else
		.old_mnt_userns = r->idmap,
		.new_mnt_userns = r->idmap,
#endif
		.old_dir = d_inode(r->old_parent),
		.old_dentry = r->old_dentry,
		.new_dir = d_inode(r->new_parent),
		.new_dentry = r->new_dentry,
		.delegated_inode = iot_delegated(r->delegated),
		.flags = r->flags,
	};

	return vfs_rename(&rd);
}

static inline void iot_end_renaming(struct iot_renaming *r)
{
	dput(r->new_dentry);
	dput(r->old_dentry);
	unlock_rename(r->new_parent, r->old_parent);
}

#endif
#endif
