// SPDX-License-Identifier: GPL-2.0-only
/*
 * processes.c - fork, exec and exit with open and mapped files.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "calls.h"

static int open_high(const char *name, int flags)
{
	int fd = make_open(name), high = fcntl(fd, flags ? F_DUPFD_CLOEXEC : F_DUPFD, 100);

	MUST(high >= 0 && !close(fd));
	return high;
}

static void wait_for(pid_t pid)
{
	waitpid(pid, NULL, 0);
}

static void forked(void)
{
	int fd = open_high("forked", 0);
	volatile char *area;
	pid_t pid = 0;

	CALL("fork and exit, with a descriptor", IN_CHILD((void)0));
	area = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	CALL("fork and exit, with a descriptor and a mapping", IN_CHILD((void)0));
	munmap((void *)area, 8192);
	CALL("fork and death by a signal, with a descriptor", {
		pid = fork();
		if (!pid)
			raise(SIGKILL);
		wait_for(pid);
	});
	pid = fork();
	if (!pid) {
		usleep(200000);
		_exit(0);
	}
	close(fd);
	CALL("exit of the last process with a descriptor", wait_for(pid));
}

static void executed(void)
{
	int fd = open_high("kept", 0), other = open_high("closed", 1);

	CALL("exec of a program elsewhere, one descriptor closed by it",
	     IN_CHILD(execl("/bin/true", "true", NULL)));
	CALL("the same by vfork", {
		pid_t pid = vfork();

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		wait_for(pid);
	});
	close(fd);
	close(other);
	CALL("exec of a program in the mount, statically linked",
	     IN_CHILD(execl("old/program", "program", "true", NULL)));
	CALL("exec, absent name", execl("absent", "absent", NULL));
	CALL("exec of a file that is not executable", execl("old/stat", "stat", NULL));
}

void calls_of_processes(void)
{
	forked();
	executed();
}
