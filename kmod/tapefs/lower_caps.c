// SPDX-License-Identifier: GPL-2.0-only
/*
 * lower_caps.c - the capabilities of a program, an attribute that names a user: the root of the namespace that
 * they are for.
 *
 * The VFS converts that id between the caller and the super block that it is asked of, which is the upper one. A
 * second conversion, below, would take an id of the file system for one of the caller. So the lower file system
 * gets its own id. The two differ only on an idmapped mount (cap_convert_nscap() and cap_inode_getsecurity() of
 * security/commoncap.c).
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/xattr.h>

#include "lower.h"
#include "compat/vfs.h"

/* Capabilities without a root id apply to user 0. */
static uid_t root_of(const struct vfs_ns_cap_data *caps, ssize_t bytes)
{
	return bytes == XATTR_CAPS_SZ_3 ? le32_to_cpu(caps->rootid) : 0;
}

/* Return: how many bytes they have now. */
static ssize_t set_root(struct vfs_ns_cap_data *caps, ssize_t bytes, uid_t root)
{
	const u32 magic = le32_to_cpu(caps->magic_etc);

	if (root == root_of(caps, bytes))
		return bytes;
	caps->magic_etc = cpu_to_le32(VFS_CAP_REVISION_3 | (magic & VFS_CAP_FLAGS_EFFECTIVE));
	caps->rootid = cpu_to_le32(root);
	return XATTR_CAPS_SZ_3;
}

/**
 * tfs_do_getcaps() - read the attribute XATTR_NAME_CAPS
 * @dentry: upper dentry
 * @value: buffer, as for vfs_getxattr()
 * @room: its size, or 0 to query the size of the value
 *
 * A root id that the mount below does not map becomes an id that no user has.
 *
 * Return: bytes, or a negative errno.
 */
ssize_t tfs_do_getcaps(struct dentry *dentry, void *value, size_t room)
{
	struct path lower = tfs_lower_path(dentry);
	struct inode *inode = d_inode(lower.dentry);
	struct vfs_ns_cap_data caps;
	ssize_t bytes = __vfs_getxattr(lower.dentry, inode, XATTR_NAME_CAPS, &caps, sizeof(caps));
	vfsuid_t root;

	if (bytes == -ERANGE) /* the VFS checks this form itself */
		return __vfs_getxattr(lower.dentry, inode, XATTR_NAME_CAPS, value, room);
	if (bytes != XATTR_CAPS_SZ_2 && bytes != XATTR_CAPS_SZ_3)
		return bytes < 0 ? bytes : -EINVAL;
	root = make_vfsuid(mnt_idmap(lower.mnt), i_user_ns(inode),
			   make_kuid(i_user_ns(inode), root_of(&caps, bytes)));
	bytes = set_root(&caps, bytes, from_kuid(dentry->d_sb->s_user_ns, vfsuid_into_kuid(root)));
	if (!room)
		return bytes;
	if (room < bytes)
		return -ERANGE;
	memcpy(value, &caps, bytes);
	return bytes;
}

static int set_below(const struct path *lower, const void *value, size_t bytes, int flags)
{
	struct inode *inode = d_inode(lower->dentry);
	struct delegated_inode delegated = {};
	int err;

	do {
		inode_lock(inode);
		err = __vfs_setxattr_locked(mnt_idmap(lower->mnt), lower->dentry, XATTR_NAME_CAPS, value,
					    bytes, flags, iot_delegated(&delegated));
		inode_unlock(inode);
	} while (tfs_is_given_back(&delegated, &err));
	return err;
}

/**
 * tfs_do_setcaps() - set the attribute XATTR_NAME_CAPS
 * @dentry: upper dentry; the caller may write to the lower mount
 * @value: capabilities that the VFS has verified and permitted
 * @bytes: of @value
 * @flags: XATTR_CREATE, XATTR_REPLACE
 *
 * Return: 0 or a negative errno; EINVAL if the mount below does not map the user.
 */
int tfs_do_setcaps(struct dentry *dentry, const void *value, size_t bytes, int flags)
{
	struct path lower = tfs_lower_path(dentry);
	struct user_namespace *of_fs = i_user_ns(d_inode(lower.dentry));
	struct vfs_ns_cap_data caps;
	kuid_t root;

	if (bytes != XATTR_CAPS_SZ_2 && bytes != XATTR_CAPS_SZ_3)
		return -EINVAL;
	memcpy(&caps, value, bytes);
	root = make_kuid(dentry->d_sb->s_user_ns, root_of(&caps, bytes));
	root = from_vfsuid(mnt_idmap(lower.mnt), of_fs, VFSUIDT_INIT(root));
	if (from_kuid(of_fs, root) == (uid_t)-1)
		return -EINVAL;
	bytes = set_root(&caps, bytes, from_kuid(of_fs, root));
	return set_below(&lower, &caps, bytes, flags);
}
