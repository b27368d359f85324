// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_attr.c - operations on attributes.
 *
 * An object that is found by path is a descriptor that can neither read nor write. System calls
 * that do not accept this descriptor get its path in /proc, which leads to the object itself, regardless of its type.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/file_flags.h"
#include "run_syscall.h"

/**
 * struct object - the object of an operation by path or by handle
 * @fd: the object
 * @handle: NULL if it was found by path
 * @path: leads to it; only if it was found by path
 */
struct object {
	int fd;
	struct handle *handle;
	char path[32];
};

static int object_get(struct worker_task *task, const struct iot_program_op *op,
		      struct object *object)
{
	object->handle = NULL;
	object->fd = op->path ? walk(task, op->path) : handle_get(task, op->handle, &object->handle);
	if (object->fd < 0)
		return object->fd;
	if (!object->handle)
		snprintf(object->path, sizeof(object->path), "/proc/self/fd/%d", object->fd);
	return 0;
}

static void object_put(const struct object *object)
{
	if (object->handle)
		handle_put(object->handle);
	else
		close(object->fd);
}

s64 run_stat(struct worker_task *task, const struct iot_program_op *op)
{
	struct handle *handle = NULL;
	struct statx stat;
	int fd = op->path ? walk(task, op->path) : handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	result = RESULT(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stat));
	task->step.observed.size_bytes = !result && S_ISREG(stat.stx_mode) ? stat.stx_size : 0;
	if (handle)
		handle_put(handle);
	else
		close(fd);
	return result;
}

/* -- changes -------------------------------------------------------------------------------------- */

static s64 set_size(const struct object *object, const struct iot_program_op *op)
{
	off_t size_bytes = (off_t)le64_to_cpu(op->size_bytes);

	return RESULT(object->handle ? ftruncate(object->fd, size_bytes) :
				       truncate(object->path, size_bytes));
}

static s64 set_owner(const struct object *object, const struct iot_program_op *op)
{
	u32 attrs = le32_to_cpu(op->attrs);

	return RESULT(fchownat(object->fd, "", attrs & IOT_ATTR_uid ? le32_to_cpu(op->uid) : -1u,
			       attrs & IOT_ATTR_gid ? le32_to_cpu(op->gid) : -1u, AT_EMPTY_PATH));
}

static struct timespec stamp_of(u32 attrs, u32 any, u32 given, __le64 ns)
{
	s64 stamp_ns = (s64)le64_to_cpu(ns), seconds = stamp_ns / 1000000000;

	if (!(attrs & any))
		return (struct timespec){ .tv_nsec = UTIME_OMIT };
	if (!(attrs & given))
		return (struct timespec){ .tv_nsec = UTIME_NOW };
	if (stamp_ns % 1000000000 < 0)
		seconds--; /* before 1970 */
	return (struct timespec){ .tv_sec = seconds, .tv_nsec = stamp_ns - seconds * 1000000000 };
}

static s64 set_times(const struct object *object, const struct iot_program_op *op)
{
	u32 attrs = le32_to_cpu(op->attrs);
	const struct timespec times[2] = {
		stamp_of(attrs, IOT_ATTR_atime, IOT_ATTR_atime_set, op->atime_ns),
		stamp_of(attrs, IOT_ATTR_mtime, IOT_ATTR_mtime_set, op->mtime_ns),
	};

	return RESULT(utimensat(object->fd, "", times, AT_EMPTY_PATH));
}

static s64 set_mode(struct worker_task *task, const struct object *object, const struct iot_program_op *op)
{
	u32 mode = le32_to_cpu(op->mode) & 07777;
	struct stat stat;

	if (mode & (S_ISUID | S_ISGID)) {
		if (fstat(object->fd, &stat))
			return -errno;
		mode = mode_to_make(task, (stat.st_mode & S_IFMT) | mode) & 07777;
	}
	return RESULT(object->handle ? fchmod(object->fd, mode) : chmod(object->path, mode));
}

