// SPDX-License-Identifier: GPL-2.0-only
/*
 * inode.c - upper inodes: one for each lower inode, with its attributes.
 */
#include <linux/fs.h>
#include <linux/spinlock.h>

#include "tapefs.h"
#include "compat/vfs.h"

/* The flags that programs and the VFS check on the upper inode; the lower file system handles the others. */
#define COPIED_FLAGS (S_SYNC | S_DIRSYNC | S_APPEND | S_IMMUTABLE | S_DAX | S_DEAD)

static atomic64_t last_object = ATOMIC64_INIT(0);

/*
 * Owner, group and mode of an upper inode are a copy of those of the lower inode, which others change at any
 * time. inode_permission() goes down to the lower inode, so the copy decides nothing about access. It
 * decides which user a set-user-ID or set-group-ID program runs as: exec reads it with the upper i_rwsem
 * held. chown(2) gives a file to another user and takes these bits away under the i_rwsem of the lower inode;
 * between the two, that inode is set-user-ID and belongs to the new owner. Hence the rule:
 *
 *	A copy that has one of these bits, or had one before, is written with the upper i_rwsem held
 *	exclusively and the lower i_rwsem held at least shared. Any other copy needs i_lock only.
 *
 * So a task that holds the upper i_rwsem sees such a program with an owner that it had together with these bits.
 * Documentation/decisions/0026-two-inodes.md lists the readers of the copy, and their locks.
 */
struct owner {
	kuid_t uid;
	kgid_t gid;
	umode_t mode;
};

static struct owner owner_below(const struct inode *inode)
{
	return (struct owner){ .uid = tfs_lower_uid(inode),
			       .gid = tfs_lower_gid(inode),
			       .mode = tfs_mode_of(inode) };
}

static bool is_owner(const struct inode *inode, const struct owner *owner)
{
	return READ_ONCE(inode->i_mode) == owner->mode && uid_eq(inode->i_uid, owner->uid) &&
	       gid_eq(inode->i_gid, owner->gid);
}

static void set_owner(struct inode *inode, const struct owner *owner)
{
	inode->i_uid = owner->uid;
	inode->i_gid = owner->gid;
	WRITE_ONCE(inode->i_mode, owner->mode);
}

/* The snapshot is taken under the lock: an older one does not replace a newer one. */
static bool copy_plain_owner(struct inode *inode)
{
	struct owner owner;
	bool is_plain;

	spin_lock(&inode->i_lock);
	owner = owner_below(inode);
	is_plain = !tfs_is_setid(inode->i_mode) && !tfs_is_setid(owner.mode);
	if (is_plain)
		set_owner(inode, &owner);
	else
		is_plain = is_owner(inode, &owner);
	spin_unlock(&inode->i_lock);
	return is_plain;
}

/* The upper i_rwsem is held exclusively, or the inode is not visible to other tasks yet. */
static void copy_setid_owner(struct inode *inode)
{
	struct inode *lower = tfs_lower_inode(inode);
	struct owner owner;

	inode_lock_shared(lower);
	spin_lock(&inode->i_lock);
	owner = owner_below(inode);
	set_owner(inode, &owner);
	spin_unlock(&inode->i_lock);
	inode_unlock_shared(lower);
}

/* i_lock is needed because the VFS counts inodes without links: two tasks must not both remove the last link. */
static void copy_flags_and_links(struct inode *inode)
{
	const struct inode *lower = tfs_lower_inode(inode);

	spin_lock(&inode->i_lock);
	set_nlink(inode, lower->i_nlink);
	inode_set_flags(inode, lower->i_flags & COPIED_FLAGS, COPIED_FLAGS);
	spin_unlock(&inode->i_lock);
}

/**
 * tfs_copy_attr() - refresh the attributes that the VFS reads from the upper inode
 * @inode: upper inode
 *
 * Called after each operation that may have changed them. Times are not copied: they are always read from the lower
 * inode. Owner and mode of a set-user-ID program are copied by the next path walk to it. Does not sleep.
 */
void tfs_copy_attr(struct inode *inode)
{
	copy_plain_owner(inode);
	copy_flags_and_links(inode);
}

