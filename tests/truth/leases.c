// SPDX-License-Identifier: GPL-2.0-only
/*
 * leases.c - leases of a file that another path opens.
 *
 *	leases HERE THERE
 *
 * HERE and THERE are paths of one directory, one perhaps through tapefs. Leases are held HERE and broken THERE.
 * Prints the outcome of each call, which must be the same for any two paths. Run as root; sets the time that the
 * holder of a lease has to release it (/proc/sys/fs/lease-break-time).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			printf("line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));    \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static char here[PATH_MAX], there[PATH_MAX];

static const char *type_name(int type)
{
	switch (type) {
	case F_RDLCK:
		return "for reading";
	case F_WRLCK:
		return "for writing";
	case F_UNLCK:
		return "none";
	default:
		return strerrorname_np(errno);
	}
}

static void tell(const char *what, int result)
{
	printf("%s: %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
	fflush(stdout);
}

static void tell_lease(int fd)
{
	printf("the lease is: %s\n", type_name(fcntl(fd, F_GETLEASE)));
	fflush(stdout);
}

static int open_here(int flags)
{
	int fd = open(here, flags | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static void set(int fd, int type)
{
	char what[64];

	snprintf(what, sizeof(what), "set a lease: %s", type_name(type));
	CHECK(type == F_UNLCK || !fcntl(fd, F_SETSIG, SIGRTMIN)); /* a released lease loses its signal */
	tell(what, fcntl(fd, F_SETLEASE, type));
	tell_lease(fd);
}

/* Wait until the holder gets the signal that its lease is being broken. */
static void wait_for_break(int fd)
{
	const struct timespec limit = { .tv_sec = 60 };
	sigset_t signals;
	siginfo_t info;

	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	if (sigtimedwait(&signals, &info, &limit) < 0)
		printf("no signal: %s\n", strerrorname_np(errno));
	else
		printf("told of %s\n", info.si_fd == fd ? "the lease" : "something else");
	tell_lease(fd);
}

static void no_break(void)
{
	const struct timespec limit = { 0 };
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	if (sigtimedwait(&signals, NULL, &limit) >= 0)
		printf("told of a lease\n");
}

enum call { OPEN, TRUNCATE, CUT, EXEC, UNLINK, CHMOD };

static int do_call(enum call call, int flags)
{
	switch (call) {
	case OPEN:
		return open(there, flags | O_CLOEXEC);
	case CUT:
		return open(there, O_WRONLY | O_TRUNC | O_CLOEXEC);
	case TRUNCATE:
		return truncate(there, 1);
	case EXEC:
		return execl(there, there, NULL);
	case CHMOD:
		return chmod(there, 0711);
	default:
		return unlink(there);
	}
}

/* Another process makes the call. end_call() prints its result, so the order of the lines is fixed. */
static pid_t start_call(const char *what, enum call call, int flags)
{
	pid_t pid;

	printf("call: %s\n", what);
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	close_range(3, ~0U, 0); /* drop the descriptor inherited from the holder */
	_exit(do_call(call, flags) < 0 ? errno : 0);
}

static void end_call(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	errno = WEXITSTATUS(status);
	tell("it has ended", errno ? -1 : 0);
}

static void call_now(const char *what, enum call call, int flags)
{
	end_call(start_call(what, call, flags));
}

static void reading(void)
{
	int fd = open_here(O_RDONLY);
	pid_t pid;

	set(fd, F_RDLCK);
	printf("the owner is %s\n", fcntl(fd, F_GETOWN) == getpid() ? "the holder" : "another");
	call_now("open to read", OPEN, O_RDONLY);
	no_break();
	call_now("open to write, without waiting", OPEN, O_WRONLY | O_NONBLOCK);
	wait_for_break(fd);
	set(fd, F_UNLCK);
	call_now("open to write, without waiting", OPEN, O_WRONLY | O_NONBLOCK);
	set(fd, F_RDLCK);
	pid = start_call("open to write", OPEN, O_WRONLY);
	wait_for_break(fd);
	set(fd, F_UNLCK);
	end_call(pid);
	set(fd, F_RDLCK);
	pid = start_call("open to read and write", OPEN, O_RDWR);
	wait_for_break(fd);
	CHECK(!close(fd));
	end_call(pid);
}

static void writing(void)
{
	int fd = open_here(O_RDWR);
	pid_t pid;

	set(fd, F_RDLCK);
	set(fd, F_WRLCK);
	call_now("open to read, without waiting", OPEN, O_RDONLY | O_NONBLOCK);
	wait_for_break(fd);
	set(fd, F_RDLCK);
	set(fd, F_UNLCK);
	set(fd, F_WRLCK);
	pid = start_call("open to read", OPEN, O_RDONLY);
	wait_for_break(fd);
	set(fd, F_UNLCK);
	end_call(pid);
	CHECK(!close(fd));

	fd = open_here(O_RDONLY);
	set(fd, F_WRLCK);
	pid = start_call("open to read", OPEN, O_RDONLY);
	wait_for_break(fd);
	set(fd, F_RDLCK);
	end_call(pid);
	call_now("open to write, without waiting", OPEN, O_WRONLY | O_NONBLOCK);
	wait_for_break(fd);
	set(fd, F_UNLCK);
	set(fd, F_WRLCK);
	pid = start_call("open to write", OPEN, O_WRONLY);
	wait_for_break(fd);
	CHECK(!close(fd));
	end_call(pid);
}

