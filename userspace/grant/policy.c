// SPDX-License-Identifier: GPL-2.0-only
/*
 * policy.c - the administrator's policy: users and groups, each with a directory below which they may record.
 *
 * It is read as a whole, and refused as a whole: a line that is not understood might have been meant to forbid something. The
 * groups of a user are those of the calling process, as for access to files.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grant.h"

#define POLICY_PATH GRANT_POLICY_DIRECTORY "/" GRANT_POLICY_NAME
#define POLICY_MAX_BYTES (64 << 10)
#define BLANKS " \t"

static char text[POLICY_MAX_BYTES + 1];

/* Directories of the lines that are for the caller, in @text. */
static const char *allowed[1024];
static size_t allowed_count;

static void check_owner(int fd, const char *path, mode_t type)
{
	struct stat stat;

	if (fstat(fd, &stat))
		grant_refuse("%s: %s", path, strerror(errno));
	if ((stat.st_mode & S_IFMT) != type)
		grant_refuse("%s: not a %s", path, type == S_IFDIR ? "directory" : "regular file");
	if (stat.st_uid || stat.st_mode & (S_IWGRP | S_IWOTH))
		grant_refuse("%s: not used, because others than root can write to it", path);
}

static size_t read_all(int fd)
{
	size_t bytes = 0;
	ssize_t more;

	while ((more = read(fd, text + bytes, sizeof(text) - bytes)) > 0)
		bytes += (size_t)more;
	if (more < 0)
		grant_refuse(POLICY_PATH ": %s", strerror(errno));
	return bytes;
}

static size_t load(void)
{
	int dir = open(GRANT_POLICY_DIRECTORY, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = -1;
	size_t bytes;

	if (dir >= 0)
		fd = openat(dir, GRANT_POLICY_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		grant_refuse("the administrator allows nobody to record: there is no " POLICY_PATH);
	if (fd < 0)
		grant_refuse(POLICY_PATH ": %s", strerror(errno));
	check_owner(dir, GRANT_POLICY_DIRECTORY, S_IFDIR);
	check_owner(fd, POLICY_PATH, S_IFREG);
	bytes = read_all(fd);
	close(fd);
	close(dir);
	if (bytes > POLICY_MAX_BYTES || memchr(text, 0, bytes))
		grant_refuse(POLICY_PATH ": not used, because it is larger than %d bytes or has a zero byte", POLICY_MAX_BYTES);
	return bytes;
}

static bool is_number(const char *name, unsigned long *number)
{
	char *end;

	*number = strtoul(name, &end, 10);
	return name[0] >= '0' && name[0] <= '9' && !*end && *number < UINT32_MAX;
}

static bool is_user(const char *name)
{
	const struct passwd *user;
	unsigned long number;

	if (is_number(name, &number))
		return number == getuid();
	user = getpwnam(name);
	return user && user->pw_uid == getuid();
}

static bool is_member_of(gid_t gid)
{
	static gid_t groups[NGROUPS_MAX];
	int count = getgroups(NGROUPS_MAX, groups);

	if (gid == getgid())
		return true;
	while (count-- > 0)
		if (groups[count] == gid)
			return true;
	return false;
}

static bool is_member(const char *name)
{
	const struct group *group;
	unsigned long number;

	if (is_number(name, &number))
		return is_member_of((gid_t)number);
	group = getgrnam(name);
	return group && is_member_of(group->gr_gid);
}

static void refuse_line(int number)
{
	grant_refuse(POLICY_PATH ": line %d: not 'group NAME DIR' or 'user NAME DIR', with DIR an absolute path without '.' and '..'", number);
}

static void take_line(char *line, int number)
{
	char *kind = line + strspn(line, BLANKS), *name, *dir;
	bool is_group, is_caller;

	if (!*kind || *kind == '#')
		return;
	name = kind + strcspn(kind, BLANKS);
	if (!*name)
		refuse_line(number);
	*name++ = 0;
	name += strspn(name, BLANKS);
	dir = name + strcspn(name, BLANKS);
	if (!*dir)
		refuse_line(number);
	*dir++ = 0;
	dir += strspn(dir, BLANKS);
	is_group = !strcmp(kind, "group");
	if ((!is_group && strcmp(kind, "user") != 0) || !grant_is_path(dir))
		refuse_line(number);
	is_caller = is_group ? is_member(name) : is_user(name);
	if (is_caller && allowed_count < sizeof(allowed) / sizeof(allowed[0]))
		allowed[allowed_count++] = dir;
}

/**
 * grant_policy_read() - read the policy; does not return if it is not usable, or has no line for the caller
 *
 * The caller has the rights of root.
 */
void grant_policy_read(void)
{
	char *line, *next;
	int number = 0;

	text[load()] = 0;
	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		take_line(line, ++number);
	}
	if (!allowed_count)
		grant_refuse("the administrator does not allow you to record: no line of " POLICY_PATH " is for you or your groups");
}

/**
 * grant_policy_allows() - may the caller record a directory?
 * @path: its only path, without symbolic links
 */
bool grant_policy_allows(const char *path)
{
	size_t i, bytes;

	for (i = 0; i < allowed_count; i++) {
		bytes = strlen(allowed[i]);
		if (!allowed[i][1] || (!strncmp(path, allowed[i], bytes) && (!path[bytes] || path[bytes] == '/')))
			return true;
	}
	return false;
}
