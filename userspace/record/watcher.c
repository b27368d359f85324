// SPDX-License-Identifier: GPL-2.0-only
/*
 * watcher.c - reports to the controller of several nodes whether all threads of this node are blocked, and ends delays for it.
 *
 * A thread of the process that has the session of the node. If the connection ends, nothing is delayed any more: nobody could
 * decide any more that all nodes are blocked, and each delay would take as long as its limit.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "controller.h"
#include "record.h"

#define LOOK_MS	   1
#define PATIENCE_S 2	 /* for a connection, and for the rest of a message */
#define SILENT_MS  10000 /* a peer that does not acknowledge is lost */

/**
 * struct watcher - the watcher of this node
 * @socket_fd: connection to the controller
 * @stop_fd: an event: the commands of this node have ended
 * @is_chosen: threads of this node are delayed
 * @is_looking: the controller wants to know when all threads are blocked
 * @is_ended: the session has ended
 * @delay: number of the delay under way here, 0 if none
 * @looked_for: number of the delay for which the controller asks
 * @reported_ns: what was reported last
 */
struct watcher {
	pthread_t thread;
	int socket_fd;
	int session_fd;
	int stop_fd;
	bool is_chosen;
	bool is_looking;
	bool is_ended;
	u64 delay;
	u64 looked_for;
	u64 reported_ns;
};

static int put(const struct watcher *w, u32 kind, u32 round, u64 delay, u64 value)
{
	const struct node_message message = {
		.kind = cpu_to_le32(kind),
		.round = cpu_to_le32(round),
		.number = cpu_to_le64(delay),
		.value = cpu_to_le64(value),
	};

	return send(w->socket_fd, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message) ? 0 : -EPIPE;
}

/* Return: since when all threads are blocked, as far as the delay that the controller asks for is concerned; 0 if not all are. */
static u64 look(struct watcher *w, bool is_anew, u64 *delay)
{
	struct iot_look_all all = { .flags = is_anew ? IOT_LOOK_ANEW : 0 };

	*delay = 0;
	if (w->is_ended || ioctl(w->session_fd, IOT_IOC_LOOK, &all)) {
		w->is_ended = true;
		return 1; /* no thread is recorded any more */
	}
	*delay = all.number;
	return w->is_chosen && all.number != w->looked_for ? 0 : all.blocked_ns;
}

static int report(struct watcher *w)
{
	u64 delay, blocked_ns = look(w, false, &delay);
	int err = 0;

	if (w->is_chosen && delay != w->delay) {
		if (w->delay)
			err = put(w, NODE_END, 0, w->delay, 0);
		if (!err && delay)
			err = put(w, NODE_BEGIN, 0, delay, 0);
		w->delay = delay;
	}
	if (err || !w->is_looking || blocked_ns == w->reported_ns)
		return err;
	w->reported_ns = blocked_ns;
	return put(w, NODE_BLOCKED, 0, w->looked_for, blocked_ns);
}

static void release(const struct watcher *w, u64 delay, u32 flags)
{
	const struct iot_release request = { .number = delay, .flags = flags };

	ioctl(w->session_fd, IOT_IOC_RELEASE, &request); /* an error: the delay, or the session, has ended */
}

static int obey(struct watcher *w, const struct node_message *message)
{
	u64 delay = le64_to_cpu(message->number), ignored;

	switch (le32_to_cpu(message->kind)) {
	case NODE_LOOK:
		w->is_looking = true;
		w->looked_for = delay;
		w->reported_ns = 0;
		look(w, true, &ignored);
		return 0;
	case NODE_CONFIRM:
		return put(w, NODE_CONFIRMED, le32_to_cpu(message->round), delay, delay == w->looked_for ? look(w, false, &ignored) : 0);
	case NODE_RELEASE:
		release(w, delay, 0);
		return 0;
	case NODE_REST:
		w->is_looking = false;
		return 0;
	case NODE_ABANDON:
		release(w, 0, IOT_RELEASE_ALL);
		return 0;
	default:
		return -EPROTO;
	}
}

static int receive(struct watcher *w)
{
	struct node_message message;

	if (recv(w->socket_fd, &message, sizeof(message), MSG_WAITALL) != sizeof(message))
		return -EPIPE;
	return obey(w, &message);
}

