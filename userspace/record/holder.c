// SPDX-License-Identifier: GPL-2.0-only
/*
 * holder.c - the process that has the session of a node, for all processes that joined it.
 *
 * It belongs to none of them: the first process may end first, and signals that end the job do not
 * end it. It exits when all expected processes have joined and ended. It is not recorded itself,
 * and keeps no descriptor that launchers wait for.
 */
#include <errno.h>
#include <fcntl.h>
#include <iotape/control.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "controller.h"
#include "join.h"

#define FIRST_MS 30000 /* for the first one to come */
#define LATE_MS	 10000 /* for expected processes that have not joined */
#define GRACE_MS 1000  /* if the number of processes is not known */
#define AGAIN_MS 100

/**
 * struct client - a process that has connected
 * @fd: to it
 * @since_ms: when it connected
 * @rank: among the processes of this node
 * @has_asked: it wants to join
 * @is_welcome: it may enter the session
 * @has_entered: it has, or will not any more
 * @may_go: its command may begin
 * @is_done: its command has ended
 */
struct client {
	int fd;
	uint64_t since_ms;
	uint32_t rank;
	bool has_asked;
	bool is_welcome;
	bool has_entered;
	bool may_go;
	bool is_done;
};

struct holder {
	const struct record_options *options;
	int listen_fd;
	int session_fd;
	int namespace_fd;
	uint64_t session;
	char *last_fact;
	struct collector collector;
	struct watcher *watcher;
	struct join_welcome welcome;
	char path[PATH_MAX];
	struct client *clients;
	size_t client_count;
	unsigned int joined;
	unsigned int entered;
	unsigned int expected;
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* -- the session ------------------------------------------------------------------------------ */

/* The name of the node; with a number if the directory has one already. */
static int choose_path(struct holder *holder)
{
	struct utsname uts;
	int i, fd = -1;

	uname(&uts);
	uts.nodename[strcspn(uts.nodename, "/")] = 0;
	if (mkdir(holder->options->output, 0700) && errno != EEXIST)
		return -errno;
	for (i = 1; fd < 0; i++) {
		char number[16] = "";

		if (i > 1)
			snprintf(number, sizeof(number), ".%d", i);
		if (snprintf(holder->path, sizeof(holder->path), "%s/%s%s.iot",
			     holder->options->output, uts.nodename, number) >= PATH_MAX)
			return -ENAMETOOLONG;
		fd = open(holder->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	close(fd);
	return 0;
}

static int attach_all(struct holder *holder, const int *dir_fds)
{
	struct join_welcome *welcome = &holder->welcome;
	int i;

	for (i = 0; i < holder->options->mount_count; i++) {
		struct iot_attach attach = { .dir_fd = dir_fds[i] };

		if (dir_fds[i] < 0)
			continue;
		if (ioctl(holder->session_fd, IOT_IOC_ATTACH, &attach)) {
			snprintf(welcome->why, sizeof(welcome->why), "%s: cannot be recorded: %s",
				 holder->options->mounts[i], strerror(errno));
			return -errno;
		}
		close(dir_fds[i]);
	}
	if (!ioctl(holder->session_fd, IOT_IOC_START))
		return 0;
	snprintf(welcome->why, sizeof(welcome->why), "the recording cannot start: %s",
		 strerror(errno));
	return -errno;
}

static int start_collector(struct holder *holder)
{
	struct collector_options collect = {
		.session_fd = holder->session_fd,
		.path = holder->path,
		.facts = holder->options->facts,
		.buffers = holder->options->buffers,
		.interval_ns = holder->options->counters_interval_ns,
	};
	int err = choose_path(holder);

	holder->last_fact = descendants_fact_open();
	collect.last_fact = holder->last_fact;
	if (!err && !holder->last_fact)
		err = -ENOMEM;

	if (!err)
		err = collector_start(&holder->collector, &collect);
	if (err)
		snprintf(holder->welcome.why, sizeof(holder->welcome.why), "%s: %s",
			 holder->path[0] ? holder->path : holder->options->output, strerror(-err));
	return err;
}

/* With a controller, delays last until it ends them, and only the threads of the node that it chose are delayed. */
static int make_session(struct holder *holder, struct controller_file *controller)
{
	struct record_options options = *holder->options;
	char *why = holder->welcome.why;
	struct utsname uts;
	int err = 0;

	if (options.controller) {
		uname(&uts);
		err = controller_file_read(options.controller, controller, why, JOIN_WHY);
		options.delay.flags |= IOT_DELAY_HOLD;
		if (!controller_file_chooses(controller, uts.nodename))
			options.delay.thread = IOT_DELAY_NOBODY;
	}
	if (!err)
		holder->session_fd = control_open(&options, &holder->session, why, JOIN_WHY);
	if (!err && holder->session_fd < 0)
		err = holder->session_fd;
	if (!err && options.controller)
		err = watcher_start(&holder->watcher, controller, uts.nodename, holder->session_fd, why, JOIN_WHY);
	return err;
}

/* The collector stays outside of the mounts, and this process goes in. */
static int open_session(struct holder *holder)
{
	static struct controller_file controller;
	char *why = holder->welcome.why;
	int dir_fds[RECORD_MOUNTS_MAX];
	int err = make_session(holder, &controller);

	if (err)
		return err;
	err = start_collector(holder);
	if (err)
		return err;
	err = mounts_enter(holder->options, dir_fds, why, JOIN_WHY);
	if (!err)
		err = attach_all(holder, dir_fds);
	if (!err) {
		holder->namespace_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
		err = holder->namespace_fd < 0 ? -errno : 0;
	}
	if (chdir("/"))
		err = -errno;
	return err;
}

/* -- joined processes ------------------------------------------------------------------------- */

static void send_welcome(const struct holder *holder, int fd)
{
	int fds[2] = { holder->session_fd, holder->namespace_fd };
	union {
		char bytes[CMSG_SPACE(sizeof(fds))];
		struct cmsghdr align;
	} control = {};
	struct iovec data = { (void *)&holder->welcome, sizeof(holder->welcome) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (!holder->welcome.err) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(head), fds, sizeof(fds));
	}
	sendmsg(fd, &message, MSG_NOSIGNAL);
}

static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) && peer.uid == geteuid();
}

