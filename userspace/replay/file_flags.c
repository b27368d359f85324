// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_flags.c - flags of files, those of chattr(1), that a replay may have left in a target.
 *
 * Two of them forbid changes, and would keep init from restoring the tree; others change the cost
 * of writes, and would slow the next replay down. A file that init creates inherits the flags of
 * its directory, so existing files get those of the target. Flags for the format of data, such as
 * compression, cannot be changed any more when there is data, and stay.
 */
#include "file_flags.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORBID (FS_IMMUTABLE_FL | FS_APPEND_FL)
#define HABITS (FS_SYNC_FL | FS_DIRSYNC_FL | FS_NOATIME_FL | FS_NODUMP_FL | FS_JOURNAL_DATA_FL | \
		FS_NOTAIL_FL | FS_TOPDIR_FL)

/* Only these have flags, and to open something else may do something. */
static int open_name(int dir, const char *name)
{
	struct stat stat;

	if (fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW) ||
	    !(S_ISREG(stat.st_mode) || S_ISDIR(stat.st_mode)))
		return -1;
	return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Return: did that change anything? */
static bool change(int fd, int without, int with)
{
	int flags = 0, wanted;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags))
		return false;
	wanted = (flags & ~without) | with;
	return wanted != flags && !ioctl(fd, FS_IOC_SETFLAGS, &wanted);
}

/**
 * file_flags_free() - let a file or directory be changed
 * @fd: of it, open for reading
 *
 * Return: the flags that it had, for file_flags_put_back(); 0 if it may be changed as it is, or must
 * not be.
 */
int file_flags_free(int fd)
{
	int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) || !(flags & FORBID))
		return 0;
	return change(fd, FORBID, 0) ? flags : 0;
}

/* As it was. @flags: from file_flags_free() */
void file_flags_put_back(int fd, int flags)
{
	if (flags)
		change(fd, 0, flags & FORBID);
}

/**
 * file_flags_free_name() - permit the removal of a name and changes of its object
 * @dir: a directory
 * @name: in it
 *
 * Return: whether flags of either changed.
 */
bool file_flags_free_name(int dir, const char *name)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), flags = 0;

	if (fd >= 0) {
		flags = file_flags_free(fd);
		close(fd);
	}
	fd = open_name(dir, name);
	if (fd >= 0) {
		flags |= file_flags_free(fd);
		close(fd);
	}
	return flags;
}

/**
 * file_flags_reset() - give the objects in a target the flags of newly created ones
 * @target: the target, open for reading
 * @dir: a directory in it
 * @name: in that
 *
 * Return: whether any flags changed.
 */
bool file_flags_reset(int target, int dir, const char *name)
{
	int fd = open_name(dir, name), flags = 0;
	bool is_changed;

	if (fd < 0)
		return false;
	if (ioctl(target, FS_IOC_GETFLAGS, &flags))
		flags = 0;
	is_changed = change(fd, FORBID | HABITS, flags & HABITS);
	close(fd);
	return is_changed;
}
