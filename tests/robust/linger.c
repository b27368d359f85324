// SPDX-License-Identifier: GPL-2.0-only
/*
 * linger.c - ends and leaves a process running, until that process gets a signal.
 *
 *	linger HOW DIRECTORY STOP
 *
 * HOW is the way in which the process detaches: nohup, setsid, daemon (double fork), thread (its first
 * thread has ended), mounts or pids (in a namespace of its own). The process is called left-HOW. It
 * creates DIRECTORY/HOW; after the end of this program, DIRECTORY/HOW.parent with its parent pid at that
 * time; and when the file STOP exists, DIRECTORY/HOW.late.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "workloads/workload.h"

#define POLL_US 20000

static const char *how, *directory, *stop;
static int begun[2]; /* a pipe: the process that remains has created its first file */

static void make(const char *suffix, long number)
{
	char path[4096], text[32];
	int fd, bytes = snprintf(text, sizeof(text), "%ld\n", number);

	snprintf(path, sizeof(path), "%s/%s%s", directory, how, suffix);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(fd >= 0);
	CHECK(write(fd, text, (size_t)bytes) == bytes);
	CHECK(!close(fd));
}

/* The remaining process; @parent was its parent at its creation. */
static void *linger(void *parent)
{
	char name[16];

	snprintf(name, sizeof(name), "left-%s", how);
	CHECK(!prctl(PR_SET_NAME, name));
	make("", getpid());
	CHECK(write(begun[1], "", 1) == 1);
	while (getppid() == *(pid_t *)parent)
		usleep(POLL_US);
	make(".parent", getppid());
	while (access(stop, F_OK))
		usleep(POLL_US);
	make(".late", 0);
	exit(0);
}

/* The first thread has ended when the process is a zombie in /proc. */
static bool has_lost_leader(void)
{
	char line[256] = "";
	FILE *in = fopen("/proc/self/stat", "re");
	const char *end;

	CHECK(in && fgets(line, sizeof(line), in) && !fclose(in));
	end = strrchr(line, ')');
	return end && end[2] == 'Z';
}

static void *linger_alone(void *parent)
{
	while (!has_lost_leader())
		usleep(POLL_US);
	return linger(parent);
}

static void leave_thread(pid_t *parent)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, linger_alone, parent));
	pthread_exit(NULL);
}

/* Runs in the first child. */
static void leave(void)
{
	static pid_t parent;

	parent = getppid();
	if (!strcmp(how, "nohup"))
		signal(SIGHUP, SIG_IGN);
	else if (!strcmp(how, "setsid"))
		CHECK(setsid() > 0);
	else if (!strcmp(how, "mounts"))
		CHECK(!unshare(CLONE_NEWNS));
	else if (!strcmp(how, "thread"))
		leave_thread(&parent);
	linger(&parent);
}

/* Runs in the first child, whose own child remains. */
static void leave_grandchild(void)
{
	static pid_t parent;
	pid_t pid;

	CHECK(!strcmp(how, "daemon") ? setsid() > 0 : !unshare(CLONE_NEWPID));
	parent = strcmp(how, "daemon") ? 0 : getpid();
	pid = fork();
	CHECK(pid >= 0);
	if (!pid && !strcmp(how, "pids")) { /* has no parent in its namespace from the beginning */
		parent = -1;
		linger(&parent);
	}
	if (!pid)
		linger(&parent);
	_exit(0);
}

int main(int argc, char **argv)
{
	pid_t pid;
	char byte;

	if (argc != 4) {
		fprintf(stderr, "usage: linger nohup|setsid|daemon|thread|mounts|pids DIRECTORY STOP\n");
		return 2;
	}
	how = argv[1];
	directory = argv[2];
	stop = argv[3];
	CHECK(!pipe2(begun, O_CLOEXEC));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		if (!strcmp(how, "daemon") || !strcmp(how, "pids"))
			leave_grandchild();
		leave();
	}
	if (!strcmp(how, "daemon") || !strcmp(how, "pids"))
		CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK(read(begun[0], &byte, 1) == 1);
	return 0;
}
