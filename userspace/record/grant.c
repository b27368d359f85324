// SPDX-License-Identifier: GPL-2.0-only
/*
 * grant.c - a recording by a user other than root: iotape-mount makes its session and its mounts.
 *
 * Only the process that becomes the command can enter a mount namespace of root, so it executes iotape-mount, then `iotape record
 * --granted` (granted.c), and that the command. The recorder and the collector stay outside of the mounts, as in other recordings.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "granted.h"
#include "record.h"

#define OPTIONS_MAX 8

extern char **environ;

/* Where it is installed, beside this program. Return: 0; -ENOENT if it has no rights, or is not there. */
static int find(char *self, char *helper)
{
	ssize_t bytes = readlink("/proc/self/exe", self, PATH_MAX - 1);
	struct stat stat_of;

	if (bytes < 0)
		return -errno;
	self[bytes] = 0;
	if (snprintf(helper, PATH_MAX, "%.*s/iotape-mount", (int)(strrchr(self, '/') - self), self) >= PATH_MAX)
		return -ENAMETOOLONG;
	return stat(helper, &stat_of) || !(stat_of.st_mode & S_ISUID) || stat_of.st_uid ? -ENOENT : 0;
}

static int put(int fd, const void *data, size_t bytes)
{
	ssize_t done = write(fd, data, bytes);

	return done < 0 ? -errno : (size_t)done == bytes ? 0 : -ENOSPC;
}

/* Return: a descriptor of the state of this process, or a negative errno. */
static int state_save(void)
{
	struct granted_state state = { .personality = (uint64_t)(unsigned int)personality(0xffffffff) };
	int fd = memfd_create("iotape", 0), err = 0;
	char **text;

	if (fd < 0)
		return -errno;
	if (getrlimit(RLIMIT_STACK, &state.stack) || !getcwd(state.directory, sizeof(state.directory)))
		state.directory[0] = 0;
	for (text = environ; *text; text++)
		state.environment_bytes += strlen(*text) + 1;
	err = put(fd, &state, sizeof(state));
	for (text = environ; *text && !err; text++)
		err = put(fd, *text, strlen(*text) + 1);
	return err ? err : fd;
}

/* Is a directory recorded with an earlier one, or a later one that is above it? */
static bool is_covered(const struct record_options *options, int index)
{
	size_t bytes;
	int i;

	for (i = 0; i < options->mount_count; i++) {
		bytes = strlen(options->mounts[i]);
		if (i != index && !strncmp(options->mounts[index], options->mounts[i], bytes) &&
		    (options->mounts[index][bytes] == '/' || (!options->mounts[index][bytes] && i < index)))
			return true;
	}
	return false;
}

/* Return: the command line of iotape-mount, NULL out of memory. */
static char **arguments(const struct record_options *options, char *helper, char *self, int answer_fd, int state_fd)
{
	static char mmap_mode[32], buffers[32], flush[32], answer[16], state[16];
	int count = 0, i;
	char **argv;

	while (options->command[count])
		count++;
	argv = calloc((size_t)count + OPTIONS_MAX + RECORD_MOUNTS_MAX + 8, sizeof(*argv));
	if (!argv)
		return NULL;
	snprintf(mmap_mode, sizeof(mmap_mode), "--mmap=%s", options->mmap_mode);
	snprintf(buffers, sizeof(buffers), "--buffers=%u", options->buffers);
	snprintf(flush, sizeof(flush), "--flush=%u", options->flush_ms);
	snprintf(answer, sizeof(answer), "%d", answer_fd);
	snprintf(state, sizeof(state), "%d", state_fd);
	count = 0;
	argv[count++] = helper;
	argv[count++] = mmap_mode;
	argv[count++] = buffers;
	argv[count++] = flush;
	if (options->drop)
		argv[count++] = (char *)"--drop";
	for (i = 0; i < options->mount_count; i++)
		if (!is_covered(options, i))
			argv[count++] = (char *)options->mounts[i];
	argv[count++] = (char *)"--";
	argv[count++] = self;
	argv[count++] = (char *)"record";
	argv[count++] = (char *)"--granted";
	argv[count++] = answer;
	argv[count++] = state;
	for (i = 0; options->command[i]; i++)
		argv[count++] = options->command[i];
	return argv;
}

