// SPDX-License-Identifier: GPL-2.0-only
/*
 * relay.c - a program that runs on several nodes, which take turns by TCP: no record shows that they wait for each other.
 *
 *	PROCESS=N relay KIND DIRECTORY ROUNDS HOST...
 *
 * There is one process for each HOST, which may be the same several times; N is from 0. Each begins with a thread that only takes a number. Each has a connection to the next, and the last one to the first. Kinds:
 *
 *	turns	in each round, each writes a block to DIRECTORY/turn.N when the one before has
 *	busy	the first one writes without waiting; the others write again and again until it has ended
 *	spin	as turns, but each looks for the byte of the one before again and again, without sleep
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include "workloads/workload.h"

#define PORT	    7911 /* of the first process; each has another one */
#define BLOCK_BYTES 4096

static int before_fd, after_fd; /* connections */

static int listen_here(int number)
{
	const struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((in_port_t)(PORT + number)) };
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	CHECK(!bind(fd, (const struct sockaddr *)&address, sizeof(address)) && !listen(fd, 1));
	return fd;
}

static void connect_next(const char *host, int number)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char port[16];
	int tries;

	snprintf(port, sizeof(port), "%d", PORT + number);
	CHECK(!getaddrinfo(host, port, &hints, &found));
	for (tries = 0; tries < 3000; tries++) {
		after_fd = socket(AF_INET, SOCK_STREAM, 0);
		CHECK(after_fd >= 0);
		if (!connect(after_fd, found->ai_addr, found->ai_addrlen))
			break;
		close(after_fd);
		usleep(10000);
	}
	CHECK(tries < 3000);
	freeaddrinfo(found);
}

static void give(void)
{
	CHECK(write(after_fd, "", 1) == 1);
}

static void take(bool does_spin)
{
	char byte;
	ssize_t bytes;

	do
		bytes = recv(before_fd, &byte, 1, does_spin ? MSG_DONTWAIT : 0);
	while (bytes < 0 && errno == EAGAIN);
	CHECK(bytes == 1);
}

static void write_block(int fd, int number)
{
	char block[BLOCK_BYTES] = "";

	snprintf(block, sizeof(block), "%d\n", number);
	CHECK(write(fd, block, sizeof(block)) == sizeof(block));
}

static void take_turns(int fd, int number, int rounds, bool does_spin)
{
	int i;

	for (i = 0; i < rounds; i++) {
		if (number || i)
			take(does_spin);
		write_block(fd, i);
		give();
	}
	if (!number)
		take(does_spin);
}

static void be_busy(int fd, int number, int rounds)
{
	char byte;
	int i;

	for (i = 0; i < rounds && !number; i++)
		write_block(fd, i);
	while (number && recv(before_fd, &byte, 1, MSG_DONTWAIT) < 0) {
		CHECK(errno == EAGAIN && !lseek(fd, 0, SEEK_SET));
		write_block(fd, 0);
	}
	shutdown(after_fd, SHUT_RDWR);
}

static void *end_at_once(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	int number = atoi(getenv("PROCESS")), count = argc - 4, listener, fd;
	char path[PATH_MAX];
	pthread_t thread;

	CHECK(argc > 5);
	CHECK(!pthread_create(&thread, NULL, end_at_once, NULL) && !pthread_join(thread, NULL));
	signal(SIGPIPE, SIG_IGN);
	listener = listen_here(number);
	connect_next(argv[4 + (number + 1) % count], (number + 1) % count);
	before_fd = accept(listener, NULL, NULL);
	CHECK(before_fd >= 0);
	if (number)
		take(false); /* all have begun */
	give();
	if (!number)
		take(false);
	snprintf(path, sizeof(path), "%s/turn.%d", argv[2], number);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	if (!strcmp(argv[1], "busy"))
		be_busy(fd, number, atoi(argv[3]));
	else
		take_turns(fd, number, atoi(argv[3]), !strcmp(argv[1], "spin"));
	CHECK(!close(fd));
	return 0;
}
