// SPDX-License-Identifier: GPL-2.0-only
/*
 * run_syscall_names.c - operations on names.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/flags.h"
#include "run_syscall.h"

#define CONFINED (RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)
#define RETRIES	 100

/* A walk that met a rename just then is begun again: the kernel returns EAGAIN. */
static int open_in_root(const struct worker_task *task, const char *path, struct open_how *how)
{
	int retries = how->flags & O_NONBLOCK ? 0 : RETRIES, fd;

	do
		fd = iot_file_open_below(stage_of(task)->root_fd, path, how);
	while (fd == -EAGAIN && retries--);
	return fd;
}

/* A link at the end of the path is found itself; one before it is an error. */
static int walk_text(const struct worker_task *task, const char *path, u64 flags)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | flags,
		.resolve = CONFINED | RESOLVE_NO_SYMLINKS,
	};

	return open_in_root(task, path, &how);
}

/**
 * walk() - find an object by its path
 * @task: which needs it
 * @path: from the program
 *
 * Return: a descriptor that stands for the object and cannot read or write it, to be closed by
 * the caller; or a negative errno.
 */
int walk(struct worker_task *task, __le32 path)
{
	return walk_text(task, string_of(task, path), 0);
}

/**
 * struct place - a name in its directory, to be made or removed
 * @dir_fd: the directory
 * @name: the component, a part of the program
 * @is_root: the directory is the target, whose descriptor stays open
 */
struct place {
	int dir_fd;
	const char *name;
	bool is_root;
};

static int place_get(struct worker_task *task, __le32 path, struct place *place)
{
	const char *text = string_of(task, path), *slash = strrchr(text, '/');
	char *parent = memory_of(task)->path;

	place->name = slash ? slash + 1 : text;
	place->is_root = !slash;
	if (slash) {
		memcpy(parent, text, (size_t)(slash - text));
		parent[slash - text] = 0;
		place->dir_fd = walk_text(task, parent, O_DIRECTORY);
	} else {
		place->dir_fd = stage_of(task)->root_fd;
	}
	return place->dir_fd < 0 ? place->dir_fd : 0;
}

static void place_put(const struct place *place)
{
	if (!place->is_root)
		close(place->dir_fd);
}

/* A look-up as the first half of making a name that exists already. */
static int lookup_to_create(struct worker_task *task, const struct iot_program_op *op)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = CONFINED | RESOLVE_NO_SYMLINKS,
	};
	struct place place;
	int err = place_get(task, op->path, &place), fd;

	if (err)
		return err;
	fd = (int)syscall(SYS_openat2, place.dir_fd, place.name, &how, sizeof(how));
	if (fd >= 0) {
		close(fd);
		err = -EEXIST;
	} else if (errno != ENOENT) {
		err = -errno;
	}
	place_put(&place);
	return err;
}

s64 run_lookup(struct worker_task *task, const struct iot_program_op *op)
{
	const u32 make = IOT_INTENT_create | IOT_INTENT_excl;
	int fd;

	if ((le32_to_cpu(op->flags) & make) == make)
		return lookup_to_create(task, op);
	fd = walk(task, op->path);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* -- opens where there may be devices ------------------------------------------------------------- */

/* For the object of a descriptor. Return: a descriptor or a negative errno. */
static int open_found(int found_fd, u64 flags)
{
	struct stat stat;
	char path[32];

	if (fstat(found_fd, &stat))
		return -errno;
	if (S_ISCHR(stat.st_mode) || S_ISBLK(stat.st_mode))
		return -EACCES;
	if (S_ISLNK(stat.st_mode))
		return -ELOOP;
	if (S_ISDIR(stat.st_mode) && (flags & O_CREAT))
		return -EISDIR;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found_fd);
	return (int)RESULT(open(path, (int)(flags & ~(u64)(O_CREAT | O_EXCL | O_NOFOLLOW))));
}

