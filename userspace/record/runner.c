// SPDX-License-Identifier: GPL-2.0-only
/*
 * runner.c - the process that becomes the command, and waiting for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

/* An error before the command runs: the child reports it to the parent as one sentence. */
struct failure {
	int err;
	int code; /* as in struct runner */
	char why[480];
};

/* Where others have made the mounts and the session records them already. */
static int enter_namespace(int session_fd, const struct record_options *options, char *why,
			   size_t room)
{
	char cwd[PATH_MAX];
	bool has_cwd = getcwd(cwd, sizeof(cwd)) != NULL;

	if (setns(options->namespace_fd, CLONE_NEWNS)) {
		snprintf(why, room, "the mounts of this node cannot be entered: %s", strerror(errno));
		return -errno;
	}
	if (has_cwd && chdir(cwd)) {
		snprintf(why, room, "%.400s: %s", cwd, strerror(errno));
		return -errno;
	}
	if (ioctl(session_fd, IOT_IOC_ADOPT)) {
		snprintf(why, room, "the recording of this node has ended: %s", strerror(errno));
		return -errno;
	}
	if (join_enter(options->join_fd)) {
		snprintf(why, room, "the process that holds the session of this node died");
		return -EPIPE;
	}
	return control_admit(options, session_fd, why, room); /* the creator of the session may have admitted others */
}

static int attach(int session_fd, const struct record_options *options, char *why, size_t room)
{
	struct iot_attach attach = {};
	int dir_fds[RECORD_MOUNTS_MAX];
	int err = mounts_enter(options, dir_fds, why, room), i;

	for (i = 0; i < options->mount_count && !err; i++) {
		if (dir_fds[i] < 0)
			continue;
		attach.dir_fd = dir_fds[i];
		if (ioctl(session_fd, IOT_IOC_ATTACH, &attach)) {
			err = -errno;
			snprintf(why, room, "%s: cannot be recorded: %s", options->mounts[i],
				 strerror(errno));
		}
		close(dir_fds[i]); /* before anything is recorded */
	}
	if (!err && (ioctl(session_fd, IOT_IOC_START) || ioctl(session_fd, IOT_IOC_ADOPT))) {
		err = -errno;
		snprintf(why, room, "the recording cannot start: %s", strerror(errno));
	}
	return err;
}

/**
 * runner_preload() - preload a library into programs that are executed from now on
 * @library: loaded first, before those that the user preloads; NULL for none
 */
void runner_preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD");
	char *value;

	if (!library)
		return;
	if (asprintf(&value, "%s%s%s", library, others ? ":" : "", others ? others : "") < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

static void become_command(const struct record_options *options, int session_fd, int failure_fd)
{
	struct failure failure = {};

	failure.err = options->namespace_fd < 0 ?
			      attach(session_fd, options, failure.why, sizeof(failure.why)) :
			      enter_namespace(session_fd, options, failure.why, sizeof(failure.why));
	if (!failure.err) {
		setenv("IOTAPE_MOUNT", options->mounts[0], 1);
		if (options->is_flight)
			dump_signal_restore();
		runner_preload(options->mpi_library);
		execvp(options->command[0], options->command);
		failure.err = -errno;
		failure.code = errno == ENOENT ? RUNNER_NOT_FOUND : RUNNER_NOT_EXECUTABLE;
		snprintf(failure.why, sizeof(failure.why), "%s: %s", options->command[0],
			 strerror(errno));
	}
	if (write(failure_fd, &failure, sizeof(failure)) != sizeof(failure))
		abort(); /* the parent has exited */
	_exit(RUNNER_NOT_FOUND);
}

/**
 * runner_start() - start the command, recorded
 * @runner: filled in, also after an error
 * @options: all are used but output and facts
 * @session_fd: a session with a collector; recording starts just before the command
 * @warn: called for operations that cannot be recorded
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 when the command runs; or a negative errno.
 */
int runner_start(struct runner *runner, const struct record_options *options, int session_fd,
		 record_warn_fn warn, char *why, size_t room)
{
	struct failure failure;
	ssize_t bytes;
	int pipe_fds[2];

	*runner = (struct runner){};
	if (pipe2(pipe_fds, O_CLOEXEC)) {
		snprintf(why, room, "no process can be created for the command: %s", strerror(errno));
		return -errno;
	}
	mounts_warn(options, warn);
	runner->pid = fork();
	if (runner->pid < 0) {
		snprintf(why, room, "no process can be created for the command: %s", strerror(errno));
		return -errno;
	}
	if (!runner->pid)
		become_command(options, session_fd, pipe_fds[1]);
	close(pipe_fds[1]);
	do
		bytes = read(pipe_fds[0], &failure, sizeof(failure));
	while (bytes < 0 && errno == EINTR);
	close(pipe_fds[0]);
	if (bytes != sizeof(failure))
		return 0; /* closed by exec */
	waitpid(runner->pid, NULL, 0);
	runner->code = failure.code;
	snprintf(why, room, "%s", failure.why);
	return failure.err ? failure.err : -EIO;
}

static volatile sig_atomic_t command_pid;

static void pass_on(int signal)
{
	if (command_pid > 0)
		kill(command_pid, signal);
}

/*
 * A signal from the terminal goes to the whole foreground group, so to the command, too; a
 * signal to this process alone is passed on to the command.
 */
static void handle_signals(pid_t pid)
{
	static const int passed_on[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT };
	struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
	size_t i;

	command_pid = pid;
	for (i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaction(passed_on[i], &action, NULL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
}

/**
 * runner_wait() - wait for the end of the command
 * @runner: started
 * @status: out: as from waitpid(2)
 *
 * Signals that come meanwhile are passed on to the command.
 *
 * Return: 0 or a negative errno.
 */
int runner_wait(struct runner *runner, int *status)
{
	handle_signals(runner->pid);
	while (waitpid(runner->pid, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	command_pid = 0;
	return 0;
}
