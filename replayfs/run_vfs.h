/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_vfs.h - rfs_do_*(): the operations, one function each, which returns the result of the system call.
 *
 * A replay calls the functions of the VFS that system calls end in. Checks that a system call makes before it calls
 * such a function, as the task's user, are made here:
 *
 *   operation       function                   checked before by the system call, and by the operation
 *   open            file_open_root()           nothing: it is all in there, leases and fs.protected_* too
 *   lookup, follow  vfs_path_lookup()          nothing
 *   mkdir, symlink  vfs_mkdir() ...            write access to the mount, whether the name exists
 *   mknod           vfs_create(), vfs_mknod()  the same, and the type
 *   link            vfs_link()                 the same, and fs.protected_hardlinks
 *   unlink, rmdir   vfs_unlink(), vfs_rmdir()  write access to the mount, whether the name exists
 *   rename          vfs_rename()               the same, and whether one name is above the other
 *   setattr         notify_change()            write access to the mount; that times become those of now, or given ones
 *    of a size      notify_change()            type, sign, permission to write or how the handle was opened, append-only;
 *                                              no program runs of the file; by name, leases
 *   xattrs, flags   vfs_setxattr() ...         write access to the mount
 *   read, write     read_iter(), write_iter()  how the handle was opened, range and security module; frozen file systems
 *   of pages        vfs_splice_read()          how the handle was opened; before 6.5, range and security module
 *   copy_range,     vfs_copy_file_range(),     nothing
 *   clone           vfs_clone_file_range()
 *   deduplicate     vfs_dedupe_file_range_one  how the source was opened, and its type
 *   lock            vfs_lock_file(), flock()   how the handle was opened
 *   map             vm_mmap()                  nothing
 *   touch           access by the worker      nothing
 *   all others      one function each          nothing
 *
 * Not called, as a module cannot call them: hooks of security modules for paths (chmod, truncate, mkdir ...), and those
 * for readlink, locks and ioctl. They would check the worker, which has CAP_SYS_ADMIN, and paths of a mount that is
 * not attached anywhere.
 */
#ifndef RFS_RUN_VFS_H
#define RFS_RUN_VFS_H

#include "replayfs.h"

typedef s64 (*rfs_run_fn)(struct rfs_worker *worker, const struct iot_program_op *op);

/**
 * struct rfs_object - what an operation by path or by handle is on
 * @path: with references if it was found by path
 * @file: the handle's file, NULL if by path
 */
struct rfs_object {
	struct path path;
	struct file *file;
};

int rfs_object_get(struct rfs_worker *worker, const struct iot_program_op *op,
		   struct rfs_object *object);
void rfs_object_put(struct rfs_worker *worker, const struct iot_program_op *op,
		    struct rfs_object *object);

/* rfs_do_lookup() and so on: one for each kind, in run_vfs_*.c and requests.c. */
#define RFS_DECLARE(kind, ...) s64 rfs_do_##kind(struct rfs_worker *worker, const struct iot_program_op *op);
IOT_WORKER_OPERATIONS(RFS_DECLARE)
#undef RFS_DECLARE

/* requests.c */
int rfs_submit_wait(struct rfs_worker *worker, const struct iot_program_op *op);

/* run_vfs.c */
umode_t rfs_mode(struct rfs_worker *worker, umode_t mode);
u64 rfs_rdev(struct rfs_worker *worker, umode_t mode, u64 rdev);
void rfs_value(struct rfs_worker *worker, const char *name, u8 *value, size_t value_bytes);

int rfs_path_get(struct rfs_worker *worker, __le32 path, struct path *found);

#endif
