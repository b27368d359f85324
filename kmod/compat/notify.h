/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notify.h - watching a super block, and the names of an inode.
 */
#ifndef IOT_COMPAT_NOTIFY_H
#define IOT_COMPAT_NOTIFY_H

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/fsnotify_backend.h>

/* 5.19: groups have flags, of which this one has none. Remove with Enterprise Linux 9. */
static inline struct fsnotify_group *iot_alloc_watch_group(const struct fsnotify_ops *ops)
{
#ifdef FSNOTIFY_GROUP_USER
	return fsnotify_alloc_group(ops, 0);
#else
	return fsnotify_alloc_group(ops);
#endif
}

/* 6.10: a mark is put on an object; before, on the list of its marks. Remove with 6.1. */
static inline int iot_add_sb_mark(struct fsnotify_mark *mark, struct super_block *sb)
{
#ifdef IOT_HAVE_FSNOTIFY_MARK_OBJECT
	return fsnotify_add_mark(mark, sb, FSNOTIFY_OBJ_TYPE_SB, 0);
#else
	return fsnotify_add_mark(mark, &sb->s_fsnotify_marks, FSNOTIFY_OBJ_TYPE_SB, 0, NULL);
#endif
}

/* By 7.3: a macro of the VFS, since the list is in another place. Remove with 6.12. */
#ifdef for_each_alias
#define iot_for_each_alias(dentry, inode) for_each_alias(dentry, inode)
#else
#define iot_for_each_alias(dentry, inode) hlist_for_each_entry(dentry, &(inode)->i_dentry, d_u.d_alias)
#endif

#endif
