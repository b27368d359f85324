// SPDX-License-Identifier: GPL-2.0-only
/*
 * prepare_place.c - how to get to a name in a target, and to nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <unistd.h>

#include "prepare.h"

static int open_below(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (u64)(flags | O_NOFOLLOW | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return iot_file_open_below(dir, path, &how);
}

/**
 * place_directory() - open a directory of the target
 * @p: the work
 * @path: in the target
 * @flags: O_PATH or O_RDONLY
 *
 * Return: a descriptor, or a negative errno: -ELOOP at a symbolic link, -EXDEV at a mount point.
 */
int place_directory(const struct preparer *p, const char *path, int flags)
{
	return open_below(p->target_fd, path, flags | O_DIRECTORY);
}

/* Forget the directory that was used last: it may not be there any more. */
void place_forget(struct preparer *p)
{
	if (p->parent_fd >= 0)
		close(p->parent_fd);
	p->parent_fd = -1;
}

/**
 * place_parent() - the directory that a path is in
 * @p: the work
 * @path: in the target
 * @last: out: the name in that directory
 *
 * Neighbours come one after the other, so the last one is kept open.
 *
 * Return: a descriptor, which is not to be closed; or a negative errno.
 */
int place_parent(struct preparer *p, const char *path, const char **last)
{
	const char *slash = strrchr(path, '/');
	char parent[IOT_PROGRAM_PATH_MAX];

	*last = slash ? slash + 1 : path;
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	if (p->parent_fd >= 0 && !strcmp(parent, p->parent))
		return p->parent_fd;
	place_forget(p);
	p->parent_fd = place_directory(p, parent, O_PATH);
	strcpy(p->parent, parent);
	return p->parent_fd;
}

/**
 * place_pin() - pin the object of a path, so that changes of the name have no effect
 * @p: the preparation
 * @wanted: the path
 * @stat: out: its attributes
 *
 * Return: a descriptor for place_reopen() and place_pin_path(); or a negative errno:
 * -ESTALE if it is not the object found before, or has names that the program does not have.
 */
int place_pin(struct preparer *p, const struct wanted *wanted, struct stat *stat)
{
	const char *last;
	int dir = place_parent(p, wanted->path, &last), pin, err = 0;

	if (dir < 0)
		return dir;
	pin = open_below(dir, last, O_PATH);
	if (pin < 0)
		return pin;
	if (fstat(pin, stat))
		err = -errno;
	else if ((stat->st_mode ^ mode_of(p, wanted)) & S_IFMT ||
		 (p->is_delta && !S_ISDIR(stat->st_mode) && stat->st_nlink != wanted->names))
		err = -ESTALE;
	if (err)
		close(pin);
	return err ? err : pin;
}

/* The path of a pin, which leads to the object itself. */
void place_pin_path(int pin, char path[PIN_PATH_BYTES])
{
	snprintf(path, PIN_PATH_BYTES, "/proc/self/fd/%d", pin);
}

/* Return: a descriptor for data, or a negative errno. */
int place_reopen(int pin, int flags)
{
	char path[PIN_PATH_BYTES];
	int fd;

	place_pin_path(pin, path);
	fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Without root, init may have to make its own directory accessible to change its contents; the mode is
 * set at the end. Return: true if it was made accessible.
 */
bool place_may_enter(int dir)
{
	char path[PIN_PATH_BYTES];
	struct stat stat;

	if (!geteuid() || fstat(dir, &stat) || (stat.st_mode & S_IRWXU) == S_IRWXU)
		return false;
	place_pin_path(dir, path);
	return !chmod(path, (stat.st_mode & 07777) | S_IRWXU);
}
