// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * file.c - is an output a file that it is made of? And how many files may be open?
 */
#include <sys/resource.h>
#include <sys/stat.h>

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
