// SPDX-License-Identifier: GPL-2.0-only
/*
 * place.c - tapefs over a directory, in a private mount namespace.
 *
 * The caller opens the directory, with its own rights, and by a path without symbolic links. From then on it is used by its
 * descriptor: renames in between change where it is, not which directory it is. Its path is compared again when the mount is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grant.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif
#ifndef ST_NOSYMFOLLOW /* of the kernel, for statfs(2) */
#define ST_NOSYMFOLLOW 0x2000
#endif
#define LINK_BYTES 32
#define SENTENCE_PREFIX "e tapefs: "

/* Flags of statfs(2), which are not in its header. */
#define FLAG_RDONLY	0x0001
#define FLAG_NOSUID	0x0002
#define FLAG_NODEV	0x0004
#define FLAG_NOEXEC	0x0008
#define FLAG_NOATIME	0x0400
#define FLAG_NODIRATIME 0x0800

/**
 * grant_namespace_enter() - enter a mount namespace of its own; its mounts end with its last process
 */
void grant_namespace_enter(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL))
		grant_refuse("no mount namespace can be created: %s%s", strerror(errno), errno == EPERM ? ", as in a container: run iotape outside of it" : "");
}

static void link_of(int fd, char link[LINK_BYTES])
{
	snprintf(link, LINK_BYTES, "/proc/self/fd/%d", fd);
}

/* A directory that was moved, or is below another mount now, has another path. */
static bool is_at(int fd, const char *path)
{
	char link[LINK_BYTES], found[PATH_MAX];
	ssize_t bytes;

	link_of(fd, link);
	bytes = readlink(link, found, sizeof(found));
	return bytes == (ssize_t)strlen(path) && !memcmp(found, path, (size_t)bytes);
}

/* The caller must be able to search it, as each operation in it requires. */
static int open_as_caller(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd, err, dot;

	grant_rights_lower();
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	err = errno;
	dot = fd < 0 ? -1 : openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		err = errno;
	grant_rights_raise();
	if (dot < 0)
		grant_refuse("%s: %s", path, err == ELOOP ? "a component of the path is a symbolic link" : strerror(err));
	close(dot);
	return fd;
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

static bool is_strictly_below(const char *path, const char *dir)
{
	size_t bytes = strlen(dir);

	if (!dir[1])
		return path[1];
	return !strncmp(path, dir, bytes) && path[bytes] == '/';
}

/*
 * tapefs would hide a mount below the directory. To mount that again by its path, through directories of the caller, would let the
 * caller choose another place for it.
 */
static void check_submounts(const char *dir)
{
	FILE *in = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, *path, *end;
	size_t room = 0;
	int i;

	if (!in)
		grant_refuse("/proc/self/mountinfo: %s", strerror(errno));
	while (getline(&line, &room, in) > 0) {
		for (i = 0, path = line; i < 4 && path; i++)
			path = strchr(path + 1, ' ');
		end = path ? strchr(path + 1, ' ') : NULL;
		if (!end)
			grant_refuse("/proc/self/mountinfo: has an unknown form");
		*end = 0;
		unescape(++path);
		if (is_strictly_below(path, dir))
			grant_refuse("%s: cannot be recorded without root, because %s is mounted below it", dir, path);
	}
	if (ferror(in) || !feof(in))
		grant_refuse("/proc/self/mountinfo: %s", strerror(errno));
	fclose(in);
	free(line);
}

/* Restrictions of the mount below stay in force. */
static unsigned int attributes_of(int dir, const char *path)
{
	static const struct {
		long flag;
		unsigned int attribute;
	} pairs[] = {
		{ FLAG_RDONLY, MOUNT_ATTR_RDONLY },   { FLAG_NOSUID, MOUNT_ATTR_NOSUID },
		{ FLAG_NODEV, MOUNT_ATTR_NODEV },     { FLAG_NOEXEC, MOUNT_ATTR_NOEXEC },
		{ FLAG_NOATIME, MOUNT_ATTR_NOATIME }, { FLAG_NODIRATIME, MOUNT_ATTR_NODIRATIME },
		{ ST_NOSYMFOLLOW, MOUNT_ATTR_NOSYMFOLLOW },
	};
	unsigned int attributes = 0;
	struct statfs stat;
	size_t i;

	if (fstatfs(dir, &stat))
		grant_refuse("%s: %s", path, strerror(errno));
	if (stat.f_type == FUSE_SUPER_MAGIC)
		grant_refuse("%s: is on a file system of a process (FUSE), whose records only root may make", path);
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (stat.f_flags & pairs[i].flag)
			attributes |= pairs[i].attribute;
	return attributes;
}

/* The sentence that the kernel left, else that of the errno. */
static void refuse_mount(int fs_fd, const char *path)
{
	const size_t prefix_bytes = sizeof(SENTENCE_PREFIX) - 1;
	char line[512];
	int err = errno;
	ssize_t bytes;

	while (fs_fd >= 0 && (bytes = read(fs_fd, line, sizeof(line) - 1)) > 0) {
		line[bytes] = 0;
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, SENTENCE_PREFIX, prefix_bytes))
			grant_refuse("%s: cannot be recorded: %s", path, line + prefix_bytes);
	}
	grant_refuse("%s: cannot be mounted over: %s", path, strerror(err));
}

static int make_mount(int dir, const char *mmap_mode, const char *path)
{
	unsigned int attributes = attributes_of(dir, path);
	int fs_fd = fsopen("tapefs", FSOPEN_CLOEXEC), mount_fd;
	char link[LINK_BYTES];

	if (fs_fd < 0 && errno == ENODEV)
		grant_refuse("module tapefs is not loaded (try: modprobe tapefs)");
	link_of(dir, link);
	if (fs_fd < 0 || fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", link, 0) ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "mmap", mmap_mode, 0) || fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		refuse_mount(fs_fd, path);
	mount_fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, attributes);
	if (mount_fd < 0)
		refuse_mount(fs_fd, path);
	close(fs_fd);
	return mount_fd;
}

/**
 * grant_mount() - put tapefs over a directory, if caller and policy allow it; does not return if not
 * @request: mmap_mode is used
 * @path: of the directory
 *
 * The process has a mount namespace of its own, and the rights of root.
 *
 * Return: descriptor of the mount.
 */
int grant_mount(const struct grant_request *request, const char *path)
{
	int dir = open_as_caller(path), mount_fd;

	if (!is_at(dir, path))
		grant_refuse("%s: is not there any more", path);
	if (!grant_policy_allows(path))
		grant_refuse("%s: the administrator does not allow you to record there", path);
	check_submounts(path);
	mount_fd = make_mount(dir, request->mmap_mode, path);
	if (move_mount(mount_fd, "", dir, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
		grant_refuse("%s: cannot be mounted over: %s", path, strerror(errno));
	if (!is_at(mount_fd, path))
		grant_refuse("%s: is not there any more", path);
	close(dir);
	return mount_fd;
}
