// SPDX-License-Identifier: GPL-2.0-only
/*
 * inode.c - upper inodes: one for each lower inode, with its attributes.
 */
#include <linux/fs.h>
#include <linux/spinlock.h>

#include "tapefs.h"
#include "compat/vfs.h"

/* What programs and the VFS ask the upper inode for; the rest is the lower one's business. */
#define COPIED_FLAGS (S_SYNC | S_DIRSYNC | S_APPEND | S_IMMUTABLE | S_DAX | S_DEAD)

static atomic64_t last_object = ATOMIC64_INIT(0);

/**
 * tfs_copy_attr() - refresh the attributes that the VFS looks at in the upper inode
 * @inode: upper inode
 *
 * Called after every operation that may have changed them. Times are not among them:
 * they are always asked of the lower inode. The lock is there because the VFS keeps
 * count of inodes without links, so that two must not take away the last one.
 */
void tfs_copy_attr(struct inode *inode)
{
	const struct inode *lower = tfs_lower_inode(inode);

	spin_lock(&inode->i_lock);
	inode->i_mode = tfs_mode_of(inode);
	inode->i_uid = tfs_lower_uid(inode);
	inode->i_gid = tfs_lower_gid(inode);
	set_nlink(inode, lower->i_nlink);
	inode_set_flags(inode, lower->i_flags & COPIED_FLAGS, COPIED_FLAGS);
	spin_unlock(&inode->i_lock);
}

/**
 * tfs_copy_size() - refresh the size
 * @inode: upper inode
 *
 * Callable in interrupts, so there is no lock: who finds that the size changed while it
 * was copied copies it again, and so the last one is right. Cheap if it did not change,
 * which is the common case of parallel writers.
 */
void tfs_copy_size(struct inode *inode)
{
	const struct inode *lower = tfs_lower_inode(inode);
	loff_t size;

	BUILD_BUG_ON(BITS_PER_LONG != 64); /* i_size_write() would need the lock */
	while ((size = i_size_read(lower)) != i_size_read(inode))
		i_size_write(inode, size);
}

/**
 * tfs_refresh() - see what others have changed below
 * @inode: upper inode, perhaps found without a reference (RCU walk)
 *
 * The VFS decides by owner, mode, flags and size of the upper inode before it asks us. So this is called for each
 * component of a path; who has the object open already is told at the next operation that names it.
 */
void tfs_refresh(struct inode *inode)
{
	const struct inode *lower = tfs_lower_inode(inode);
	const umode_t mode = tfs_mode_of(inode);
	const kuid_t uid = tfs_lower_uid(inode);
	const kgid_t gid = tfs_lower_gid(inode);

	if (unlikely(inode->i_mode != mode || !uid_eq(inode->i_uid, uid) ||
		     !gid_eq(inode->i_gid, gid))) {
		inode->i_mode = mode;
		inode->i_uid = uid;
		inode->i_gid = gid;
	}
	if (unlikely((inode->i_flags ^ lower->i_flags) & COPIED_FLAGS))
		inode_set_flags(inode, lower->i_flags & COPIED_FLAGS, COPIED_FLAGS);
	tfs_copy_size(inode);
}

static int inode_test(struct inode *inode, void *lower)
{
	return tfs_lower_inode(inode) == lower;
}

static int inode_set(struct inode *inode, void *lower)
{
	struct tfs_inode *tfs = TFS_I(inode);

	tfs->lower = lower;
	tfs->object = atomic64_inc_return(&last_object);
	inode->i_ino = tfs->lower->i_ino;
	return 0;
}

/* FIBMAP, which the VFS answers by itself where there is none of it below. */
static sector_t bmap_lower(struct address_space *mapping, sector_t block)
{
	return bmap(tfs_lower_inode(mapping->host), &block) ? 0 : block;
}

static const struct address_space_operations bmap_aops = {
	.bmap = bmap_lower,
};

/* The VFS answers in its own way for a file system that lacks an operation: so do we lack it. */
static void set_file_operations(struct inode *inode)
{
	const struct inode *lower = tfs_lower_inode(inode);

	inode->i_op = &tfs_file_iops;
	inode->i_fop = &tfs_file_fops[(lower->i_fop->remap_file_range ? TFS_FOPS_REMAP : 0) |
				      (iot_can_map_sync(lower->i_fop) ? TFS_FOPS_SYNC : 0) |
				      (iot_can_write_parallel(lower->i_fop) ? TFS_FOPS_PARALLEL : 0)];
	if (lower->i_mapping->a_ops->bmap)
		inode->i_mapping->a_ops = &bmap_aops;
}

static void set_operations(struct inode *inode)
{
	switch (inode->i_mode & S_IFMT) {
	case S_IFREG:
		set_file_operations(inode);
		break;
	case S_IFDIR:
		inode->i_op = &tfs_dir_iops;
		inode->i_fop = &tfs_dir_fops;
		break;
	case S_IFLNK:
		inode->i_op = &tfs_symlink_iops;
		break;
	default: /* the device, pipe or socket itself is not the file system's */
		inode->i_op = &tfs_file_iops;
		init_special_inode(inode, inode->i_mode, inode->i_rdev);
	}
}

/**
 * tfs_inode_get() - the upper inode of a lower one
 * @sb: upper super block
 * @lower: lower inode; a reference of the caller keeps it
 *
 * Return: the inode with a reference; -ESTALE if the lower one is on its way out,
 * -EXDEV if it is on another file system, -ENOMEM.
 */
struct inode *tfs_inode_get(struct super_block *sb, struct inode *lower)
{
	struct inode *inode;

	if (lower->i_sb != TFS_SB(sb)->lower.dentry->d_sb)
		return ERR_PTR(-EXDEV);
	if (!igrab(lower))
		return ERR_PTR(-ESTALE);
	inode = iget5_locked(sb, (unsigned long)lower, inode_test, inode_set, lower);
	if (!inode) {
		iput(lower);
		return ERR_PTR(-ENOMEM);
	}
	if (!(iot_inode_state(inode) & I_NEW)) {
		iput(lower); /* the inode has had its reference since it was made */
		return inode;
	}
#ifdef CONFIG_FS_POSIX_ACL
	/* They belong to the lower inode, which caches them itself. */
	inode->i_acl = ACL_DONT_CACHE;
	inode->i_default_acl = ACL_DONT_CACHE;
#endif
	inode->i_flags |= S_NOATIME; /* the lower file system keeps the times of access */
	inode->i_rdev = lower->i_rdev;
	inode->i_blkbits = lower->i_blkbits;
	tfs_copy_attr(inode);
	i_size_write(inode, i_size_read(lower));
	inode->i_blocks = lower->i_blocks;
	set_operations(inode);
	unlock_new_inode(inode);
	return inode;
}