/*
 * One system call for each kind of attribute. Side effects of a call are not requested again:
 * a new size sets times, and a change of owner, even to no other, clears the set-user-ID bit.
 */
static s64 set_attr(struct worker_task *task, const struct object *object, const struct iot_program_op *op)
{
	u32 attrs = le32_to_cpu(op->attrs);
	u32 given = IOT_ATTR_atime_set | IOT_ATTR_mtime_set;
	s64 result = 0;

	if (attrs & IOT_ATTR_kill_priv)
		attrs &= ~(u32)IOT_ATTR_mode; /* a mode in the record is its result */
	if (attrs & IOT_ATTR_size)
		result = set_size(object, op);
	else if (attrs & (IOT_ATTR_uid | IOT_ATTR_gid | IOT_ATTR_kill_priv))
		result = set_owner(object, op);
	if (!result && (attrs & IOT_ATTR_mode))
		result = set_mode(task, object, op);
	if (!result && (attrs & (IOT_ATTR_atime | IOT_ATTR_mtime)) &&
	    (!(attrs & IOT_ATTR_size) || (attrs & given)))
		result = set_times(object, op);
	return result;
}

s64 run_setattr(struct worker_task *task, const struct iot_program_op *op)
{
	struct object object;
	s64 result = object_get(task, op, &object);

	if (result)
		return result;
	result = set_attr(task, &object, op);
	object_put(&object);
	return result;
}

/* -- questions ------------------------------------------------------------------------------------ */

/* Permission was refused: ask for it again. */
s64 run_denied(struct worker_task *task, const struct iot_program_op *op)
{
	u32 prot = le32_to_cpu(op->wanted);
	int mode = (prot & IOT_PROT_read ? R_OK : 0) | (prot & IOT_PROT_write ? W_OK : 0) |
		   (prot & IOT_PROT_exec ? X_OK : 0);
	int fd = walk(task, op->path);
	s64 result;

	if (fd < 0)
		return fd;
	result = RESULT(syscall(SYS_faccessat2, fd, "", mode, AT_EMPTY_PATH | AT_EACCESS));
	close(fd);
	return result;
}

s64 run_statfs(struct worker_task *task, const struct iot_program_op *op)
{
	struct object object;
	struct statfs stat;
	s64 result = object_get(task, op, &object);

	if (result)
		return result;
	result = RESULT(fstatfs(object.fd, &stat));
	object_put(&object);
	return result;
}

/* -- extended attributes -------------------------------------------------------------------------- */

static size_t value_bytes(const struct iot_program_op *op, size_t bytes_max)
{
	u64 bytes = le64_to_cpu(op->length_bytes);

	return bytes < bytes_max ? (size_t)bytes : bytes_max;
}

s64 run_getxattr(struct worker_task *task, const struct iot_program_op *op)
{
	const char *name = string_of(task, op->xattr);
	size_t room = value_bytes(op, XATTR_SIZE_MAX);
	u8 *value = memory_of(task)->sink;
	struct object object;
	s64 result = object_get(task, op, &object);

	if (result)
		return result;
	result = RESULT(object.handle ? fgetxattr(object.fd, name, value, room) :
					getxattr(object.path, name, value, room));
	object_put(&object);
	return result;
}

/*
 * A security module may refuse a value of zeros. Then the attribute stays as the module made it,
 * which gives no rights either.
 */
static bool is_left_out(const struct worker_task *task, const struct iot_program_op *op, s64 result)
{
	return result == -EINVAL && task->step.observed.is_harmless && !op->result;
}

/* Of most attributes the trace has the length of the value, not the value: zeros take its place. */
s64 run_setxattr(struct worker_task *task, const struct iot_program_op *op)
{
	const void *known = iot_program_value(task->local->program, op);
	const char *name = string_of(task, op->xattr);
	size_t bytes = value_bytes(op, XATTR_SIZE_MAX);
	int flags = (int)le32_to_cpu(op->flags);
	void *value = memory_of(task)->sink;
	struct object object;
	s64 result = object_get(task, op, &object);

	if (result)
		return result;
	if (known)
		memcpy(value, known, bytes);
	else
		memset(value, 0, bytes);
	value_to_set(task, name, value, bytes);
	result = RESULT(object.handle ? fsetxattr(object.fd, name, value, bytes, flags) :
					setxattr(object.path, name, value, bytes, flags));
	object_put(&object);
	return is_left_out(task, op, result) ? 0 : result;
}

