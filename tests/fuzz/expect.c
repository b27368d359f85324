// SPDX-License-Identifier: GPL-2.0-only
/*
 * expect.c - sessions, and results of requests as TAP.
 */
#include "expect.h"

#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int expect_failures;

void expect(const char *what, long result, int wanted)
{
	int got = result < 0 ? errno : 0;

	if (got == wanted)
		return;
	printf("# %s: %s, not %s\n", what, got ? strerror(got) : "accepted", wanted ? strerror(wanted) : "accepted");
	expect_failures++;
}

void report(const char *what)
{
	static int number;

	printf("%sok %d - %s\n", expect_failures ? "not " : "", ++number, what);
	fflush(stdout);
	expect_failures = 0;
}

int control_open(void)
{
	int fd = open(IOT_CONTROL_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(IOT_CONTROL_PATH);
		exit(1);
	}
	return fd;
}

int session_new(void)
{
	struct iot_create create = { .buffers = 4, .flush_ms = 100 };
	int fd = control_open();

	expect("a session", ioctl(fd, IOT_IOC_CREATE, &create), 0);
	return fd;
}
