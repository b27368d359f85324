// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow.c - a library to be preloaded that simulates a slow device: each read takes
 * 5 ms more.
 */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

typedef ssize_t (*pread_fn)(int fd, void *buffer, size_t bytes, off_t offset);

static ssize_t read_slowly(const char *name, int fd, void *buffer, size_t bytes, off_t offset)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	pread_fn next = (pread_fn)dlsym(RTLD_NEXT, name);

	nanosleep(&pause, NULL);
	return next(fd, buffer, bytes, offset);
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	return read_slowly("pread", fd, buffer, bytes, offset);
}

ssize_t pread64(int fd, void *buffer, size_t bytes, off_t offset)
{
	return read_slowly("pread64", fd, buffer, bytes, offset);
}
