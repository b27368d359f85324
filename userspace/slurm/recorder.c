// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder.c - the recorder of a job step on one node.
 *
 * slurmstepd starts `iotape record` as root, in the background, with a command that only waits. Its tasks enter
 * the mount namespace of that command, so their operations are recorded. The trace is standard output of the
 * recorder: a file that was created with the rights of the user, so a user cannot make root write to other files.
 *
 * The recorder is not a child of slurmstepd, as some plugins that track processes kill all of its children at the end
 * of a step; it ends when the pipe hold_fd is closed, also if slurmstepd is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder.h"

#define START_TIMEOUT_MS 30000
#define MAX_ARGUMENTS	 (16 + 2 * SPANK_MAX_MOUNTS)

enum { WAIT_FD = 3, READY_FD = 4 }; /* of the command that waits */

/* To the rights and the directory of the user. Signals of the user do not reach the process: its real user is root. */
static int enter_user(const struct spank_step *step)
{
	if (setgroups((size_t)step->group_count, step->groups) || setresgid((gid_t)-1, step->gid, (gid_t)-1) ||
	    setresuid((uid_t)-1, step->uid, (uid_t)-1))
		return -1;
	return chdir(step->directory);
}

static int regain_root(void)
{
	return setresuid(0, 0, 0) || setresgid(0, 0, 0) || chdir("/") ? -1 : 0;
}

/* As the user. The path is relative to the directory of the step. */
static int create_trace(const struct spank_request *request, const struct spank_step *step, char *path, size_t room)
{
	int fd, n;

	if (mkdir(request->output, 0700) && errno != EEXIST)
		return -1;
	snprintf(path, room, "%s/%s.iot", request->output, step->name);
	for (n = 2; n < 1000; n++) { /* a job that was requeued has its name again */
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
		snprintf(path, room, "%s/%s.%d.iot", request->output, step->name, n);
	}
	return fd;
}

/* A recorder that did not start leaves an empty file. */
static void remove_empty_trace(const struct spank_step *step, const char *path)
{
	struct stat stat;

	if (!enter_user(step) && !lstat(path, &stat) && S_ISREG(stat.st_mode) && !stat.st_size)
		unlink(path);
}

/* Moves descriptors to the numbers that the program expects; all others are closed. */
static int arrange_descriptors(int trace_fd, int error_fd, int wait_fd, int ready_fd)
{
	int null_fd = open("/dev/null", O_RDWR);
	int from[] = { null_fd, trace_fd, error_fd, wait_fd, ready_fd };
	int i;

	for (i = 0; i < 5; i++) { /* out of the way of the numbers */
		from[i] = fcntl(from[i], F_DUPFD, 64);
		if (from[i] < 0)
			return -1;
	}
	for (i = 0; i < 5; i++)
		if (dup2(from[i], i) < 0)
			return -1;
	return close_range(5, ~0u, 0);
}

static void run_recorder(const struct spank_policy *policy, const struct spank_request *request,
			 const struct spank_step *step)
{
	static char *environment[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	static char waits[] = "echo $$ >&4; exec 4>&-; exec cat <&3 >/dev/null";
	char admit[64], filter[64], command[sizeof(step->command) + 16];
	char *arguments[MAX_ARGUMENTS];
	size_t i, n = 0;
	bool is_any = false;

	for (i = 0; i < policy->mount_count; i++)
		is_any = is_any || request->is_mount_wanted[i];
	snprintf(command, sizeof(command), "--command=%s", step->command);
	snprintf(admit, sizeof(admit), "--admit=%u", (unsigned int)step->uid);
	/* A set-user-ID program reaches files that the user does not: their names are not the user's to see. */
	snprintf(filter, sizeof(filter), "--filter=uid == %u", (unsigned int)step->uid);
	arguments[n++] = (char *)policy->iotape;
	arguments[n++] = "record";
	arguments[n++] = "--quiet";
	arguments[n++] = "--mpi=off"; /* of the command that waits */
	arguments[n++] = "--output=-";
	arguments[n++] = filter;
	if (step->command[0])
		arguments[n++] = command;
	if (request->mpi)
		arguments[n++] = admit;
	for (i = 0; i < policy->mount_count; i++) {
		if (is_any && !request->is_mount_wanted[i])
			continue;
		arguments[n++] = "-m";
		arguments[n++] = (char *)policy->mounts[i];
	}
	arguments[n++] = "--";
	arguments[n++] = "/bin/sh";
	arguments[n++] = "-c";
	arguments[n++] = waits;
	arguments[n] = NULL;
	execve(policy->iotape, arguments, environment);
	dprintf(STDERR_FILENO, "%s: %s\n", policy->iotape, strerror(errno));
}

/* The contents of the first line of the recorder. -1: no line in time, or it has ended. */
static int read_line(int fd, char *line, size_t room)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	size_t used = 0;
	ssize_t bytes;

	while (used + 1 < room) {
		if (poll(&poll_fd, 1, START_TIMEOUT_MS) <= 0)
			return -1;
		bytes = read(fd, line + used, 1);
		if (bytes <= 0 || line[used] == '\n')
			break;
		used++;
	}
	line[used] = 0;
	return used ? 0 : -1;
}