static void *watch(void *context)
{
	struct watcher *w = context;
	int err = 0;

	while (!err) {
		struct pollfd polls[] = { { .fd = w->socket_fd, .events = POLLIN }, { .fd = w->stop_fd, .events = POLLIN } };
		bool is_active = (w->is_chosen && !w->is_ended) || w->is_looking;

		if (poll(polls, 2, is_active ? LOOK_MS : -1) < 0 && errno != EINTR)
			break;
		if (polls[1].revents) {
			put(w, NODE_BYE, 0, 0, 0);
			return NULL;
		}
		if (polls[0].revents)
			err = receive(w);
		if (!err && is_active)
			err = report(w);
	}
	release(w, 0, IOT_RELEASE_ALL);
	return NULL;
}

/* -- the connection --------------------------------------------------------------------------- */

/* Return: a connected descriptor, or a negative errno. */
static int connect_address(const char *address, u16 port)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	const unsigned int silent_ms = SILENT_MS;
	const int on = 1, idle_s = 5;
	struct addrinfo *found;
	char service[8];
	int fd, err = 0;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(address, service, &hints, &found))
		return -EINVAL;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) || setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof(silent_ms)) ||
	    connect(fd, found->ai_addr, found->ai_addrlen))
		err = -errno;
	freeaddrinfo(found);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* Return: 0 if both sides have read the file; or a negative errno. */
static int prove(int fd, const struct controller_file *file, const char *node)
{
	struct node_challenge challenge;
	struct node_hello hello = {};
	struct node_message welcome;

	if (getrandom(hello.nonce, sizeof(hello.nonce), 0) != sizeof(hello.nonce))
		return -EIO;
	snprintf(hello.name, CONTROLLER_NODE_BYTES, "%s", node);
	if (recv(fd, &challenge, sizeof(challenge), MSG_WAITALL) != sizeof(challenge))
		return -ECONNRESET;
	hello.proof = cpu_to_le64(controller_proof(file, CONTROLLER_PROOF_CLIENT, &challenge, &hello));
	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello) ||
	    recv(fd, &welcome, sizeof(welcome), MSG_WAITALL) != sizeof(welcome))
		return -ECONNRESET;
	return le32_to_cpu(welcome.kind) == NODE_WELCOME &&
	       le64_to_cpu(welcome.value) == controller_proof(file, CONTROLLER_PROOF_SERVER, &challenge, &hello) ? 0 : -EACCES;
}

/* The first address at which the controller is. Another node may have an address of the controller, too, as of a bridge. */
static int connect_controller(const struct controller_file *file, const char *node, char *why, size_t room)
{
	int fd = -ENOENT, err = -ENOENT;
	unsigned int i;

	for (i = 0; i < file->address_count; i++) {
		fd = connect_address(file->addresses[i], file->port);
		err = fd < 0 ? fd : prove(fd, file, node);
		if (!err)
			return fd;
		if (fd >= 0)
			close(fd);
		snprintf(why, room, "the controller of iotape discover does not answer at %s, port %u: %s", file->addresses[i], file->port,
			 strerror(-err));
	}
	return err;
}

/**
 * watcher_start() - connect to the controller
 * @watcher: out: to be freed by watcher_stop(); NULL after an error
 * @file: where the controller is
 * @node: name of this node
 * @session_fd: the session, which has delays
 * @why: out, after an error: a sentence
 * @room: room for it
 *
 * Return: 0 or a negative errno.
 */
int watcher_start(struct watcher **watcher, const struct controller_file *file, const char *node, int session_fd, char *why, size_t room)
{
	struct watcher *w = calloc(1, sizeof(*w));
	int err;

	*watcher = NULL;
	if (!w)
		return -ENOMEM;
	*w = (struct watcher){ .session_fd = session_fd, .is_chosen = controller_file_chooses(file, node) };
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	w->socket_fd = w->stop_fd < 0 ? -errno : connect_controller(file, node, why, room);
	err = w->socket_fd < 0 ? w->socket_fd : 0;
	if (!err)
		err = record_thread_start(&w->thread, watch, w);
	if (!err) {
		*watcher = w;
		return 0;
	}
	if (w->socket_fd >= 0)
		close(w->socket_fd);
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	free(w);
	return err;
}

/**
 * watcher_stop() - the commands of this node have ended: leave the controller
 * @watcher: may be NULL
 */
void watcher_stop(struct watcher *watcher)
{
	const u64 one = 1;

	if (!watcher)
		return;
	if (write(watcher->stop_fd, &one, sizeof(one)) != sizeof(one))
		shutdown(watcher->socket_fd, SHUT_RDWR);
	pthread_join(watcher->thread, NULL);
	close(watcher->socket_fd);
	close(watcher->stop_fd);
	free(watcher);
}