/**
 * tfs_copy_attr_locked() - the same, for an inode whose i_rwsem the caller holds exclusively
 * @inode: upper inode
 *
 * Copies owner and mode of a set-user-ID program, too. Sleeps; takes the lower i_rwsem.
 */
void tfs_copy_attr_locked(struct inode *inode)
{
	lockdep_assert_held_write(&inode->i_rwsem);
	if (!copy_plain_owner(inode))
		copy_setid_owner(inode);
	copy_flags_and_links(inode);
}

/**
 * tfs_copy_size() - refresh the size
 * @inode: upper inode
 *
 * Callable in interrupts, so there is no lock: a task that sees the size change during the
 * copy copies it again, so the last copy is correct. Cheap if the size did not change, the
 * common case of parallel writers.
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
 * The VFS decides by owner, mode, flags and size of the upper inode before it calls an operation. So this is called
 * for each component of a path. An open descriptor follows at the next operation that names its file.
 *
 * Return: false if owner or mode of a set-user-ID program have changed, which only tfs_refresh_setid() may copy.
 */
bool tfs_refresh(struct inode *inode)
{
	const struct inode *lower = tfs_lower_inode(inode);
	const struct owner owner = owner_below(inode);
	bool is_done = true;

	if (unlikely(!is_owner(inode, &owner)))
		is_done = copy_plain_owner(inode);
	if (unlikely((inode->i_flags ^ lower->i_flags) & COPIED_FLAGS))
		inode_set_flags(inode, lower->i_flags & COPIED_FLAGS, COPIED_FLAGS);
	tfs_copy_size(inode);
	return is_done;
}

/**
 * tfs_refresh_setid() - copy owner and mode of a set-user-ID program
 * @inode: upper inode of a regular file
 *
 * Called when tfs_refresh() returns false. Sleeps; takes the upper i_rwsem, then the lower one. This is safe during
 * a path walk to a file, where the VFS holds locks of directories only.
 */
void tfs_refresh_setid(struct inode *inode)
{
	inode_lock(inode);
	copy_setid_owner(inode);
	inode_unlock(inode);
}

/**
 * tfs_is_as_set() - does the lower inode have the owner, group and mode from which exec takes the user of this
 * program?
 * @inode: upper inode; both i_rwsem are held
 */
bool tfs_is_as_set(const struct inode *inode)
{
	const struct owner owner = owner_below(inode);
	const umode_t differing = inode->i_mode ^ owner.mode;

	return !(differing & (S_ISUID | S_ISGID)) && uid_eq(inode->i_uid, owner.uid) &&
	       gid_eq(inode->i_gid, owner.gid);
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

/* FIBMAP. Upper inodes have this only if the lower file system has it; else the VFS refuses the ioctl. */
static sector_t bmap_lower(struct address_space *mapping, sector_t block)
{
	return bmap(tfs_lower_inode(mapping->host), &block) ? 0 : block;
}

static const struct address_space_operations bmap_aops = {
	.bmap = bmap_lower,
};

/*
 * The VFS reacts itself if a file system lacks an operation, so an upper inode lacks the operations that the lower
 * one lacks.
 */
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
 * tfs_inode_find_rcu() - the upper inode of a lower one, if there is one
 * @sb: upper super block
 * @lower: lower inode
 *
 * Context: under rcu_read_lock(). Return: the inode, without a reference, or NULL.
 */
struct inode *tfs_inode_find_rcu(struct super_block *sb, struct inode *lower)
{
	return find_inode_rcu(sb, (unsigned long)lower, inode_test, lower);
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
	/* ACLs are cached by the lower inode. */
	inode->i_acl = ACL_DONT_CACHE;
	inode->i_default_acl = ACL_DONT_CACHE;
#endif
	inode->i_flags |= S_NOATIME; /* the lower file system keeps the times of access */
	inode->i_rdev = lower->i_rdev;
	inode->i_blkbits = lower->i_blkbits;
	if (!copy_plain_owner(inode))
		copy_setid_owner(inode);
	copy_flags_and_links(inode);
	i_size_write(inode, i_size_read(lower));
	inode->i_blocks = lower->i_blocks;
	set_operations(inode);
	unlock_new_inode(inode);
	return inode;
}
