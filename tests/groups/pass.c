// SPDX-License-Identifier: GPL-2.0-only
/*
 * pass.c - pass a descriptor to a process of another user.
 *
 *	pass give SOCKET FILE	open FILE, pass it to the process that connects to SOCKET, and wait for its end
 *	pass take SOCKET	take it, read it, and write its text to standard output
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address = { .sun_family = AF_UNIX };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void give(const char *path)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), peer, fd = open(path, O_RDONLY);

	if (fd < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) || chmod(address.sun_path, 0777) ||
	    listen(listener, 1))
		die(path);
	peer = accept(listener, NULL, NULL);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(peer, &message, 0) != 1)
		die("sendmsg");
	if (read(peer, &byte, 1) < 0)
		die("read");
}

static void take(void)
{
	char control[CMSG_SPACE(sizeof(int))], text[4096];
	struct iovec part = { text, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	int peer, fd, tries;
	ssize_t bytes;

	for (tries = 0; tries < 600; tries++, usleep(50000)) {
		peer = socket(AF_UNIX, SOCK_STREAM, 0);
		if (!connect(peer, (struct sockaddr *)&address, sizeof(address)))
			break;
		close(peer);
	}
	if (tries == 600 || recvmsg(peer, &message, 0) != 1)
		die("recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	bytes = pread(fd, text, sizeof(text), 0);
	if (bytes < 0 || write(1, text, (size_t)bytes) != bytes)
		die("read");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	strncpy(address.sun_path, argv[2], sizeof(address.sun_path) - 1);
	if (!strcmp(argv[1], "give") && argc == 4)
		give(argv[3]);
	else
		take();
	return 0;
}
