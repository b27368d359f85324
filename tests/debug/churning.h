/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * churning.h - shared by programs whose threads interfere.
 */
#ifndef TESTS_DEBUG_CHURNING_H
#define TESTS_DEBUG_CHURNING_H

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static inline double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Set by the program itself, not by its starter: by the interface of the kernel, and by that of inject.ko. */
static inline void lack_memory(void)
{
	int fd = open("/proc/thread-self/make-it-fail", O_WRONLY);

	prctl(PR_SET_NAME, "churning");
	if (fd >= 0) {
		(void)!write(fd, "1", 1);
		close(fd);
	}
}

#endif
