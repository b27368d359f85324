// SPDX-License-Identifier: GPL-2.0-only
/*
 * spawn.c - the collector as a process of its own, so that the kernel can distinguish it from
 * recorded tasks, and so that it outlives the process that started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectord.h"
#include "describe.h"

static int collector_main(struct collector_options *options, int result_fd)
{
	struct collector_result result;
	int err = collector_run(options, &result);

	result.err = err;
	if (write(result_fd, &result, sizeof(result)) != sizeof(result))
		return 1; /* the reader has exited */
	return err ? 1 : 0;
}

/* As read(2), and not ended by a signal: a Ctrl-C is for others to act upon. */
static ssize_t read_whole(int fd, void *data, size_t bytes)
{
	ssize_t n;

	do
		n = read(fd, data, bytes);
	while (n < 0 && errno == EINTR);
	return n;
}

/**
 * collector_reason() - why the recording ends
 * @control_fd: that of the collector, which can be read
 *
 * Return: "" if the recorder requested it; a sentence if the recorder has exited.
 */
const char *collector_reason(int control_fd)
{
	char byte;

	return read_whole(control_fd, &byte, 1) == 1 ? "" : "iotape record was killed, which ended the recording";
}

/**
 * collector_start() - start the collector of a session
 * @collector: filled in
 * @options: the descriptors but the session's are filled in
 *
 * Return: 0 when the session may start; or a negative errno.
 */
int collector_start(struct collector *collector, struct collector_options *options)
{
	int control[2], ready[2], result[2];
	struct collector_result failed;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) ||
	    pipe2(ready, O_CLOEXEC) || pipe2(result, O_CLOEXEC))
		return -errno;
	collector->pid = fork();
	if (collector->pid < 0)
		return -errno;
	if (!collector->pid) {
		close(control[1]);
		close(ready[0]);
		close(result[0]);
		options->control_fd = control[0];
		options->ready_fd = ready[1];
		_exit(collector_main(options, result[1]));
	}
	close(control[0]);
	close(ready[1]);
	close(result[1]);
	collector->control_fd = control[1];
	collector->result_fd = result[0];
	if (read_whole(ready[0], &byte, 1) != 1) {
		close(ready[0]);
		collector_finish(collector, &failed);
		return failed.err ? failed.err : -EIO;
	}
	close(ready[0]);
	session_describe(options, NULL);
	return 0;
}

/**
 * collector_finish() - end the session, and wait until the trace is complete
 * @collector: started
 * @result: out: the result of the collection; if the collector was killed, its `err` is -EPIPE
 */
void collector_finish(struct collector *collector, struct collector_result *result)
{
	send(collector->control_fd, "", 1, MSG_NOSIGNAL);
	close(collector->control_fd);
	*result = (struct collector_result){ .err = -EPIPE };
	if (read_whole(collector->result_fd, result, sizeof(*result)) != sizeof(*result))
		result->err = -EPIPE;
	close(collector->result_fd);
	while (waitpid(collector->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
