// SPDX-License-Identifier: GPL-2.0-only
/*
 * pipe.c - a process that seals what is written to a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seal.h"

/* It ends when the last writer does, whatever signals the terminal sends to all. Return: an errno as exit code. */
static int run_sealer(const struct seal_keys *keys, int in, int out, const char *out_name)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	char why[PATH_MAX + 256];
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	err = seal_copy(keys, in, "the trace", out, out_name, why, sizeof(why));
	if (close(out) && !err)
		err = -errno;
	return -err;
}

/**
 * seal_pipe_start() - start a process that seals to an output
 * @pipe: filled in
 * @keys: the public key
 * @out: descriptor of the output, which is closed here
 * @out_name: for messages; lives as long as @pipe
 *
 * To be called while the caller has one thread.
 *
 * Return: a descriptor to write to, above the standard ones; or a negative errno.
 */
int seal_pipe_start(struct seal_pipe *pipe, const struct seal_keys *keys, int out, const char *out_name)
{
	int ends[2], fd;

	if (pipe2(ends, O_CLOEXEC)) {
		fd = -errno;
		close(out);
		return fd;
	}
	pipe->out_name = out_name;
	pipe->pid = fork();
	if (!pipe->pid) {
		close(ends[1]);
		_exit(run_sealer(keys, ends[0], out, out_name));
	}
	close(ends[0]);
	close(out);
	if (pipe->pid < 0) {
		close(ends[1]);
		return -EAGAIN;
	}
	fd = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		fd = -errno;
	close(ends[1]);
	return fd;
}

/**
 * seal_pipe_finish() - wait until the output is complete; all writers have ended
 * @pipe: started; or zeros, and then nothing is done
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno: the output ends early.
 */
int seal_pipe_finish(const struct seal_pipe *pipe, char *why, size_t room)
{
	int status;

	if (!pipe->pid)
		return 0;
	while (waitpid(pipe->pid, &status, 0) < 0)
		if (errno != EINTR) {
			snprintf(why, room, "%s: the process that seals it: %s", pipe->out_name, strerror(errno));
			return -ECHILD;
		}
	if (WIFSIGNALED(status)) {
		snprintf(why, room, "%s: the process that seals it was killed: the sealed file ends there", pipe->out_name);
		return -EPIPE;
	}
	if (WEXITSTATUS(status))
		snprintf(why, room, "%s: %s: the sealed file ends there", pipe->out_name, strerror(WEXITSTATUS(status)));
	return -WEXITSTATUS(status);
}