s64 run_removexattr(struct worker_task *task, const struct iot_program_op *op)
{
	const char *name = string_of(task, op->xattr);
	struct object object;
	s64 result = object_get(task, op, &object);

	if (result)
		return result;
	result = RESULT(object.handle ? fremovexattr(object.fd, name) :
					removexattr(object.path, name));
	object_put(&object);
	return result;
}

s64 run_listxattr(struct worker_task *task, const struct iot_program_op *op)
{
	size_t room = value_bytes(op, XATTR_LIST_MAX);
	char *list = (char *)memory_of(task)->sink;
	struct object object;
	s64 result = object_get(task, op, &object);

	if (result)
		return result;
	result = RESULT(object.handle ? flistxattr(object.fd, list, room) :
					listxattr(object.path, list, room));
	object_put(&object);
	return result;
}

/* -- flags of files ------------------------------------------------------------------------------- */

/* An ioctl wants a descriptor that could read: found by path, the object is opened for it. */
static s64 open_for_flags(const struct object *object)
{
	struct stat stat;

	if (object->handle)
		return object->fd;
	if (fstat(object->fd, &stat))
		return -errno;
	if (S_ISCHR(stat.st_mode) || S_ISBLK(stat.st_mode))
		return -EACCES;
	return RESULT(open(object->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static void close_for_flags(const struct object *object, int fd)
{
	if (!object->handle)
		close(fd);
}

s64 run_getfileattr(struct worker_task *task, const struct iot_program_op *op)
{
	struct object object;
	s64 result = object_get(task, op, &object), fd;
	long flags = 0;

	if (result)
		return result;
	fd = open_for_flags(&object);
	result = fd < 0 ? fd : RESULT(ioctl((int)fd, FS_IOC_GETFLAGS, &flags));
	if (fd >= 0)
		close_for_flags(&object, (int)fd);
	object_put(&object);
	return result;
}

static s64 set_numbers(int fd, const struct iot_program_op *op)
{
	struct fsxattr attr = {};
	s64 result = RESULT(ioctl(fd, FS_IOC_FSGETXATTR, &attr));

	if (result)
		return result;
	attr.fsx_xflags = iot_fileattrs_to_x(le32_to_cpu(op->flags), attr.fsx_xflags);
	attr.fsx_projid = le32_to_cpu(op->project);
	attr.fsx_extsize = (u32)le64_to_cpu(op->extsize_bytes);
	attr.fsx_cowextsize = (u32)le64_to_cpu(op->cowextsize_bytes);
	return RESULT(ioctl(fd, FS_IOC_FSSETXATTR, &attr));
}

/* Attributes that the trace lacks stay unchanged. */
static s64 set_flags(int fd, const struct iot_program_op *op)
{
	int flags = 0; /* regardless of the argument type in the name of the request */
	s64 result = RESULT(ioctl(fd, FS_IOC_GETFLAGS, &flags));

	if (result)
		return result;
	flags = (int)iot_fileattrs_to(le32_to_cpu(op->flags), (u32)flags);
	return RESULT(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

s64 run_setfileattr(struct worker_task *task, const struct iot_program_op *op)
{
	struct object object;
	s64 result = object_get(task, op, &object), fd;

	if (result)
		return result;
	fd = open_for_flags(&object);
	if (fd >= 0) {
		result = op->has_numbers ? set_numbers((int)fd, op) : set_flags((int)fd, op);
		close_for_flags(&object, (int)fd);
	}
	object_put(&object);
	return fd < 0 ? fd : result;
}
