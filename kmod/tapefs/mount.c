// SPDX-License-Identifier: GPL-2.0-only
/*
 * mount.c - flags of mounts: an upper mount permits nothing that the lower one forbids, and the reverse.
 *
 * The VFS checks the flags of the upper mount only, and does not show them to the file system. tapefs therefore
 * checks those of the lower mount itself, at each use, because they may change:
 *
 *	nodev, noexec	with other permissions (tfs_mount_permits()), and in mmap.c for mappings. The upper super
 *			block has the flags that were set when it was mounted or remounted, for the decisions
 *			that the VFS takes without a call of the file system
 *	nosuid		the modes of upper inodes of programs lack the bits (tfs_mode_of()), and exec(2) finds
 *			no capabilities (xattr.c); stat(2) and getxattr(2) show both
 *	nosymfollow	link.c
 *	ro		each operation that changes something asks the lower mount. The upper super block is
 *			read-only if the lower mount was when it was mounted
 *
 * The VFS enforces a read-only upper mount, except for ioctls: only the lower file system knows which of them change
 * something. tfs_lower_get_for_ioctl() deals with these.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/sched.h>

#include "lower.h"
#include "tapefs.h"

static int flags_below(const struct super_block *sb)
{
	return READ_ONCE(tfs_lower_mnt(sb)->mnt_flags);
}

/**
 * tfs_mount_inherit() - copy flags of the lower mount to the upper super block
 * @sb: upper super block, being mounted or mounted again
 */
void tfs_mount_inherit(struct super_block *sb)
{
	const unsigned long all = SB_I_NOEXEC | SB_I_NODEV;
	const int flags = flags_below(sb);

	sb->s_iflags = (sb->s_iflags & ~all) | (tfs_lower_mnt(sb)->mnt_sb->s_iflags & all) |
		       (flags & MNT_NOEXEC ? SB_I_NOEXEC : 0) | (flags & MNT_NODEV ? SB_I_NODEV : 0);
}

/**
 * tfs_mount_may_suid() - may programs gain rights by exec(2)?
 * @sb: upper super block
 *
 * Return: false if the lower mount is nosuid, or if the lower file system belongs to another user namespace, whose root
 * could create such programs.
 */
bool tfs_mount_may_suid(const struct super_block *sb)
{
	return !(flags_below(sb) & MNT_NOSUID) && tfs_lower_mnt(sb)->mnt_sb->s_user_ns == sb->s_user_ns;
}

/**
 * tfs_mount_is_noexec() - is the lower mount noexec?
 * @sb: upper super block
 */
bool tfs_mount_is_noexec(const struct super_block *sb)
{
	return flags_below(sb) & MNT_NOEXEC;
}

/**
 * tfs_mount_is_nosymfollow() - does the lower mount not follow symbolic links?
 * @sb: upper super block
 */
bool tfs_mount_is_nosymfollow(const struct super_block *sb)
{
	return flags_below(sb) & MNT_NOSYMFOLLOW;
}

/**
 * tfs_mount_permits() - check a permission against the flags of the lower mount
 * @inode: upper inode, whose own permissions grant the access
 * @mask: MAY_*
 *
 * Context: RCU walk or not. Return: 0, or the negative errno that the VFS returns for a bare mount.
 */
int tfs_mount_permits(const struct inode *inode, int mask)
{
	const int flags = flags_below(inode->i_sb);

	if (likely(!(flags & (MNT_NODEV | MNT_NOEXEC | MNT_READONLY))))
		return 0;
	switch (inode->i_mode & S_IFMT) {
	case S_IFCHR:
	case S_IFBLK:
		return (flags & MNT_NODEV) && (mask & MAY_OPEN) ? -EACCES : 0;
	case S_IFREG:
		if ((flags & MNT_NOEXEC) && (mask & MAY_EXEC))
			return -EACCES;
		break;
	case S_IFDIR:
	case S_IFLNK:
		break;
	default:
		return 0;
	}
	/* access(2) only asks; all others fail when they write. */
	return (flags & MNT_READONLY) && (mask & MAY_ACCESS) && (mask & MAY_WRITE) ? -EROFS : 0;
}

