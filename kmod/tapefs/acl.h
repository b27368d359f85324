/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * acl.h - POSIX ACLs: operations of inodes since 6.2, extended attributes before.
 *
 * On older kernels the VFS hands system.posix_acl_* to xattr.c like any other
 * attribute, and there is nothing here.
 */
#ifndef TFS_ACL_H
#define TFS_ACL_H

#ifdef IOT_HAVE_GET_INODE_ACL

struct posix_acl *tfs_get_acl(struct mnt_idmap *idmap, struct dentry *dentry, int type);
int tfs_set_acl(struct mnt_idmap *idmap, struct dentry *dentry, struct posix_acl *acl, int type);

#define TFS_ACL_IOPS .get_acl = tfs_get_acl, .set_acl = tfs_set_acl,

#else
#define TFS_ACL_IOPS
#endif

#endif