static void accept_client(struct holder *holder)
{
	int fd = accept4(holder->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct client *clients;

	if (fd < 0)
		return;
	clients = is_ours(fd) ? reallocarray(holder->clients, holder->client_count + 1,
					     sizeof(*clients)) : NULL;
	if (!clients) {
		close(fd);
		return;
	}
	holder->clients = clients;
	clients[holder->client_count++] = (struct client){ .fd = fd, .since_ms = now_ms() };
}

static void note_entered(struct holder *holder, struct client *client)
{
	holder->entered += client->has_asked && !client->has_entered;
	client->has_entered = true;
}

static void drop_client(struct holder *holder, size_t number)
{
	note_entered(holder, &holder->clients[number]); /* nobody waits for it */
	close(holder->clients[number].fd);
	holder->clients[number] = holder->clients[--holder->client_count];
}

static void take_note(struct holder *holder, struct client *client, uint32_t news)
{
	note_entered(holder, client);
	client->is_done = news == JOIN_DONE;
}

static void serve(struct holder *holder, size_t number)
{
	struct client *client = &holder->clients[number];
	union {
		struct join_hello hello;
		struct join_note note;
	} message;
	ssize_t bytes = recv(client->fd, &message, sizeof(message), 0);

	if (client->is_welcome && bytes == sizeof(message.note)) {
		take_note(holder, client, message.note.news);
		return;
	}
	if (client->has_asked || bytes != sizeof(message.hello) || message.hello.version != JOIN_VERSION) {
		drop_client(holder, number);
		return;
	}
	client->has_asked = true;
	client->rank = message.hello.rank;
	holder->joined++;
	if (message.hello.expected > holder->expected)
		holder->expected = message.hello.expected;
}

static struct client *next_to_welcome(const struct holder *holder)
{
	struct client *next = NULL;
	size_t i;

	for (i = 0; i < holder->client_count; i++) {
		struct client *client = &holder->clients[i];

		if (client->has_asked && !client->is_welcome && (!next || client->rank < next->rank))
			next = client;
	}
	return next;
}

/* One after the other, by rank. Of those before it, some may not be recorded. */
static void welcome_next(struct holder *holder)
{
	struct client *next;

	while ((next = next_to_welcome(holder)) && (next->rank <= holder->entered || now_ms() - next->since_ms > GRACE_MS)) {
		next->is_welcome = true;
		send_welcome(holder, next->fd);
		if (holder->welcome.err)
			note_entered(holder, next);
	}
}

/* With a controller, all begin together. */
static void let_go(struct holder *holder)
{
	static const struct join_go go;
	size_t i;

	for (i = 0; i < holder->client_count; i++) {
		struct client *client = &holder->clients[i];

		if (!client->has_entered || client->may_go || client->is_done ||
		    (holder->options->controller && holder->entered < holder->expected && now_ms() - client->since_ms <= LATE_MS))
			continue;
		client->may_go = true;
		send(client->fd, &go, sizeof(go), MSG_NOSIGNAL);
	}
}

static void serve_events(struct holder *holder)
{
	struct pollfd *polls = calloc(holder->client_count + 1, sizeof(*polls));
	size_t i;

	if (!polls) {
		usleep(AGAIN_MS * 1000);
		return;
	}
	polls[0] = (struct pollfd){ .fd = holder->listen_fd, .events = POLLIN };
	for (i = 0; i < holder->client_count; i++)
		polls[i + 1] = (struct pollfd){ .fd = holder->clients[i].fd, .events = POLLIN };
	if (poll(polls, holder->client_count + 1, AGAIN_MS) > 0) {
		for (i = holder->client_count; i > 0; i--) /* the last one replaces one that leaves */
			if (polls[i].revents)
				serve(holder, i - 1);
		if (polls[0].revents)
			accept_client(holder);
	}
	free(polls);
	welcome_next(holder);
	let_go(holder);
}

/* While any process still works, finished ones need not wait. Return: does any? */
static bool release_done(struct holder *holder)
{
	static const struct join_goodbye goodbye;
	size_t i, working = 0;

	for (i = 0; i < holder->client_count; i++)
		working += !holder->clients[i].is_done;
	for (i = holder->client_count; i > 0 && working; i--)
		if (holder->clients[i - 1].is_done) {
			send(holder->clients[i - 1].fd, &goodbye, sizeof(goodbye), MSG_NOSIGNAL);
			drop_client(holder, i - 1);
		}
	return working;
}

static uint64_t patience_ms(const struct holder *holder)
{
	if (!holder->joined)
		return FIRST_MS;
	if (!holder->expected)
		return GRACE_MS;
	return holder->joined >= holder->expected ? 0 : LATE_MS;
}

/* Until all processes have joined, and all have exited or are done. */
static void serve_all(struct holder *holder)
{
	uint64_t idle_ms = now_ms();
	bool is_busy;

	do {
		serve_events(holder);
		is_busy = release_done(holder);
		if (is_busy)
			idle_ms = now_ms();
	} while (is_busy || now_ms() - idle_ms <= patience_ms(holder));
}

/* As long as the last joined process waits for the trace. */
static void wait_for_descendants(const struct holder *holder)
{
	if (holder->client_count)
		descendants_wait(holder->session, holder->options->wait_ms, holder->clients[0].fd,
				 NULL, holder->last_fact);
}

/* The last of them waited for the trace. */
static void say_goodbye(const struct holder *holder, struct join_goodbye *goodbye)
{
	size_t i;

	snprintf(goodbye->path, sizeof(goodbye->path), "%s", holder->path);
	for (i = 0; i < holder->client_count; i++) {
		goodbye->is_last = i == 0;
		send(holder->clients[i].fd, goodbye, sizeof(*goodbye), MSG_NOSIGNAL);
	}
}

/* Nothing that was there before is kept: a launcher may wait for the end of each descriptor. */
static int detach(int listen_fd)
{
	int null_fd = open("/dev/null", O_RDWR);

	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0 ||
	    (listen_fd != 3 && dup2(listen_fd, 3) < 0))
		_exit(1);
	close_range(4, ~0u, 0);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return 3;
}

/**
 * holder_main() - hold the session of this node until all processes have left
 * @options: all are used but the command; output is a directory, absolute
 * @listen_fd: where the others connect
 *
 * Does not return.
 */
void holder_main(const struct record_options *options, int listen_fd)
{
	static struct join_goodbye goodbye;
	struct holder holder = { .options = options, .session_fd = -1, .namespace_fd = -1 };

	holder.listen_fd = detach(listen_fd);
	holder.welcome.err = open_session(&holder);
	serve_all(&holder);
	watcher_stop(holder.watcher);
	shutdown(holder.listen_fd, SHUT_RDWR);
	if (holder.collector.pid > 0) {
		wait_for_descendants(&holder);
		collector_finish(&holder.collector, &goodbye.result);
	}
	if (holder.welcome.err && holder.path[0])
		unlink(holder.path);
	else
		say_goodbye(&holder, &goodbye);
	_exit(0);
}
