// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks.c - locks of a file that is open above and below a mount.
 *
 *	locks CASE ABOVE BELOW
 *
 * Both paths lead to the same file, ABOVE through tapefs. A lock taken by one path must be
 * seen by the other. Exits with 0 if it is; otherwise prints the difference.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "locks: line %d: %s (%s)\n", __LINE__, #condition,      \
				strerror(errno));                                               \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static const char *above, *below;

static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static int lock(int fd, int command, short type)
{
	struct flock range = { .l_type = type, .l_start = 10, .l_len = 10 };

	return fcntl(fd, command, &range);
}

/* The type of our lock that F_GETLK reports to another process. */
static short type_for_others(const char *path, pid_t owner)
{
	struct flock range = { .l_type = F_WRLCK, .l_len = 100 };
	int status;
	pid_t pid = fork();

	if (!pid) {
		int fd = open_file(path);

		CHECK(!fcntl(fd, F_GETLK, &range));
		CHECK(range.l_type == F_UNLCK || range.l_pid == owner);
		_exit(10 + range.l_type);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) >= 10);
	return (short)(WEXITSTATUS(status) - 10);
}

static void of_process(void)
{
	int fd = open_file(above), other = open_file(above);

	CHECK(!lock(fd, F_SETLK, F_WRLCK));
	CHECK(type_for_others(below, getpid()) == F_WRLCK);
	CHECK(type_for_others(above, getpid()) == F_WRLCK);
	CHECK(!lock(fd, F_SETLK, F_RDLCK));
	CHECK(type_for_others(below, getpid()) == F_RDLCK);
	CHECK(!close(other)); /* closing any descriptor of the file releases the lock */
	CHECK(type_for_others(below, getpid()) == F_UNLCK);
	CHECK(!lock(fd, F_SETLK, F_WRLCK) && !lock(fd, F_SETLK, F_UNLCK));
	CHECK(type_for_others(below, getpid()) == F_UNLCK);
}

static void of_open_file(void)
{
	int fd = open_file(above), under = open_file(below), copy = dup(fd);

	CHECK(!lock(fd, F_OFD_SETLK, F_WRLCK));
	CHECK(lock(under, F_OFD_SETLK, F_WRLCK) && errno == EAGAIN);
	CHECK(!lock(copy, F_OFD_SETLK, F_RDLCK));
	CHECK(!lock(under, F_OFD_SETLK, F_RDLCK));
	CHECK(lock(fd, F_OFD_SETLK, F_WRLCK) && errno == EAGAIN);
	CHECK(!lock(under, F_OFD_SETLK, F_UNLCK) && !lock(fd, F_OFD_SETLK, F_WRLCK));
	CHECK(!close(fd));
	CHECK(lock(under, F_OFD_SETLK, F_WRLCK) && errno == EAGAIN);
	CHECK(!close(copy)); /* the last reference */
	CHECK(!lock(under, F_OFD_SETLK, F_WRLCK));
}

