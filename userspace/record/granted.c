// SPDX-License-Identifier: GPL-2.0-only
/*
 * granted.c - behind iotape-mount, with the rights of the user again: hand the session to the recorder, and become the command.
 */
#include <errno.h>
#include <iotape/control.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "granted.h"
#include "record.h"

extern char **environ;

static void answer_with(int answer_fd, const struct granted_answer *answer, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {};
	struct iovec part = { (void *)answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	if (sendmsg(answer_fd, &message, MSG_NOSIGNAL) < 0)
		_exit(1); /* the recorder has exited */
}

static void fail_with(int answer_fd, int err, int code, const char *what)
{
	struct granted_answer answer = { .err = err, .code = code };

	snprintf(answer.why, sizeof(answer.why), "%.400s: %s", what, strerror(-err));
	answer_with(answer_fd, &answer, -1);
	_exit(1);
}

static const struct granted_state *state_map(int state_fd)
{
	const struct granted_state *state;
	struct stat stat;

	if (fstat(state_fd, &stat) || (size_t)stat.st_size < sizeof(*state))
		return NULL;
	state = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, state_fd, 0);
	close(state_fd);
	if (state == MAP_FAILED || state->environment_bytes != (size_t)stat.st_size - sizeof(*state))
		return NULL;
	return state;
}

/* Return: 0 or -ENOMEM. The texts stay mapped until the command is executed. */
static int environment_restore(const struct granted_state *state)
{
	const char *text = (const char *)(state + 1), *end = text + state->environment_bytes, *at;
	size_t count = 0;
	char **list;

	for (at = text; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (at = text, count = 0; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		list[count++] = (char *)at;
	environ = list;
	return 0;
}

static int state_restore(const struct granted_state *state)
{
	if (setrlimit(RLIMIT_STACK, &state->stack) || personality((unsigned long)state->personality) < 0)
		return -errno;
	return environment_restore(state);
}

/* Return: the descriptor, or -1. */
static int session_of_environment(struct granted_answer *answer)
{
	const char *text = getenv("IOTAPE_SESSION");
	unsigned long long number;
	int fd;

	if (!text || sscanf(text, "%d:%llu", &fd, &number) != 2 || fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -1;
	answer->session = number;
	return fd;
}

/**
 * granted_main() - be the process that iotape-mount executes
 * @argv: descriptor of the socket, descriptor of the state, command; ended by NULL
 *
 * Return: an exit code, if it cannot become the command.
 */
int granted_main(char **argv)
{
	const struct granted_state *state;
	struct granted_answer answer = {};
	int answer_fd, session_fd;
	char byte;

	if (!argv[0] || !argv[1] || !argv[2])
		return 2;
	answer_fd = atoi(argv[0]);
	session_fd = session_of_environment(&answer);
	state = state_map(atoi(argv[1]));
	if (fcntl(answer_fd, F_SETFD, FD_CLOEXEC) || session_fd < 0 || !state)
		return 2;
	argv += 2;
	if (state->directory[0] && chdir(state->directory))
		fail_with(answer_fd, -errno, 0, state->directory);
	answer_with(answer_fd, &answer, session_fd);
	if (recv(answer_fd, &byte, 1, 0) != 1)
		return 1; /* there is no recording */
	if (ioctl(session_fd, IOT_IOC_ADOPT))
		fail_with(answer_fd, -errno, 0, "the command cannot be recorded");
	close(session_fd);
	if (state_restore(state))
		fail_with(answer_fd, -errno, 0, "the environment of the command");
	execvp(argv[0], argv);
	fail_with(answer_fd, -errno, errno == ENOENT ? RUNNER_NOT_FOUND : RUNNER_NOT_EXECUTABLE, argv[0]);
	return 1;
}