/**
 * tfs_mount_hides_bits() - does the upper inode lack a set-user-ID or set-group-ID bit of the lower one?
 * @inode: upper inode
 */
bool tfs_mount_hides_bits(const struct inode *inode)
{
	const umode_t mode = READ_ONCE(tfs_lower_inode(inode)->i_mode);

	return S_ISREG(mode) && (mode & ~inode->i_mode & (S_ISUID | S_ISGID));
}

/**
 * tfs_mount_may_link() - may current link a file?
 * @idmap: of the upper mount
 * @inode: upper inode
 *
 * With fs.protected_hardlinks, only the owner may link a program with such bits. The VFS checks that by the bits, which
 * it does not see if they are hidden. A module cannot read the setting, so it is taken to be on.
 */
bool tfs_mount_may_link(struct mnt_idmap *idmap, const struct inode *inode)
{
	const umode_t mode = READ_ONCE(tfs_lower_inode(inode)->i_mode);
	bool is_program = (mode & S_ISUID) || (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);

	return !is_program || !tfs_mount_hides_bits(inode) || inode_owner_or_capable(idmap, inode);
}

/* -- lower files that are opened a second time ------------------------------------------- */

/* Open a lower file with the rights of the task that opened the upper one. */
static struct file *open_again(struct file *file, struct vfsmount *mnt, int access)
{
	const int kept = O_LARGEFILE | O_NONBLOCK | O_NOATIME;
	const struct file *lower = tfs_lower_as_set(file);
	struct path path = { .mnt = mnt, .dentry = lower->f_path.dentry };
	const struct cred *own = override_creds(file->f_cred);
	struct file *again;

	again = dentry_open(&path, access | (lower->f_flags & kept) | IOT_O_NONOTIFY, current_cred());
	revert_creds(own);
	return again;
}

/**
 * tfs_lower_get_plain() - a lower file with the operations of the lower file system
 * @file: upper file that can be read
 *
 * NFS lets its server copy a range if the source file has NFS's own operations. A file that has been mapped has
 * others, see mapped.c, and is opened a second time, for the same access: an open for less could make the
 * server delegate the file, and then locks would be local.
 *
 * Return: with a reference.
 */
struct file *tfs_lower_get_plain(struct file *file)
{
	struct file *lower = tfs_lower_as_set(file), *again;

	if (likely(!READ_ONCE(TFS_F(file)->mapped)))
		return get_file(lower);
	again = open_again(file, lower->f_path.mnt, lower->f_flags & O_ACCMODE);
	return IS_ERR(again) ? get_file(lower) : again;
}

/**
 * tfs_lower_get_for_ioctl() - the lower file that an ioctl goes to
 * @file: upper file
 * @command: the ioctl
 *
 * If the upper mount is read-only, the ioctl goes to a lower file on a read-only mount: the lower file system refuses
 * changes there, with its own errno, and does the rest. ioctls of terminals, which isatty(3) tries on every file, change
 * nothing and need no second open.
 *
 * Return: with a reference; or an ERR_PTR.
 */
struct file *tfs_lower_get_for_ioctl(struct file *file, unsigned int command)
{
	struct vfsmount *read_only = TFS_SB(file_inode(file)->i_sb)->read_only;
	struct file *lower = tfs_lower_as_set(file);

	if (likely(!__mnt_is_readonly(file->f_path.mnt)) || _IOC_TYPE(command) == 'T' ||
	    __mnt_is_readonly(lower->f_path.mnt))
		return get_file(lower);
	return read_only ? open_again(file, read_only, O_RDONLY) : ERR_PTR(-EROFS);
}

/**
 * tfs_mount_read_only() - make the mount for tfs_lower_get_for_ioctl()
 * @lower: the lower directory
 *
 * The mount is in no namespace, so its flags never change.
 *
 * Return: the mount, which kern_unmount() releases; NULL if the lower mount cannot be bound elsewhere. Then all ioctls
 * through read-only mounts fail.
 */
struct vfsmount *tfs_mount_read_only(const struct path *lower)
{
	struct vfsmount *mnt = clone_private_mount(lower);

	if (IS_ERR(mnt))
		return NULL;
	mnt->mnt_flags |= MNT_READONLY;
	return mnt;
}
