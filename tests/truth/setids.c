// SPDX-License-Identifier: GPL-2.0-only
/*
 * setids.c - set-user-ID programs whose owner and mode change concurrently.
 *
 *	setids race HOW CHANGED EXECUTED NEIGHBOUR COUNT
 *	setids bits HERE THERE
 *
 * race: in a loop, root changes the owner of the program CHANGED to root and back, and sets the set-user-ID bit
 * again, while a user executes EXECUTED, the same file, COUNT times. The file either belongs to root or is
 * set-user-ID, never both, so it must never run as root. HOW is `user`, or `group` for set-group-ID; `descriptor`
 * executes by a descriptor; `fresh` makes the kernel drop its dentries continuously. The user also writes to
 * NEIGHBOUR, to make chown(2) slower on ext4.
 *
 * bits: prints which bits set THERE are cleared by changes HERE through a descriptor that was opened before.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AS_ROOT 42
#define USER	1000

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			printf("line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));    \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static void become_user(void)
{
	CHECK(!setgid(USER) && !setuid(USER) && !prctl(PR_SET_PDEATHSIG, SIGKILL));
}

static pid_t start_neighbour(const char *path)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	become_user();
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	for (;;)
		CHECK(pwrite(fd, "x", 1, 0) == 1 && !fsync(fd));
}

static void execute(const char *path, bool is_by_descriptor)
{
	char *arguments[] = { (char *)path, NULL }, *environment[] = { NULL };
	int fd;

	if (!is_by_descriptor)
		execve(path, arguments, environment);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (is_by_descriptor && fd >= 0)
		fexecve(fd, arguments, environment);
	_exit(1);
}

/* Return: pid of the process that executes the program; its exit code is AS_ROOT if the program ever ran as root. */
static pid_t start_user(const char *how, const char *path, int count)
{
	int executed = 0, as_root = 0, status, i;
	pid_t pid = fork();

	if (pid)
		return pid;
	become_user();
	for (i = 0; i < count; i++) {
		pid = fork();
		if (!pid)
			execute(path, !strcmp(how, "descriptor"));
		CHECK(waitpid(pid, &status, 0) == pid);
		executed += WIFEXITED(status) && WEXITSTATUS(status) != 1;
		as_root += WIFEXITED(status) && WEXITSTATUS(status) == AS_ROOT;
	}
	printf("executed %d times of %d, %d as root\n", executed, count, as_root);
	fflush(stdout);
	_exit(as_root ? AS_ROOT : executed < count / 2);
}

static void change(const char *how, const char *path)
{
	static int fd = -1;
	bool is_group = !strcmp(how, "group");

	CHECK(!chown(path, USER, USER) && !chmod(path, is_group ? 02755 : 04755));
	if (!strcmp(how, "fresh")) {
		if (fd < 0)
			fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
		CHECK(write(fd, "2", 1) == 1);
	}
	usleep(3000);
	CHECK(!chown(path, is_group ? (uid_t)-1 : 0, 0));
}

static int race(char **arguments)
{
	const char *how = arguments[0], *changed = arguments[1];
	pid_t neighbour = start_neighbour(arguments[3]);
	pid_t user = start_user(how, arguments[2], atoi(arguments[4]));
	int status, rounds = 0;

	for (; !waitpid(user, &status, WNOHANG); rounds++)
		change(how, changed);
	printf("given away %d times\n", rounds);
	CHECK(!kill(neighbour, SIGKILL) && waitpid(neighbour, NULL, 0) == neighbour);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* -- bits ------------------------------------------------------------------------------------------------------- */

static char here[PATH_MAX], there[PATH_MAX];

static void tell(const char *what, int result)
{
	struct stat stat;

	printf("%s: %s", what, result < 0 ? strerrorname_np(errno) : "done");
	CHECK(!lstat(there, &stat));
	printf(", mode %o owner %d.%d size %ld\n", stat.st_mode & 07777, stat.st_uid, stat.st_gid, (long)stat.st_size);
	fflush(stdout);
}

/* Through a descriptor, as an unprivileged owner. */
static void as_user(const char *what, int fd, int (*call)(int fd))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		gid_t groups[] = { USER, USER + 1 };

		CHECK(!setgroups(2, groups));
		become_user();
		tell(what, call(fd));
		_exit(0);
	}
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static int call_ftruncate(int fd)
{
	return ftruncate(fd, 3);
}

static int call_write(int fd)
{
	return (int)pwrite(fd, "x", 1, 0);
}

static int call_fchgrp(int fd)
{
	return fchown(fd, (uid_t)-1, USER + 1);
}

static int call_fchmod(int fd)
{
	return fchmod(fd, 02770);
}

static int call_fallocate(int fd)
{
	return fallocate(fd, 0, 0, 4096);
}

static int bits(void)
{
	static const struct {
		const char *what;
		int (*call)(int fd);
	} calls[] = {
		{ "ftruncate", call_ftruncate }, { "write", call_write },	  { "fchown", call_fchgrp },
		{ "fchmod", call_fchmod },	 { "fallocate", call_fallocate },
	};
	static const mode_t modes[] = { 06777, 04777, 02777, 02767, 0777 };
	size_t i, j;
	int fd;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (j = 0; j < sizeof(modes) / sizeof(modes[0]); j++) {
			fd = open(here, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
			CHECK(fd >= 0 && !fchown(fd, USER, USER) && write(fd, "0123456789", 10) == 10);
			CHECK(!chmod(there, modes[j]));
			as_user(calls[i].what, fd, calls[i].call);
			CHECK(!chmod(there, modes[j]) && !chown(there, USER, 5) && !chmod(there, modes[j]));
			as_user(calls[i].what, fd, calls[i].call);
			CHECK(!chmod(there, modes[j]));
			tell("by root", calls[i].call(fd));
			CHECK(!close(fd) && !unlink(there));
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 1 || !strchr("br", argv[1][0]))
		return geteuid() == 0 || getegid() == 0 ? AS_ROOT : 0;
	if (argc == 7 && !strcmp(argv[1], "race"))
		return race(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "bits")) {
		snprintf(here, sizeof(here), "%s/bits", argv[2]);
		snprintf(there, sizeof(there), "%s/bits", argv[3]);
		return bits();
	}
	fprintf(stderr, "usage: setids race HOW CHANGED EXECUTED NEIGHBOUR COUNT\n       setids bits HERE THERE\n");
	return 2;
}
