/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xattr.h - extended attributes, access control lists among them, as system calls handle them.
 *
 * 6.2: lists are operations of inodes, and vfs_getxattr() and its like know nothing of them; before,
 * they were attributes like any other. Remove with 6.1.
 *
 * Ids in values are those of the namespace of the caller, as in chown(2); before 6.2, the initial
 * one.
 */
#ifndef IOT_COMPAT_XATTR_H
#define IOT_COMPAT_XATTR_H

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>

#ifdef IOT_HAVE_GET_INODE_ACL

/* The list is not converted to bytes: only its size is used. */
static inline ssize_t iot_get_acl(struct mnt_idmap *idmap, struct dentry *dentry, const char *name,
				  size_t room)
{
	struct posix_acl *acl = vfs_get_acl(idmap, dentry, name);
	ssize_t bytes;

	if (IS_ERR(acl))
		return PTR_ERR(acl);
	bytes = posix_acl_xattr_size(acl->a_count);
	posix_acl_release(acl);
	return room && bytes > room ? -ERANGE : bytes;
}

static inline int iot_set_acl(struct mnt_idmap *idmap, struct dentry *dentry, const char *name,
			      const void *value, size_t bytes)
{
	struct posix_acl *acl = NULL;
	int err;

	if (bytes)
		acl = posix_acl_from_xattr(current_user_ns(), value, bytes);
	if (IS_ERR(acl))
		return PTR_ERR(acl);
	err = vfs_set_acl(idmap, dentry, name, acl);
	posix_acl_release(acl);
	return err;
}

/* As getxattr(2), except that @value is not filled in for an access control list. */
static inline ssize_t iot_vfs_getxattr(struct mnt_idmap *idmap, struct dentry *dentry,
				       const char *name, void *value, size_t room)
{
	if (is_posix_acl_xattr(name))
		return iot_get_acl(idmap, dentry, name, room);
	return vfs_getxattr(idmap, dentry, name, value, room);
}

static inline int iot_vfs_setxattr(struct mnt_idmap *idmap, struct dentry *dentry, const char *name,
				   const void *value, size_t bytes, int flags)
{
	if (is_posix_acl_xattr(name))
		return iot_set_acl(idmap, dentry, name, value, bytes);
	return vfs_setxattr(idmap, dentry, name, value, bytes, flags);
}

static inline int iot_vfs_removexattr(struct mnt_idmap *idmap, struct dentry *dentry,
				      const char *name)
{
	if (is_posix_acl_xattr(name))
		return vfs_remove_acl(idmap, dentry, name);
	return vfs_removexattr(idmap, dentry, name);
}

#else

#define iot_vfs_getxattr(idmap, dentry, name, value, room) \
	vfs_getxattr(idmap, dentry, name, value, room)
#define iot_vfs_setxattr(idmap, dentry, name, value, bytes, flags) \
	vfs_setxattr(idmap, dentry, name, value, bytes, flags)
#define iot_vfs_removexattr(idmap, dentry, name) vfs_removexattr(idmap, dentry, name)

#endif

#endif
