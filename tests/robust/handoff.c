// SPDX-License-Identifier: GPL-2.0-only
/*
 * handoff.c - two processes, FIRST and SECOND, that wait for each other in a way that no file operation shows.
 *
 *	handoff KIND DIRECTORY OTHER [ROUNDS]
 *
 * In each round FIRST writes to DIRECTORY/first and hands over; SECOND writes to DIRECTORY/second and hands back. OTHER is a
 * directory that is not recorded. Kinds:
 *
 *	tcp	a byte through a TCP connection
 *	spin	a number in shared memory, which the other one reads again and again
 *	lock	a file of OTHER, which the other one looks for every millisecond
 *	barrier	both meet at a barrier in a file of OTHER that both have mapped; they write at the same time
 *	none	they do not wait for each other
 *	busy	SECOND writes again and again until FIRST has ended, so it is never blocked; after each write, FIRST
 *		creates OTHER/N, N from 1
 *	alarm	as busy, and FIRST has a timer that sends SIGALRM every 200 ms
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "workloads/workload.h"

#define BLOCK 4096

struct shared {
	atomic_int turns;
	pthread_barrier_t barrier;
};

static const char *kind;
static const char *other;
static struct shared *shared;
static int sockets[2]; /* of FIRST and of SECOND */
static int ends;       /* the socket of this process */

static bool is(const char *name)
{
	return !strcmp(kind, name);
}

static void connect_tcp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(listener >= 0 && !bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, 1));
	CHECK(!getsockname(listener, (struct sockaddr *)&address, &bytes));
	sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(!connect(sockets[0], (struct sockaddr *)&address, sizeof(address)));
	sockets[1] = accept(listener, NULL, NULL);
	CHECK(sockets[1] >= 0);
}

static void map_shared(void)
{
	pthread_barrierattr_t attr;
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/shared", other);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, sizeof(*shared)));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED);
	CHECK(!pthread_barrierattr_init(&attr) && !pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
	CHECK(!pthread_barrier_init(&shared->barrier, &attr, 2));
}

static void mark(int number)
{
	char name[PATH_MAX];
	int fd;

	snprintf(name, sizeof(name), "%s/%d", other, number);
	fd = open(name, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0 && !close(fd));
}

static bool is_marked(int number)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%d", other, number);
	return !access(name, F_OK);
}

/* The turn with this number, from 1, is over. */
static void give(int turn)
{
	if (is("tcp"))
		CHECK(write(ends, "", 1) == 1);
	else if (is("spin"))
		atomic_store(&shared->turns, turn);
	else if (is("lock"))
		mark(turn);
}

static void take(int turn)
{
	char byte;

	if (is("tcp"))
		CHECK(read(ends, &byte, 1) == 1);
	else if (is("spin"))
		while (atomic_load(&shared->turns) < turn)
			;
	else if (is("lock"))
		while (!is_marked(turn))
			usleep(1000);
}

static int open_own(const char *directory, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	return fd;
}

static void write_block(int fd)
{
	static char block[BLOCK];

	CHECK(write(fd, block, sizeof(block)) == sizeof(block));
}

static void meet(void)
{
	int err = pthread_barrier_wait(&shared->barrier);

	CHECK(!err || err == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void first(const char *directory, int rounds)
{
	int fd = open_own(directory, "first"), i;

	ends = sockets[0];
	for (i = 0; i < rounds; i++) {
		write_block(fd);
		if (is("busy") || is("alarm"))
			mark(i + 1);
		if (is("barrier"))
			meet();
		give(2 * i + 1);
		take(2 * i + 2);
	}
	CHECK(!close(fd));
}

static void second(const char *directory, int rounds)
{
	int fd = open_own(directory, "second"), i;

	ends = sockets[1];
	while (is("busy") || is("alarm")) {
		CHECK(!lseek(fd, 0, SEEK_SET));
		write_block(fd);
	}
	for (i = 0; i < rounds; i++) {
		take(2 * i + 1);
		write_block(fd);
		if (is("barrier"))
			meet();
		give(2 * i + 2);
	}
	CHECK(!close(fd));
}

static void ring(int signal)
{
	(void)signal;
}

static void set_alarm(void)
{
	const struct itimerval every = { { 0, 200000 }, { 0, 200000 } };
	struct sigaction action = { .sa_handler = ring, .sa_flags = SA_RESTART };

	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &every, NULL));
}

int main(int argc, char **argv)
{
	int rounds = argc > 4 ? atoi(argv[4]) : 3, status;
	pid_t child;

	CHECK(argc == 4 || argc == 5);
	kind = argv[1];
	other = argv[3];
	map_shared();
	if (is("tcp"))
		connect_tcp();
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
		second(argv[2], rounds);
		return 0;
	}
	if (is("alarm"))
		set_alarm();
	first(argv[2], rounds);
	if (is("busy") || is("alarm"))
		kill(child, SIGKILL);
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(!status || is("busy") || is("alarm"));
	return 0;
}
