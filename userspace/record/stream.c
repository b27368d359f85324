// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.c - a trace that goes to a pipe or a socket instead of a file.
 *
 * A slow reader delays the collector, and the policy of the session decides on the effect on the command; if
 * the reader exits, the recording ends, and the command continues.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "record.h"

#define DEAD_MS 60000 /* a peer that acknowledges nothing for so long is taken to be dead */

/* Above the standard descriptors, so that 0 means none. */
static int keep(int fd, const char *output, char *why, size_t room)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3), err = -errno;

	if (kept >= 0)
		return kept;
	snprintf(why, room, "%s: %s", output, strerror(-err));
	return err;
}

/* Output of the command goes to standard error from now on: it is not part of the trace. */
static int take_standard_output(char *why, size_t room)
{
	int fd;

	if (isatty(STDOUT_FILENO)) {
		snprintf(why, room, "standard output is a terminal: no trace is written to it");
		return -ENOTTY;
	}
	fd = keep(STDOUT_FILENO, "standard output", why, room);
	if (fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		snprintf(why, room, "standard error: %s", strerror(errno));
		close(fd);
		return -EBADF;
	}
	return fd;
}

static int connect_unix(const char *output, const char *path, char *why, size_t room)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(name.sun_path)) {
		snprintf(why, room, "%s: %s", output, strerror(ENAMETOOLONG));
		return -ENAMETOOLONG;
	}
	strcpy(name.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&name, sizeof(name)))
		return fd;
	err = -errno;
	snprintf(why, room, "%s: %s", output, strerror(-err));
	if (fd >= 0)
		close(fd);
	return err;
}

static void watch_peer(int fd)
{
	const int one = 1, dead_ms = DEAD_MS;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof(dead_ms));
}

static int connect_one_of(const struct addrinfo *addresses)
{
	const struct addrinfo *a;
	int fd, err = -ENOENT;

	for (a = addresses; a; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 && !connect(fd, a->ai_addr, a->ai_addrlen))
			return fd;
		err = -errno;
		if (fd >= 0)
			close(fd);
	}
	return err;
}

/* HOST:PORT, or [HOST]:PORT for an address with colons. */
static int connect_tcp(const char *output, const char *address, char *why, size_t room)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(address, ':');
	struct addrinfo *addresses;
	char host[256];
	int fd, code, bytes = colon ? (int)(colon - address) : 0;

	if (!colon || !bytes || !colon[1]) {
		snprintf(why, room, "%s: not tcp:HOST:PORT", output);
		return -EINVAL;
	}
	if (address[0] == '[' && address[bytes - 1] == ']') {
		address++;
		bytes -= 2;
	}
	snprintf(host, sizeof(host), "%.*s", bytes, address);
	code = getaddrinfo(host, colon + 1, &hints, &addresses);
	if (code) {
		snprintf(why, room, "%s: %s", output, gai_strerror(code));
		return -EHOSTUNREACH;
	}
	fd = connect_one_of(addresses);
	freeaddrinfo(addresses);
	if (fd < 0)
		snprintf(why, room, "%s: %s", output, strerror(-fd));
	else
		watch_peer(fd);
	return fd;
}

/**
 * record_is_stream() - does an output name a pipe or a socket, rather than a file?
 * @output: -, unix:PATH, tcp:HOST:PORT, or else a path
 */
bool record_is_stream(const char *output)
{
	return !strcmp(output, "-") || !strncmp(output, "unix:", 5) || !strncmp(output, "tcp:", 4);
}

/**
 * record_stream_open() - open the pipe or the socket that an output names
 * @output: see record_is_stream()
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: a descriptor, above those of the standard streams; or a negative errno.
 */
int record_stream_open(const char *output, char *why, size_t room)
{
	int fd, kept;

	if (!strcmp(output, "-"))
		return take_standard_output(why, room);
	fd = !strncmp(output, "unix:", 5) ? connect_unix(output, output + 5, why, room) :
					    connect_tcp(output, output + 4, why, room);
	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	kept = keep(fd, output, why, room);
	close(fd);
	return kept;
}
