// SPDX-License-Identifier: GPL-2.0-only
/*
 * join.c - one session for all processes of a node that begin to record the same job.
 *
 * The holder is the process that binds a name in the abstract namespace of Unix sockets: only one
 * process of a node can, and the name disappears with the process, however it ends. The name is
 * made of the user, the node, the job and the directory of the traces.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "join.h"

#define TRIES	  3000
#define WAIT_US	  10000

/* FNV-1a, to make a name of any length one of few bytes. */
static uint64_t hash(uint64_t seed, const char *text)
{
	for (; *text; text++)
		seed = (seed ^ (unsigned char)*text) * 0x100000001b3ull;
	return (seed ^ 0xff) * 0x100000001b3ull;
}

static socklen_t name_of(struct sockaddr_un *name, const struct record_options *options,
			 const char *job)
{
	uint64_t id = hash(hash(0xcbf29ce484222325ull, job), options->output);
	struct utsname uts;
	int i, bytes;

	if (!uname(&uts)) /* containers may share a network, and be nodes to their job */
		id = hash(id, uts.nodename);
	for (i = 0; i < options->mount_count; i++)
		id = hash(id, options->mounts[i]);
	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	bytes = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "iotape-join-%u-%016llx",
			 geteuid(), (unsigned long long)id);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
}

/* Forked twice, so that no process of the job has to wait for it. */
static int start_holder(const struct record_options *options, int listen_fd)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid) {
		pid = fork();
		if (!pid)
			holder_main(options, listen_fd);
		_exit(pid < 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EAGAIN : 0;
}

/* Return: 0 if this process has made the holder, -EADDRINUSE if there is one, or another errno. */
static int become_holder(const struct record_options *options, const struct sockaddr_un *name,
			 socklen_t bytes)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)name, bytes) || listen(fd, SOMAXCONN))
		err = -errno;
	if (!err)
		err = start_holder(options, fd);
	close(fd);
	return err;
}

/* Anybody can take a name: errno is EPERM if it was another user. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.uid == geteuid())
		return true;
	errno = EPERM;
	return false;
}

/* Return: a descriptor that is connected to the holder, or a negative errno. */
static int connect_holder(const struct record_options *options, const char *job)
{
	struct sockaddr_un name;
	socklen_t bytes = name_of(&name, options, job);
	int i, err = 0, fd;

	for (i = 0; i < TRIES; i++) {
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		if (!connect(fd, (const struct sockaddr *)&name, bytes) && is_ours(fd))
			return fd;
		err = -errno;
		close(fd);
		if (err != -ECONNREFUSED)
			return err;
		err = become_holder(options, &name, bytes);
		if (err == -EADDRINUSE) /* it does not listen yet, or not any more */
			usleep(WAIT_US);
		else if (err)
			return err;
	}
	return err;
}

/* Return: 0; 1 if the holder has ended meanwhile; or a negative errno. */
static int be_welcome(struct joined *joined, unsigned int expected, unsigned int rank, char *why, size_t room)
{
	const struct join_hello hello = { .version = JOIN_VERSION, .expected = expected, .rank = rank };
	struct join_welcome welcome;
	int fds[2];
	union {
		char bytes[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control = {};
	struct iovec data = { &welcome, sizeof(welcome) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *head;

	if (send(joined->fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    recvmsg(joined->fd, &message, MSG_CMSG_CLOEXEC) != sizeof(welcome))
		return 1;
	if (welcome.err) {
		snprintf(why, room, "%s", welcome.why);
		return welcome.err;
	}
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof(fds)))
		return 1;
	memcpy(fds, CMSG_DATA(head), sizeof(fds));
	joined->session_fd = fds[0];
	joined->namespace_fd = fds[1];
	return 0;
}

/**
 * join_session() - the session of this node, which is begun if there is none
 * @joined: out: to be freed by join_leave()
 * @options: as for runner_start(), the same in all processes; output is a directory, absolute
 * @job: name of the job
 * @expected: processes of the job on this node, 0 if that is not known
 * @rank: of this process among them, 0 if that is not known
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int join_session(struct joined *joined, const struct record_options *options, const char *job,
		 unsigned int expected, unsigned int rank, char *why, size_t room)
{
	int i, err = 1;

	for (i = 0; i < TRIES && err > 0; i++) {
		joined->fd = connect_holder(options, job);
		if (joined->fd < 0) {
			snprintf(why, room, "the session of this node cannot be joined: %s",
				 strerror(-joined->fd));
			return joined->fd;
		}
		err = be_welcome(joined, expected, rank, why, room);
		if (err)
			close(joined->fd);
		if (err > 0)
			usleep(WAIT_US);
	}
	if (err > 0)
		snprintf(why, room, "the session of this node repeatedly ends before it can be joined");
	return err > 0 ? -EAGAIN : err;
}

/**
 * join_enter() - the process that becomes the command is in the session: wait until it may begin
 * @fd: connection to the holder
 *
 * Return: 0; -EPIPE if the holder died, and the recording with it.
 */
int join_enter(int fd)
{
	const struct join_note note = { .news = JOIN_ENTERED };
	struct join_go go;
	ssize_t bytes = -1;

	if (send(fd, &note, sizeof(note), MSG_NOSIGNAL) == sizeof(note))
		do
			bytes = recv(fd, &go, sizeof(go), 0);
		while (bytes < 0 && errno == EINTR);
	return bytes == sizeof(go) ? 0 : -EPIPE;
}

/**
 * join_leave() - the command has ended
 * @joined: from join_session()
 * @result: out, for the last process of the node: the result of the recording
 * @path: out, for the last one: the trace
 * @room: room for it
 *
 * The last one of a node waits here until the trace is complete.
 *
 * Return: 1 if it is the last one; 0 if not; -EPIPE if the holder died, and the recording with it.
 */
int join_leave(struct joined *joined, struct collector_result *result, char *path, size_t room)
{
	static struct join_goodbye goodbye;
	const struct join_note done = { .news = JOIN_DONE };
	ssize_t bytes = -1;

	if (send(joined->fd, &done, sizeof(done), MSG_NOSIGNAL) == sizeof(done))
		do
			bytes = recv(joined->fd, &goodbye, sizeof(goodbye), 0);
		while (bytes < 0 && errno == EINTR);
	close(joined->fd);
	if (bytes != sizeof(goodbye))
		return -EPIPE;
	if (!goodbye.is_last)
		return 0;
	*result = goodbye.result;
	snprintf(path, room, "%s", goodbye.path);
	return 1;
}