static void calls(void)
{
	static const struct {
		const char *what;
		enum call call;
		bool is_breaking;
	} tried[] = {
		{ "truncate", TRUNCATE, true }, { "open to truncate", CUT, true },	 { "exec", EXEC, true },
		{ "chmod", CHMOD, false },	{ "unlink", UNLINK, false },
	};
	int fd = open_here(O_RDONLY);
	size_t i;
	pid_t pid;

	for (i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		set(fd, F_WRLCK);
		pid = start_call(tried[i].what, tried[i].call, 0);
		if (tried[i].is_breaking) {
			wait_for_break(fd);
			set(fd, F_UNLCK);
		}
		end_call(pid);
		no_break();
		if (!tried[i].is_breaking)
			set(fd, F_UNLCK);
	}
	CHECK(!close(fd));
}

/* Whether a lease is granted depends on the open descriptors of the file. */
static void conflicts(void)
{
	int fd = open_here(O_RDONLY), other;
	char *map;

	other = open(there, O_WRONLY | O_CLOEXEC);
	set(fd, F_RDLCK);
	set(fd, F_WRLCK);
	CHECK(!close(other));
	other = open(there, O_RDONLY | O_CLOEXEC);
	set(fd, F_WRLCK);
	set(fd, F_RDLCK);
	set(fd, F_UNLCK);
	CHECK(!close(other));
	other = open(there, O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	CHECK(map != MAP_FAILED && !close(other));
	set(fd, F_RDLCK);
	CHECK(!munmap(map, 4096));
	set(fd, F_RDLCK);
	other = open(there, O_RDONLY | O_CLOEXEC);
	tell("set a read lease there, too", fcntl(other, F_SETLEASE, F_RDLCK));
	set(fd, F_WRLCK);
	CHECK(!close(other));
	set(fd, F_WRLCK);
	CHECK(!close(fd));
	fd = open_here(O_RDONLY);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	set(fd, F_RDLCK);
	set(fd, F_UNLCK);
	CHECK(!munmap(map, 4096));
	set(fd, F_UNLCK);
	CHECK(!close(fd));
}

static void refused(void)
{
	int fd = open_here(O_RDONLY), dir;
	char parent[PATH_MAX];
	pid_t pid;

	strcpy(parent, here);
	*strrchr(parent, '/') = 0;
	dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tell("of a directory", fcntl(dir, F_SETLEASE, F_RDLCK));
	tell("of an invalid type", fcntl(fd, F_SETLEASE, 77));
	pid = fork();
	if (!pid)
		_exit(!setuid(1000) && fcntl(fd, F_SETLEASE, F_RDLCK) < 0 ? errno : 0);
	printf("by another user\n");
	end_call(pid);
	CHECK(!close(fd) && !close(dir));
}

/* The holder does nothing: the kernel breaks the lease after the timeout. */
static void lost(void)
{
	FILE *limit = fopen("/proc/sys/fs/lease-break-time", "w");
	int fd = open_here(O_RDONLY);
	pid_t pid;

	CHECK(limit && fputs("1\n", limit) >= 0 && !fclose(limit));
	set(fd, F_RDLCK);
	pid = start_call("open to write, the lease is not released", OPEN, O_WRONLY);
	wait_for_break(fd);
	end_call(pid);
	tell_lease(fd);
	set(fd, F_RDLCK);
	set(fd, F_WRLCK);
	pid = start_call("open to read, the lease is not released", OPEN, O_RDONLY);
	wait_for_break(fd);
	end_call(pid);
	tell_lease(fd);
	CHECK(!close(fd));
	limit = fopen("/proc/sys/fs/lease-break-time", "w");
	CHECK(limit && fputs("45\n", limit) >= 0 && !fclose(limit));
}

static void make_file(void)
{
	int fd = open(here, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	CHECK(fd >= 0 && write(fd, "#!/bin/true\n", 12) == 12 && !close(fd));
}

int main(int argc, char **argv)
{
	static void (*const parts[])(void) = { reading, writing, conflicts, refused, lost, calls };
	sigset_t signals;
	size_t i;

	if (argc != 3) {
		fprintf(stderr, "usage: leases HERE THERE\n");
		return 2;
	}
	snprintf(here, sizeof(here), "%s/file", argv[1]);
	snprintf(there, sizeof(there), "%s/file", argv[2]);
	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	CHECK(!sigprocmask(SIG_BLOCK, &signals, NULL));
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		printf("# part %zu\n", i);
		fflush(stdout);
		make_file();
		parts[i]();
	}
	return 0;
}