static void become_helper(const struct record_options *options, char *helper, char *self, int answer_fd)
{
	struct granted_answer answer = {};
	char **argv;
	int state_fd;

	setenv("IOTAPE_MOUNT", options->mounts[0], 1);
	if (options->is_flight)
		dump_signal_restore();
	runner_preload(options->mpi_library);
	state_fd = state_save();
	argv = state_fd < 0 ? NULL : arguments(options, helper, self, answer_fd, state_fd);
	if (argv && !fcntl(answer_fd, F_SETFD, 0))
		execv(helper, argv);
	answer.err = state_fd < 0 ? state_fd : -errno;
	if (answer.err == -EACCES)
		snprintf(answer.why, sizeof(answer.why), "%.400s: only members of its group may record without root", helper);
	else
		snprintf(answer.why, sizeof(answer.why), "%.400s: %s", helper, strerror(-answer.err));
	send(answer_fd, &answer, sizeof(answer), MSG_NOSIGNAL);
	_exit(1);
}

/* Return: 0 and the descriptor of the session; or a negative errno, with an empty sentence if iotape-mount printed one. */
static int take_session(struct grant *grant, char *why, size_t room)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct granted_answer answer;
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *head;
	ssize_t bytes;

	do
		bytes = recvmsg(grant->answer_fd, &message, MSG_CMSG_CLOEXEC);
	while (bytes < 0 && errno == EINTR);
	why[0] = 0;
	if (bytes != sizeof(answer))
		return -EPERM;
	head = CMSG_FIRSTHDR(&message);
	if (!answer.err && head && head->cmsg_type == SCM_RIGHTS) {
		memcpy(&grant->session_fd, CMSG_DATA(head), sizeof(int));
		grant->session = answer.session;
		return 0;
	}
	snprintf(why, room, "%s", answer.why);
	return answer.err ? answer.err : -EPROTO;
}

static const char *not_for_users(const struct record_options *options)
{
	if (options->has_wakes)
		return "--wakes";
	if (options->delay.period)
		return "--delay";
	return options->admit_count ? "--admit" : NULL;
}

/**
 * grant_start() - let iotape-mount make a session and its mounts
 * @grant: out: its members are set after success
 * @options: as for runner_start()
 * @why: out, after an error: a sentence; "" if it was printed; unchanged after -ENOENT
 * @room: room for it
 *
 * Return: 0; -ENOENT if it is not installed; or another negative errno.
 */
int grant_start(struct grant *grant, const struct record_options *options, char *why, size_t room)
{
	char self[PATH_MAX], helper[PATH_MAX];
	int fds[2], err = find(self, helper);

	if (err)
		return err;
	if (not_for_users(options)) {
		snprintf(why, room, "%s: only root may use this option", not_for_users(options));
		return -EPERM;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	grant->pid = fork();
	if (!grant->pid)
		become_helper(options, helper, self, fds[1]);
	err = grant->pid < 0 ? -errno : 0;
	close(fds[1]);
	grant->answer_fd = fds[0];
	if (err) {
		snprintf(why, room, "no process can be created for the command: %s", strerror(-err));
		return err;
	}
	err = take_session(grant, why, room);
	if (!err)
		err = control_configure(options, grant->session_fd, why, room);
	if (err) {
		close(grant->answer_fd); /* the process ends, if it has not */
		waitpid(grant->pid, NULL, 0);
	}
	return err;
}

/**
 * grant_run() - as runner_start(), with the process that waits for it
 * @runner: filled in, also after an error
 * @grant: started; consumed but for the descriptor of the session, which has a collector now
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 when the command runs; or a negative errno.
 */
int grant_run(struct runner *runner, struct grant *grant, char *why, size_t room)
{
	struct granted_answer answer = {};
	ssize_t bytes;
	int err = ioctl(grant->session_fd, IOT_IOC_START) ? -errno : 0;

	*runner = (struct runner){ .pid = grant->pid };
	if (err)
		snprintf(why, room, "the recording cannot start: %s", strerror(-err));
	else
		send(grant->answer_fd, "", 1, MSG_NOSIGNAL);
	if (err)
		shutdown(grant->answer_fd, SHUT_RDWR);
	do
		bytes = err ? 0 : recv(grant->answer_fd, &answer, sizeof(answer), 0);
	while (bytes < 0 && errno == EINTR);
	close(grant->answer_fd);
	if (!err && bytes != sizeof(answer))
		return 0; /* closed by exec */
	waitpid(runner->pid, NULL, 0);
	if (err)
		return err;
	runner->code = answer.code;
	snprintf(why, room, "%s", answer.why);
	return answer.err ? answer.err : -EIO;
}
