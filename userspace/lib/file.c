// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * file.c - is an output a file that it is made of? Can another user have written a file? How many files may be open?
 * And paths that are longer than a system call takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iotape.h"

/**
 * iot_file_is_same() - are two paths one file, whatever links lead there?
 * @path: of a file that is read
 * @other: of one that is to be written, which need not exist
 */
bool iot_file_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Return: why another user may have written the file, or NULL. */
static const char *distrust(const struct stat *stat)
{
	if (!S_ISREG(stat->st_mode))
		return "not a regular file";
	if (stat->st_uid != geteuid())
		return "belongs to another user";
	if (stat->st_mode & (S_IWGRP | S_IWOTH)) /* with an access control list, the group bits are its mask */
		return "other users can write to it";
	return NULL;
}

/**
 * iot_file_open_own() - open a file for reading if no other user can have written it
 * @path: of the file; a symbolic link at its end is refused
 * @why: out: after -EPERM and -ELOOP, the reason
 *
 * Return: a descriptor; -ELOOP for a symbolic link; -EPERM if another user may have written the file; another
 * negative errno.
 */
int iot_file_open_own(const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err = 0;
	struct stat stat;

	*why = NULL;
	if (fd < 0) {
		err = -errno;
		if (err == -ELOOP)
			*why = "a symbolic link";
		return err;
	}
	if (fstat(fd, &stat))
		err = -errno;
	else if ((*why = distrust(&stat)))
		err = -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/**
 * iot_file_limit_raise() - raise the limit of open files of this process to its maximum
 *
 * The soft limit is low for the sake of programs that use select(); any process may raise it.
 */
void iot_file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int openat2_errno(int dir_fd, const char *path, const struct open_how *how)
{
	long fd = syscall(SYS_openat2, dir_fd, path, how, sizeof(*how));

	return fd < 0 ? -errno : (int)fd;
}

/*
 * The directory that the last piece of a path begins in, and that piece. Return: a descriptor, for the
 * caller to close; or a negative errno.
 */
static int open_pieces(int dir_fd, const char *path, u64 resolve, const char **last)
{
	const struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = resolve | RESOLVE_NO_SYMLINKS,
	};
	size_t bytes = strlen(path), piece;
	char room[IOT_LOOKUP_MAX];
	int fd = -1, next;

	while ((piece = iot_path_piece(path, bytes)) < bytes) {
		memcpy(room, path, piece);
		room[piece] = 0;
		next = openat2_errno(fd < 0 ? dir_fd : fd, room, &how);
		if (fd >= 0)
			close(fd);
		if (next < 0)
			return next;
		fd = next;
		path += piece + 1;
		bytes -= piece + 1;
	}
	*last = path;
	return fd;
}

/**
 * iot_file_open_below() - openat2(2), also of a path that is longer than that takes
 * @dir_fd: where the path begins
 * @path: without dots in it, and no component longer than a system call takes
 * @how: as for openat2(2)
 *
 * A long path is walked in pieces, none of which leads out of @dir_fd if @how does not allow it. A
 * symbolic link at its end is not followed, because its target would depend on the parts.
 *
 * Return: a descriptor or a negative errno.
 */
int iot_file_open_below(int dir_fd, const char *path, const struct open_how *how)
{
	struct open_how end = *how;
	const char *last;
	int fd, dir;

	if (strnlen(path, IOT_LOOKUP_MAX) < IOT_LOOKUP_MAX)
		return openat2_errno(dir_fd, path, how);
	dir = open_pieces(dir_fd, path, how->resolve, &last);
	if (dir < 0)
		return dir;
	end.flags |= O_NOFOLLOW;
	fd = openat2_errno(dir, last, &end);
	close(dir);
	return fd;
}
