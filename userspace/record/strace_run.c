// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_run.c - run a command under strace, where no module can be loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

#define FIXED_ARGUMENTS 16

static volatile sig_atomic_t last_signal;

static void remember_signal(int signal)
{
	last_signal = signal;
}

/* A terminal sends its signals to the command, too; strace blocks all of them while it writes to a file. */
static const struct {
	int signal;
	void (*handler)(int signal);
} reactions[] = {
	{ SIGINT, SIG_IGN },	      { SIGQUIT, SIG_IGN },	    { SIGTERM, remember_signal },
	{ SIGHUP, remember_signal }, { SIGUSR1, remember_signal }, { SIGUSR2, remember_signal },
};

#define REACTIONS (sizeof(reactions) / sizeof(reactions[0]))

/* @before: out; a signal that the caller ignores stays ignored */
static void take_signals(struct sigaction before[REACTIONS])
{
	struct sigaction action = {};
	size_t i;

	for (i = 0; i < REACTIONS; i++) {
		action.sa_handler = reactions[i].handler;
		sigaction(reactions[i].signal, NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(reactions[i].signal, &action, NULL);
	}
}

static void restore_signals(const struct sigaction before[REACTIONS])
{
	size_t i;

	for (i = 0; i < REACTIONS; i++)
		sigaction(reactions[i].signal, &before[i], NULL);
}

/* Return: the process of the command, the first child of strace; 0 if there is none. */
static pid_t command_of(pid_t strace)
{
	char path[64];
	FILE *in;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", strace, strace);
	in = fopen(path, "re");
	if (in && fscanf(in, "%d", &pid) != 1)
		pid = 0;
	if (in)
		fclose(in);
	return pid;
}

static void pass_on_signal(pid_t strace)
{
	int signal = last_signal;
	pid_t command = command_of(strace);

	last_signal = 0;
	if (signal && command)
		kill(command, signal);
}

/* As iotape import requires; strace stops the command only for the calls that import understands. */
static char **make_arguments(char **command, const char *log, const char *calls)
{
	static const char *const options[] = { "strace", "-f", "-ttt", "-T", "-y", "-v", "-s", "4096", "--seccomp-bpf", "-e" };
	size_t count = 0, i;
	char **arguments;

	while (command[count])
		count++;
	arguments = calloc(count + FIXED_ARGUMENTS, sizeof(*arguments));
	if (!arguments)
		return NULL;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		arguments[i] = (char *)options[i];
	arguments[i++] = (char *)calls;
	arguments[i++] = "-o";
	arguments[i++] = (char *)log;
	arguments[i++] = "--";
	memcpy(arguments + i, command, count * sizeof(*command));
	return arguments;
}

/* @fd: gets the errno if strace cannot be executed */
static void become_strace(char **arguments, int fd)
{
	execvp(arguments[0], arguments);
	_exit(write(fd, &errno, sizeof(errno)) < 0);
}

/* Return: 0 when strace runs; or a negative errno. */
static int start(char **arguments, pid_t *pid)
{
	int ends[2], err = 0;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (!*pid)
		become_strace(arguments, ends[1]);
	close(ends[1]);
	if (*pid < 0)
		err = EAGAIN;
	else if (read(ends[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(ends[0]);
	if (err && *pid > 0)
		waitpid(*pid, NULL, 0);
	return -err;
}

/**
 * strace_run() - run a command under strace until all its processes have ended
 * @command: the command and its arguments, ended by NULL
 * @log: file for the log
 * @calls: argument of strace's option -e: the calls to log
 * @status: out: of the command, as from waitpid(2); if it cannot be executed, strace has printed the reason, and the log is empty
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are passed on to the command.
 *
 * Return: 0 or a negative errno: strace did not run.
 */
int strace_run(char **command, const char *log, const char *calls, int *status, char *why, size_t room)
{
	char **arguments = make_arguments(command, log, calls);
	struct sigaction before[REACTIONS];
	pid_t pid = 0;
	int err = arguments ? start(arguments, &pid) : -ENOMEM;

	free(arguments);
	if (err) {
		snprintf(why, room, "strace: %s%s", strerror(-err), err == -ENOENT ? ": it is not installed" : "");
		return err;
	}
	take_signals(before); /* after the start of the command, which inherits those of the caller */
	while (!err && waitpid(pid, status, 0) < 0) {
		if (errno != EINTR)
			err = -errno;
		pass_on_signal(pid);
	}
	restore_signals(before);
	return err;
}
