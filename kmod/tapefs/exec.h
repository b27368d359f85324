/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exec.h - programs: the user that they run as, and write denial while they run.
 */
#ifndef TFS_EXEC_H
#define TFS_EXEC_H

#include <linux/uio.h>

#include "tapefs.h"

int tfs_exec_open(struct file *file);
int tfs_exec_permission(struct inode *inode, int mask);
int __tfs_exec_read(struct file *file);
void __tfs_exec_release(struct inode *inode);
int tfs_exec_init(void);
void tfs_exec_exit(void);

/* Is writing to the lower inode denied? */
static inline bool tfs_is_denied(const struct inode *inode)
{
	return !list_empty_careful(&TFS_I(inode)->denied);
}

/**
 * tfs_exec_read() - a file is read, perhaps by kernel_read_file()
 * @file: upper file
 * @iter: where to
 *
 * Return: 0, or as __tfs_exec_read().
 */
static inline int tfs_exec_read(struct file *file, const struct iov_iter *iter)
{
	return unlikely(iov_iter_is_kvec(iter)) ? __tfs_exec_read(file) : 0;
}

/**
 * tfs_exec_release() - a handle is released
 * @inode: upper inode
 */
static inline void tfs_exec_release(struct inode *inode)
{
	if (unlikely(tfs_is_denied(inode)))
		__tfs_exec_release(inode);
}

#endif
