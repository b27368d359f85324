// SPDX-License-Identifier: GPL-2.0-only
/*
 * mounts.c - put tapefs over directories, in a mount namespace of the command's own.
 *
 * The namespace and its mounts end with its last process, so no mount remains in any
 * case.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "record.h"

#define SUBMOUNTS_MAX 256

#ifndef ST_NOSYMFOLLOW /* of the kernel, for statfs(2) */
#define ST_NOSYMFOLLOW 0x2000
#endif

/* A mount below the directory, held by a copy of it, to be put on top again. */
struct submount {
	char path[PATH_MAX];
	int tree_fd;
};

static bool is_below(const char *path, const char *dir)
{
	size_t bytes = strlen(dir);

	if (!strcmp(dir, "/"))
		return path[0] == '/';
	return !strncmp(path, dir, bytes) && (path[bytes] == '/' || path[bytes] == 0);
}

/* /proc/self/mountinfo writes blanks and the like as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; to++) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
			*to = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 | (text[3] - '0'));
			text += 4;
		} else {
			*to = *text++;
		}
	}
	*to = 0;
}

/* Files that stand for namespaces hide nothing, and those of mount namespaces cannot be mounted twice. */
static bool is_namespace(const char *path)
{
	struct statfs stat;

	return !statfs(path, &stat) && stat.f_type == NSFS_MAGIC;
}

/*
 * Add a copy of the mount at @path. Without it the command would see the directory that the mount hides. A mount that no
 * path leads to, because others hide it, is not needed. Return: 0 or a negative errno, with a sentence.
 */
static int submount_take(const char *path, struct submount *mounts, int *count, char *why, size_t room)
{
	struct submount *mount = &mounts[*count];
	int err;

	if (*count == SUBMOUNTS_MAX) {
		snprintf(why, room, "%s: more than %d file systems are mounted below the recorded directory", path,
			 SUBMOUNTS_MAX);
		return -E2BIG;
	}
	mount->tree_fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (mount->tree_fd >= 0) {
		strcpy(mount->path, path);
		++*count;
		return 0;
	}
	err = -errno;
	if (err == -ENOENT || err == -ENOTDIR || is_namespace(path))
		return 0;
	snprintf(why, room, "%s: the file system there cannot be mounted again: %s", path, strerror(-err));
	return err;
}

/* Copies of all mounts strictly below a directory, in the order they were mounted in. */
static int submounts_take(const char *dir, struct submount *mounts, int *count, char *why, size_t room)
{
	FILE *in = fopen("/proc/self/mountinfo", "re");
	char line[2 * PATH_MAX], path[PATH_MAX];
	int err = 0;

	*count = 0;
	if (!in)
		return -errno;
	while (!err && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%*d %*d %*s %*s %4095s", path) != 1)
			continue;
		unescape(path);
		if (is_below(path, dir) && strcmp(path, dir) != 0)
			err = submount_take(path, mounts, count, why, room);
	}
	fclose(in);
	return err;
}

/* Mount them again, unless there is an error already; and forget them. */
static int submounts_put(struct submount *mounts, int count, int err, char *why, size_t room)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!err && move_mount(mounts[i].tree_fd, "", AT_FDCWD, mounts[i].path, MOVE_MOUNT_F_EMPTY_PATH)) {
			err = -errno;
			snprintf(why, room, "%s: the file system there cannot be mounted again: %s", mounts[i].path,
				 strerror(-err));
		}
		close(mounts[i].tree_fd);
	}
	return err;
}

/* Restrictions of the mount below stay in force. */
static unsigned int attributes_of(const char *dir)
{
	static const struct {
		unsigned long statvfs;
		unsigned int mount;
	} pairs[] = {
		{ ST_RDONLY, MOUNT_ATTR_RDONLY },   { ST_NOSUID, MOUNT_ATTR_NOSUID },
		{ ST_NODEV, MOUNT_ATTR_NODEV },	    { ST_NOEXEC, MOUNT_ATTR_NOEXEC },
		{ ST_NOATIME, MOUNT_ATTR_NOATIME }, { ST_NODIRATIME, MOUNT_ATTR_NODIRATIME },
		{ ST_NOSYMFOLLOW, MOUNT_ATTR_NOSYMFOLLOW },
	};
	unsigned int attributes = 0;
	struct statvfs stat;
	size_t i;

	if (statvfs(dir, &stat))
		return 0;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (stat.f_flag & pairs[i].statvfs)
			attributes |= pairs[i].mount;
	return attributes;
}

/* The sentence that the kernel left, else that of the errno. */
static void take_sentence(int fs_fd, const char *dir, int err, char *why, size_t room)
{
	static const char prefix[] = "e tapefs: ";
	const size_t prefix_bytes = sizeof(prefix) - 1;
	char line[512];
	ssize_t bytes;

	snprintf(why, room, "%s: cannot be mounted over: %s", dir, strerror(-err));
	while (fs_fd >= 0 && (bytes = read(fs_fd, line, sizeof(line) - 1)) > 0) {
		line[bytes] = 0;
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, prefix, prefix_bytes))
			snprintf(why, room, "cannot record: %s", line + prefix_bytes);
	}
}

/**
 * mounts_make() - make a tapefs mount that is nowhere yet
 * @dir: directory that it shows
 * @mmap_mode: as in struct record_options
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: descriptor of the mount, or a negative errno.
 */
