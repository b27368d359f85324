// SPDX-License-Identifier: GPL-2.0-only
/*
 * acl.c - POSIX ACLs where they are operations of inodes (since 6.2): see acl.h.
 *
 * They are recorded as extended attributes, the form in which programs use them.
 */
#include <linux/fs.h>
#include <linux/posix_acl_xattr.h>

#include "acl.h"
#include "emit.h"
#include "lower.h"
#include "tapefs.h"

#ifdef IOT_HAVE_GET_INODE_ACL

/* The result of getxattr(2) for it, if the caller's buffer is large enough. */
static s64 result_of(const struct posix_acl *acl)
{
	if (IS_ERR_OR_NULL(acl))
		return PTR_ERR_OR_ZERO(acl);
	return posix_acl_xattr_size(acl->a_count);
}

struct posix_acl *tfs_get_acl(struct mnt_idmap *idmap, struct dentry *dentry, int type)
{
	const char *name = posix_acl_xattr_name(type);
	struct posix_acl *acl;
	struct iot_span span;

	tfs_gate_open(dentry->d_sb, IOT_KIND_getxattr, &span);
	acl = tfs_do_get_acl(dentry, name);
	tfs_emit_getxattr(&span, dentry, name, 0, result_of(acl));
	return acl;
}

int tfs_set_acl(struct mnt_idmap *idmap, struct dentry *dentry, struct posix_acl *acl, int type)
{
	const char *name = posix_acl_xattr_name(type);
	struct tfs_value value = { .acl = acl };
	struct iot_span span;
	int err;

	tfs_gate_open(dentry->d_sb, IOT_KIND_setxattr, &span);
	err = tfs_do_set_acl(dentry, name, acl);
	if (!err)
		tfs_copy_attr_locked(d_inode(dentry));
	if (acl) {
		value.length_bytes = posix_acl_xattr_size(acl->a_count);
		tfs_emit_setxattr(&span, dentry, name, &value, 0, err);
	} else {
		tfs_emit_removexattr(&span, dentry, name, err);
	}
	return err;
}

#endif
