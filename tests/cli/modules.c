// SPDX-License-Identifier: GPL-2.0-only
/*
 * modules.c - a library for LD_PRELOAD: there are modules with the control interface MODULES_VERSION, which fail all
 * other requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iotape/control.h>

int open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (!strcmp(path, IOT_CONTROL_PATH) || !strcmp(path, IOT_REPLAY_PATH))
		path = "/dev/null";
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int ioctl(int fd, unsigned long request, ...)
{
	const char *version = getenv("MODULES_VERSION");
	va_list more;
	void *argument;

	va_start(more, request);
	argument = va_arg(more, void *);
	va_end(more);
	if (request != IOT_IOC_QUERY)
		return (int)syscall(SYS_ioctl, fd, request, argument);
	if (!version) {
		errno = ENOTTY;
		return -1;
	}
	*(struct iot_query *)argument = (struct iot_query){ .version = (unsigned int)atoi(version) };
	return 0;
}
