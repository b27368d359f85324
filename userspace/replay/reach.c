// SPDX-License-Identifier: GPL-2.0-only
/*
 * reach.c - checks whether users other than the owner of a target can reach its contents.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reach.h"

#define SEARCH_OTHERS (S_IXGRP | S_IXOTH) /* with an access control list, the group bits are its mask */

/* Root, and the user that replays, can enter everything of their own. */
static bool is_shut(const struct stat *stat)
{
	return !(stat->st_mode & SEARCH_OTHERS) && (!stat->st_uid || stat->st_uid == geteuid());
}

/* The root of all is its own parent. Return: 1 if it is; 0, and @fd is the parent now; a negative errno. */
static int go_up(int *fd, const struct stat *stat)
{
	int parent = openat(*fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct stat above;

	if (parent < 0)
		return -errno;
	if (fstat(parent, &above))
		err = -errno;
	else if (above.st_dev == stat->st_dev && above.st_ino == stat->st_ino)
		err = 1;
	if (err) {
		close(parent);
		return err;
	}
	close(*fd);
	*fd = parent;
	return 0;
}

/**
 * target_is_private() - check that only root and the caller can enter a target, or a directory above it
 * @target_fd: the target
 *
 * Other mounts of the file system are unknown.
 *
 * Return: 1 if so; 0; a negative errno.
 */
int target_is_private(int target_fd)
{
	int fd = openat(target_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct stat stat;

	if (fd < 0)
		return -errno;
	do {
		if (fstat(fd, &stat))
			err = -errno;
		else if (is_shut(&stat))
			break;
		else
			err = go_up(&fd, &stat);
	} while (!err);
	close(fd);
	return err < 0 ? err : !err;
}

/**
 * target_check_private() - refuse to create privileged files where others can use them
 * @target_fd: the target
 * @target: its name
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0; -EACCES if others can enter; another negative errno.
 */
int target_check_private(int target_fd, const char *target, char *why, size_t room)
{
	int state = target_is_private(target_fd);

	if (state > 0)
		return 0;
	if (state < 0) {
		snprintf(why, room, "%s: %s", target, strerror(-state));
		return state;
	}
	snprintf(why, room, "%s: --privileged-files requires a directory that only root and the caller can enter: chmod 700 it or one of its parents",
		 target);
	return -EACCES;
}
