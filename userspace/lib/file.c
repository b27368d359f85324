// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * file.c - files that are either complete or not there, and are not what they are made of; and how many may be
 * open.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "iotape.h"

static int write_all(int fd, const void *data, size_t bytes)
{
	const u8 *p = data;
	ssize_t n;

	while (bytes) {
		n = write(fd, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int write_to(const char *path, int flags, const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | flags, 0644), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, bytes, count);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

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

/* A pipe, a terminal or /dev/null must stay what it is, and a link must go on pointing there. */
static bool is_to_be_kept(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && !S_ISREG(stat.st_mode);
}

/**
 * iot_file_save() - write a file, which appears when it is complete
 * @path: the file, replaced if it exists; written to directly if that is no regular file
 * @bytes: its contents
 * @count: their number
 *
 * Return: 0; or a negative errno, and then the file is what it was.
 */
int iot_file_save(const char *path, const void *bytes, size_t count)
{
	char *part;
	int err;

	if (is_to_be_kept(path))
		return write_to(path, 0, bytes, count);
	if (asprintf(&part, "%s.part", path) < 0)
		return -ENOMEM;
	err = write_to(part, O_CREAT, bytes, count);
	if (!err && rename(part, path))
		err = -errno;
	if (err)
		unlink(part);
	free(part);
	return err;
}

/**
 * iot_file_limit_raise() - let this process have as many files open as it may
 *
 * The limit that it has at first is for programs that use select(), and is no more than a hint.
 */
void iot_file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
