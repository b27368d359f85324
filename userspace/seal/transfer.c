// SPDX-License-Identifier: GPL-2.0-only
/*
 * transfer.c - whole blocks from files, pipes and sockets.
 */
#include <errno.h>
#include <unistd.h>

#include "seal.h"

/**
 * seal_read() - read until a number of bytes or the end
 *
 * Return: the bytes read, less than @count only at the end; or a negative errno.
 */
s64 seal_read(int fd, void *bytes, size_t count)
{
	size_t at = 0;
	ssize_t n;

	while (at < count) {
		n = read(fd, (u8 *)bytes + at, count - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		at += (size_t)n;
	}
	return (s64)at;
}