/* Never returns. Its descriptors are closed, so that the pipes end with their users. */
static void await_recorder(pid_t recorder, const struct spank_step *step, const char *path, int trace_fd, int error_fd)
{
	int status = 0;

	close(trace_fd);
	if (dup2(error_fd, 3) == 3)
		close_range(4, ~0u, 0);
	while (waitpid(recorder, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		remove_empty_trace(step, path);
	_exit(0);
}

/* Never returns. The grandchild starts the recorder and lives as long as it does. */
static void become_supervisor(const struct spank_policy *policy, const struct spank_request *request,
			      const struct spank_step *step, int error_fd, int wait_fd, int ready_fd)
{
	char path[2 * PATH_MAX];
	int trace_fd = -1;
	sigset_t none;
	pid_t recorder;

	if (setsid() < 0 || fork())
		_exit(0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	umask(077);
	if (!enter_user(step))
		trace_fd = create_trace(request, step, path, sizeof(path));
	if (trace_fd < 0) {
		dprintf(error_fd, "%s: no trace can be created: %s\n", request->output, strerror(errno));
		_exit(1);
	}
	recorder = regain_root() ? -1 : fork();
	if (recorder > 0)
		await_recorder(recorder, step, path, trace_fd, error_fd);
	if (recorder < 0 || arrange_descriptors(trace_fd, error_fd, wait_fd, ready_fd))
		dprintf(error_fd, "the recorder cannot be set up: %s\n", strerror(errno));
	else
		run_recorder(policy, request, step);
	_exit(1);
}

static void close_all(struct spank_recorder *recorder)
{
	if (recorder->hold_fd >= 0)
		close(recorder->hold_fd);
	if (recorder->end_fd >= 0)
		close(recorder->end_fd);
	if (recorder->namespace_fd >= 0)
		close(recorder->namespace_fd);
	*recorder = (struct spank_recorder){ -1, -1, -1 };
}

/* The namespace of the command that waits, by the process id that it has written. */
static int open_namespace(const char *pid)
{
	char path[64];

	if (strspn(pid, "0123456789") != strlen(pid))
		return -1;
	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/**
 * spank_recorder_start() - start to record
 * @recorder: out
 * @policy: the program, and the directories
 * @request: the directories and the output
 * @step: the user
 * @why: out: the reason of a failure, one sentence
 * @room: of @why
 *
 * To be called by root. Waits until the directories are mounted, 30 s at most.
 *
 * Return: 0, or -1 if nothing is recorded.
 */
int spank_recorder_start(struct spank_recorder *recorder, const struct spank_policy *policy,
			 const struct spank_request *request, const struct spank_step *step, char *why, size_t room)
{
	int hold[2] = { -1, -1 }, ready[2] = { -1, -1 }, said[2] = { -1, -1 };
	char pid[32];
	pid_t child = -1;

	if (!pipe2(hold, O_CLOEXEC) && !pipe2(ready, O_CLOEXEC) && !pipe2(said, O_CLOEXEC))
		child = fork();
	if (!child)
		become_supervisor(policy, request, step, said[1], hold[0], ready[1]);
	close(hold[0]);
	close(ready[1]);
	close(said[1]);
	*recorder = (struct spank_recorder){ .namespace_fd = -1, .hold_fd = hold[1], .end_fd = said[0] };
	if (child > 0) {
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
		if (!read_line(ready[0], pid, sizeof(pid)))
			recorder->namespace_fd = open_namespace(pid);
	}
	close(ready[0]);
	if (recorder->namespace_fd >= 0)
		return 0;
	if (read_line(said[0], why, room))
		snprintf(why, room, "the recorder does not start");
	close_all(recorder);
	return -1;
}

/**
 * spank_recorder_end() - end the recording
 * @recorder: of spank_recorder_start(); -1 in its members afterwards
 * @timeout_ms: how long the trace may take to be complete
 *
 * Return: 0 if the trace is complete, -1 if the recorder has not ended in time, and continues.
 */
int spank_recorder_end(struct spank_recorder *recorder, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = recorder->end_fd, .events = POLLIN };
	char text[512];
	int err = -1;

	close(recorder->namespace_fd);
	close(recorder->hold_fd);
	recorder->namespace_fd = recorder->hold_fd = -1;
	while (poll(&poll_fd, 1, timeout_ms) > 0) {
		if (read(recorder->end_fd, text, sizeof(text)) <= 0) {
			err = 0;
			break;
		}
	}
	close_all(recorder);
	return err;
}