static void of_flock(void)
{
	int fd = open_file(above), under = open_file(below), copy = dup(fd);

	CHECK(!flock(fd, LOCK_EX));
	CHECK(flock(under, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK);
	CHECK(!flock(copy, LOCK_SH));
	CHECK(!flock(under, LOCK_SH | LOCK_NB) && !flock(under, LOCK_UN));
	CHECK(!close(fd));
	CHECK(flock(under, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK);
	CHECK(!close(copy));
	CHECK(!flock(under, LOCK_EX | LOCK_NB));
}

/* A process that locks the file, and releases the lock on request. */
static pid_t holder(const char *path, int *told)
{
	int ready[2], done[2];
	char byte;
	pid_t pid;

	CHECK(!pipe(ready) && !pipe(done));
	pid = fork();
	if (!pid) {
		close(done[1]); /* the child ends with its parent */
		CHECK(!lock(open_file(path), F_SETLK, F_WRLCK));
		CHECK(write(ready[1], "", 1) == 1);
		CHECK(read(done[0], &byte, 1) >= 0);
		usleep(100000); /* the waiting task should be waiting by now */
		_exit(0);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	*told = done[1];
	return pid;
}

static void waiting(void)
{
	int fd = open_file(above), told, status;
	pid_t pid = holder(below, &told);

	CHECK(lock(fd, F_SETLK, F_WRLCK) && (errno == EAGAIN || errno == EACCES));
	CHECK(write(told, "", 1) == 1);
	CHECK(!lock(fd, F_SETLKW, F_WRLCK));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(type_for_others(below, getpid()) == F_WRLCK);
}

static void nothing(int signal)
{
	(void)signal;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = nothing };
	int fd = open_file(above), told;
	pid_t pid = holder(below, &told);

	CHECK(!sigaction(SIGALRM, &action, NULL));
	alarm(1);
	CHECK(lock(fd, F_SETLKW, F_WRLCK) && errno == EINTR);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	CHECK(!lock(fd, F_SETLK, F_WRLCK));
}

/* Waits for a lock. Return: 0 or an errno. */
static void *wait_for_lock(void *fd)
{
	return (void *)(intptr_t)(lock((int)(intptr_t)fd, F_SETLKW, F_WRLCK) ? errno : 0);
}

/* A descriptor is closed while another thread waits for a lock on it: the lock must not remain without an owner. */
static void closed(void)
{
	int fd = open_file(above), copy = dup(fd), told, status;
	pid_t pid = holder(below, &told);
	pthread_t waiter;
	void *result;

	CHECK(!pthread_create(&waiter, NULL, wait_for_lock, (void *)(intptr_t)fd));
	usleep(300000); /* the thread waits by now */
	CHECK(!close(fd));
	CHECK(write(told, "", 1) == 1);
	CHECK(!pthread_join(waiter, &result) && (intptr_t)result == EBADF);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(type_for_others(below, getpid()) == F_UNLCK);
	CHECK(!lock(copy, F_SETLK, F_WRLCK) && type_for_others(below, getpid()) == F_WRLCK);
}

/* Holds a lease until it is recalled; the file must not change until then. */
static void give_lease_back(int told)
{
	struct timespec patience = { .tv_sec = 10 };
	int fd = open(below, O_RDONLY);
	struct stat now;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGIO);
	CHECK(!sigprocmask(SIG_BLOCK, &wanted, NULL));
	CHECK(!fcntl(fd, F_SETLEASE, F_RDLCK));
	CHECK(write(told, "", 1) == 1);
	CHECK(sigtimedwait(&wanted, NULL, &patience) == SIGIO);
	usleep(100000); /* without a wait, the call would have completed by now */
	CHECK(!fstat(fd, &now) && now.st_size);
	CHECK(!fcntl(fd, F_SETLEASE, F_UNLCK));
}

static void leased(void)
{
	struct stat now;
	int ready[2], status;
	char byte;
	pid_t pid;

	CHECK(!pipe(ready));
	pid = fork();
	if (!pid) {
		give_lease_back(ready[1]);
		_exit(0);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK(!truncate(above, 0));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!stat(below, &now) && !now.st_size);
}

/* The lease is not released, and the waiting task is interrupted: it must have no access to the file. */
static void kept_lease(void)
{
	struct sigaction action = { .sa_handler = nothing };
	int fd = open(below, O_RDONLY), status;
	struct stat now;
	sigset_t wanted;
	pid_t pid;

	CHECK(!truncate(below, 10));
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGIO);
	CHECK(!sigprocmask(SIG_BLOCK, &wanted, NULL));
	CHECK(!fcntl(fd, F_SETLEASE, F_RDLCK));
	pid = fork();
	if (!pid) {
		CHECK(!sigaction(SIGALRM, &action, NULL));
		alarm(1);
		CHECK(truncate(above, 0) && errno == EINTR);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!fcntl(fd, F_SETLEASE, F_UNLCK));
	CHECK(!fcntl(fd, F_SETLEASE, F_RDLCK)); /* refused while any task may write */
	CHECK(!fcntl(fd, F_SETLEASE, F_UNLCK));
	CHECK(!fstat(fd, &now) && now.st_size == 10);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "process", of_process },
	{ "open-file", of_open_file },
	{ "flock", of_flock },
	{ "waiting", waiting },
	{ "interrupted", interrupted },
	{ "closed", closed },
	{ "leased", leased },
	{ "kept-lease", kept_lease },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 4) {
		fprintf(stderr, "usage: locks CASE ABOVE BELOW\n");
		return 2;
	}
	above = argv[2];
	below = argv[3];
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		cases[i].run();
		return 0;
	}
	fprintf(stderr, "locks: no case %s\n", argv[1]);
	return 2;
}