int mounts_make(const char *dir, const char *mmap_mode, char *why, size_t room)
{
	int fs_fd = fsopen("tapefs", FSOPEN_CLOEXEC), mount_fd = -1, err = 0;

	if (fs_fd < 0 && errno == ENODEV) {
		iot_module_missing("tapefs", why, room);
		return -ENODEV;
	}
	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", dir, 0) ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "mmap", mmap_mode, 0) ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		err = -errno;
	if (!err) {
		mount_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, attributes_of(dir));
		err = mount_fd < 0 ? -errno : 0;
	}
	if (err)
		take_sentence(fs_fd, dir, err, why, room);
	if (fs_fd >= 0)
		close(fs_fd);
	return err ? err : mount_fd;
}

static int mount_one(const char *dir, const char *mmap_mode, char *why, size_t room)
{
	struct submount *submounts = calloc(SUBMOUNTS_MAX, sizeof(*submounts));
	int count = 0, mount_fd, err;

	if (!submounts) {
		snprintf(why, room, "%s: %s", dir, strerror(ENOMEM));
		return -ENOMEM;
	}
	snprintf(why, room, "%s: cannot be mounted over", dir);
	mount_fd = mounts_make(dir, mmap_mode, why, room);
	err = mount_fd < 0 ? mount_fd : submounts_take(dir, submounts, &count, why, room);
	if (!err && move_mount(mount_fd, "", AT_FDCWD, dir, MOVE_MOUNT_F_EMPTY_PATH)) {
		err = -errno;
		snprintf(why, room, "%s: cannot be mounted over: %s", dir, strerror(-err));
	}
	if (mount_fd >= 0)
		close(mount_fd);
	err = submounts_put(submounts, count, err, why, room);
	free(submounts);
	return err;
}

static uint64_t mount_id(const char *path)
{
	struct statx stat;

	return statx(AT_FDCWD, path, 0, STATX_MNT_ID, &stat) ? 0 : stat.stx_mnt_id;
}

/* Is a directory recorded by an earlier one of the mounts? Not if something else lies over it. */
static bool is_covered(const struct record_options *options, int index)
{
	int i;

	for (i = 0; i < index; i++)
		if (is_below(options->mounts[index], options->mounts[i]) &&
		    mount_id(options->mounts[index]) == mount_id(options->mounts[i]))
			return true;
	return false;
}

/**
 * mounts_enter() - move into a mount namespace where tapefs lies over the directories
 * @options: mounts and mmap_mode are used
 * @dir_fds: out: a descriptor of each of the mounts; -1 for a directory below another one
 *	that is recorded with that
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * The working directory is entered again by its path, so that it is under the mounts.
 *
 * Return: 0 or a negative errno.
 */
int mounts_enter(const struct record_options *options, int *dir_fds, char *why, size_t room)
{
	char cwd[PATH_MAX];
	bool has_cwd = getcwd(cwd, sizeof(cwd)) != NULL;
	bool is_mounted[RECORD_MOUNTS_MAX];
	int i, err = 0;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL)) {
		err = -errno;
		snprintf(why, room, "no mount namespace can be created for the command: %s", strerror(-err));
		return err;
	}
	for (i = 0; i < options->mount_count && !err; i++) {
		dir_fds[i] = -1;
		is_mounted[i] = !is_covered(options, i);
		if (is_mounted[i])
			err = mount_one(options->mounts[i], options->mmap_mode, why, room);
	}
	if (err)
		return err;
	if (has_cwd && chdir(cwd))
		has_cwd = false;
	for (i = 0; i < options->mount_count && !err; i++) {
		if (!is_mounted[i])
			continue;
		dir_fds[i] = open(options->mounts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir_fds[i] < 0) {
			err = -errno;
			snprintf(why, room, "%s: %s", options->mounts[i], strerror(-err));
		}
	}
	return err;
}

static bool is_recorded(const struct record_options *options, const char *path)
{
	int i;

	for (i = 0; i < options->mount_count; i++)
		if (is_below(path, options->mounts[i]))
			return true;
	return false;
}

/* Return: does the link lead to a file that is recorded, and was opened before? */
static bool warn_of_link(const struct record_options *options, const char *link, const char *what,
			 record_warn_fn warn)
{
	char path[PATH_MAX], text[PATH_MAX + 256];
	ssize_t bytes = readlink(link, path, sizeof(path) - 1);

	if (bytes < 0)
		return false;
	path[bytes] = 0;
	if (!is_recorded(options, path))
		return false;
	snprintf(text, sizeof(text), "%s %s, which was opened before: operations through it are not recorded",
		 what, path);
	if (warn)
		warn(text);
	return true;
}

/**
 * mounts_warn() - warn of files that the command can use without being recorded
 * @options: mounts is used
 * @warn: called for each of them; may be NULL
 *
 * To be called before mounts_enter(), in the process that becomes the command, or that forks it.
 *
 * Return: number of descriptors that the command inherits and that bypass the mounts.
 */
int mounts_warn(const struct record_options *options, record_warn_fn warn)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char link[300], what[64];
	int count = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%s", entry->d_name);
		snprintf(what, sizeof(what), "inherited descriptor %.10s is", entry->d_name);
		if (!(fcntl(atoi(entry->d_name), F_GETFD) & FD_CLOEXEC))
			count += warn_of_link(options, link, what, warn);
	}
	if (dir)
		closedir(dir);
	warn_of_link(options, "/proc/self/root", "the root directory is", warn);
	return count;
}