/* Whether the open creates the file, or fails. */
static bool makes(u64 flags)
{
	return (flags & O_TMPFILE) == O_TMPFILE || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

/*
 * An existing object is looked up first, checked, and then opened through the result of the
 * look-up: another task may give its name to a different object. A missing one is created. Only the
 * creation of a link's missing target is not supported.
 */
static int open_warily(const struct worker_task *task, const char *path, const struct open_how *how)
{
	struct open_how find = {
		.flags = O_PATH | O_CLOEXEC | (how->flags & (O_NOFOLLOW | O_DIRECTORY)),
		.resolve = how->resolve,
	};
	struct open_how make = *how;
	int retries = RETRIES, found_fd, fd;

	if (makes(how->flags))
		return open_in_root(task, path, &make);
	make.flags |= O_EXCL;
	do {
		found_fd = open_in_root(task, path, &find);
		if (found_fd != -ENOENT || !(how->flags & O_CREAT))
			break;
		fd = open_in_root(task, path, &make);
		if (fd != -EEXIST)
			return fd;
	} while (retries--);
	if (found_fd < 0)
		return found_fd;
	fd = open_found(found_fd, how->flags);
	close(found_fd);
	return fd;
}

s64 run_open(struct worker_task *task, const struct iot_program_op *op)
{
	u32 our = le32_to_cpu(op->flags);
	struct open_how how = {
		.flags = iot_open_flags_to(our) | O_CLOEXEC | O_NOCTTY,
		.resolve = CONFINED,
	};
	int fd;

	if (our & (IOT_OPEN_create | IOT_OPEN_tmpfile)) /* else openat2() wants none */
		how.mode = mode_to_make(task, S_IFREG | (le32_to_cpu(op->mode) & 07777)) & 07777;
	fd = stage_of(task)->is_wary ? open_warily(task, string_of(task, op->path), &how) :
				       open_in_root(task, string_of(task, op->path), &how);
	if (fd < 0)
		return fd;
	if (!op->handle) { /* it failed in the trace, so nothing uses it */
		close(fd);
		return 0;
	}
	return handle_fill(task, op->handle, fd, (int)how.flags & (O_APPEND | O_DIRECT));
}

/* ------------------------------------------------------------------------------------------------- */

s64 run_mkdir(struct worker_task *task, const struct iot_program_op *op)
{
	struct place place;
	s64 result = place_get(task, op->path, &place);

	if (result)
		return result;
	result = RESULT(mkdirat(place.dir_fd, place.name, le32_to_cpu(op->mode) & 07777));
	place_put(&place);
	return result;
}

/* Not the one that stands for a name that was removed, which is not a device, and which anybody makes. */
static bool is_device(u32 mode, u64 rdev)
{
	return S_ISBLK(mode) || (S_ISCHR(mode) && rdev);
}

/* The program has device numbers as the kernel encodes them for user space. */
s64 run_mknod(struct worker_task *task, const struct iot_program_op *op)
{
	u32 mode = mode_to_make(task, le32_to_cpu(op->mode));
	u64 rdev = rdev_to_make(task, mode, le64_to_cpu(op->rdev));
	struct place place;
	s64 result;

	if (!stage_of(task)->is_mounted && is_device(mode, rdev))
		return -EPERM; /* as for a caller without CAP_MKNOD */
	result = place_get(task, op->path, &place);
	if (result)
		return result;
	result = RESULT(mknodat(place.dir_fd, place.name, mode & (S_IFMT | 07777), (dev_t)rdev));
	place_put(&place);
	return result;
}

s64 run_symlink(struct worker_task *task, const struct iot_program_op *op)
{
	struct place place;
	s64 result = place_get(task, op->path, &place);

	if (result)
		return result;
	result = RESULT(symlinkat(string_of(task, op->target), place.dir_fd, place.name));
	place_put(&place);
	return result;
}

/* A file without a name is reached through the descriptor's own link in /proc. */
static s64 link_handle(struct worker_task *task, const struct iot_program_op *op,
		       const struct place *to)
{
	struct handle *handle;
	char path[64];
	int fd = handle_get(task, op->handle, &handle);
	s64 result;

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = RESULT(linkat(AT_FDCWD, path, to->dir_fd, to->name, AT_SYMLINK_FOLLOW));
	handle_put(handle);
	return result;
}

s64 run_link(struct worker_task *task, const struct iot_program_op *op)
{
	struct place from, to;
	s64 result = place_get(task, op->new_path, &to);

	if (result)
		return result;
	if (!op->path) {
		result = link_handle(task, op, &to);
	} else {
		result = place_get(task, op->path, &from);
		if (!result) {
			result = RESULT(linkat(from.dir_fd, from.name, to.dir_fd, to.name, 0));
			place_put(&from);
		}
	}
	place_put(&to);
	return result;
}

static s64 remove_name(struct worker_task *task, const struct iot_program_op *op, int flags)
{
	struct place place;
	s64 result = place_get(task, op->path, &place);

	if (result)
		return result;
	result = RESULT(unlinkat(place.dir_fd, place.name, flags));
	place_put(&place);
	return result;
}

s64 run_unlink(struct worker_task *task, const struct iot_program_op *op)
{
	return remove_name(task, op, 0);
}

s64 run_rmdir(struct worker_task *task, const struct iot_program_op *op)
{
	return remove_name(task, op, AT_REMOVEDIR);
}

s64 run_rename(struct worker_task *task, const struct iot_program_op *op)
{
	struct place from, to;
	s64 result = place_get(task, op->path, &from);

	if (result)
		return result;
	result = place_get(task, op->new_path, &to);
	if (!result) {
		result = RESULT(renameat2(from.dir_fd, from.name, to.dir_fd, to.name,
					  iot_rename_flags_to(le32_to_cpu(op->flags))));
		place_put(&to);
	}
	place_put(&from);
	return result;
}

/* Return: length of the target, which the record of this operation truncates to its size. */
static s64 read_link(struct worker_task *task, const struct iot_program_op *op, size_t room)
{
	char *target = (char *)memory_of(task)->sink;
	int fd = walk(task, op->path);
	s64 result;

	if (fd < 0)
		return fd;
	result = RESULT(readlinkat(fd, "", target, room));
	close(fd);
	if (result == -ENOENT) /* it is there, and no link */
		return -EINVAL;
	task->step.observed.target = target;
	task->step.observed.target_bytes = result > 0 ? (u32)result : 0;
	return result;
}

s64 run_readlink(struct worker_task *task, const struct iot_program_op *op)
{
	u64 room = le64_to_cpu(op->length_bytes);

	return read_link(task, op, room && room < PATH_MAX ? room : PATH_MAX);
}

/* The step of a path walk at a link; later operations deal with its target. */
s64 run_follow(struct worker_task *task, const struct iot_program_op *op)
{
	s64 result = read_link(task, op, PATH_MAX);

	return result < 0 ? result : 0;
}
