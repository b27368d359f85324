// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow_fsync.c - a library to preload: fsync takes 2 ms and is counted in the file FSYNCS, a byte for each call. If FSYNC_FAILS
 * is set, it fails.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd)
{
	int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	int counted = open(getenv("FSYNCS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	usleep(2000);
	if (counted < 0 || write(counted, "f", 1) != 1)
		abort();
	close(counted);
	if (getenv("FSYNC_FAILS")) {
		errno = EIO;
		return -1;
	}
	return original(fd);
}
