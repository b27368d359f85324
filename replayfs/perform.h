/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perform.h - the operations, one function each; each returns what the system call would.
 */
#ifndef RFS_PERFORM_H
#define RFS_PERFORM_H

#include "replayfs.h"

typedef s64 (*rfs_perform_fn)(struct rfs_carrier *carrier, const struct iot_program_op *op);

/**
 * struct rfs_object - what an operation by path or by handle is on
 * @path: with references if it was found by path
 * @file: the handle's file, NULL if by path
 */
struct rfs_object {
	struct path path;
	struct file *file;
};

int rfs_object_get(struct rfs_carrier *carrier, const struct iot_program_op *op,
		   struct rfs_object *object);
void rfs_object_put(struct rfs_carrier *carrier, const struct iot_program_op *op,
		    struct rfs_object *object);

/* perform_names.c */
s64 rfs_do_lookup(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_open(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_mkdir(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_mknod(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_symlink(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_link(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_unlink(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_rmdir(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_rename(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_readlink(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_follow(struct rfs_carrier *carrier, const struct iot_program_op *op);

/* perform_attr.c */
s64 rfs_do_stat(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_setattr(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_denied(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_statfs(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_getxattr(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_setxattr(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_removexattr(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_listxattr(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_getfileattr(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_setfileattr(struct rfs_carrier *carrier, const struct iot_program_op *op);

/* perform_data.c */
s64 rfs_do_release(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_read(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_write(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_seek(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_fsync(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_readdir(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_fallocate(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_fadvise(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_ioctl(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_copy_range(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_remap_range(struct rfs_carrier *carrier, const struct iot_program_op *op);

/* locks.c */
s64 rfs_do_lock(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_flush(struct rfs_carrier *carrier, const struct iot_program_op *op);

/* requests.c */
int rfs_submit_wait(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_submit(struct rfs_carrier *carrier, const struct iot_program_op *op);

/* perform_maps.c */
s64 rfs_do_map(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_unmap(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_touch(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_msync(struct rfs_carrier *carrier, const struct iot_program_op *op);
s64 rfs_do_madvise(struct rfs_carrier *carrier, const struct iot_program_op *op);

/* perform.c */
umode_t rfs_mode(struct rfs_carrier *carrier, umode_t mode);
u64 rfs_rdev(struct rfs_carrier *carrier, umode_t mode, u64 rdev);
void rfs_value(struct rfs_carrier *carrier, const char *name, u8 *value, size_t value_bytes);

/* An object by its path: a symbolic link is met where it lies, never followed. */
int rfs_path_get(struct rfs_carrier *carrier, __le32 path, struct path *found);

#endif
