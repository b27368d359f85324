// SPDX-License-Identifier: GPL-2.0-only
/*
 * zeros.c - a library to be preloaded that simulates a file system that cannot zero ranges, and takes 10 ms for each
 * write that emulates it. A write interrupted by a signal has written half, as on a slow file system. Writes of
 * less than 1 MiB are not emulations, and run normally.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	(void)fd, (void)mode, (void)offset, (void)bytes;
	errno = EOPNOTSUPP;
	return -1;
}

ssize_t pwrite(int fd, const void *buffer, size_t bytes, off_t offset)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	if (bytes < 1 << 20)
		return syscall(SYS_pwrite64, fd, buffer, bytes, offset);
	return (ssize_t)(nanosleep(&pause, NULL) ? bytes / 2 : bytes);
}

int fallocate64(int fd, int mode, off_t offset, off_t bytes) __attribute__((alias("fallocate")));
ssize_t pwrite64(int fd, const void *buffer, size_t bytes, off_t offset) __attribute__((alias("pwrite")));
