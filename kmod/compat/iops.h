/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * iops.h - inode operations whose prototypes changed: adapters from the prototypes that tapefs uses.
 */
#ifndef IOT_COMPAT_IOPS_H
#define IOT_COMPAT_IOPS_H

#include <linux/fs.h>

/* 6.15: mkdir returns a dentry, NULL for the one it was given. Remove with 6.12. */
#ifdef IOT_HAVE_MKDIR_DENTRY
#define IOT_MKDIR(function)                                                               \
	static struct dentry *function##_dentry(struct mnt_idmap *idmap, struct inode *dir, \
						struct dentry *dentry, umode_t mode)      \
	{                                                                                 \
		return ERR_PTR(function(idmap, dir, dentry, mode));                       \
	}
#define IOT_MKDIR_OP(function) function##_dentry
#else
#define IOT_MKDIR(function)
#define IOT_MKDIR_OP(function) function
#endif

/* 7.3: create is not asked whether the name may exist, which it never may. Remove with 6.12. */
#ifdef IOT_HAVE_CREATE_IS_EXCL
#define IOT_CREATE(function)
#define IOT_CREATE_OP(function) function
#else
#define IOT_CREATE(function)                                                              \
	static int function##_checked(struct mnt_idmap *idmap, struct inode *dir,            \
				   struct dentry *dentry, umode_t mode, bool is_excl)     \
	{                                                                                 \
		return function(idmap, dir, dentry, mode);                                \
	}
#define IOT_CREATE_OP(function) function##_checked
#endif

#endif
