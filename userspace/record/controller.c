// SPDX-License-Identifier: GPL-2.0-only
/*
 * controller.c - decides when a delay ends whose job runs on several nodes: when all threads are blocked, on all nodes.
 *
 * A thread of iotape discover. The protocol is in controller.h. A node that has not connected yet may continue at any time, so it
 * is not blocked; one that has left has ended. Strangers can connect, too: those that prove nothing in time are disconnected.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "controller.h"
#include "lib/iotape.h"
#include "record.h"

#define LINKS_MAX   4096
#define PROOF_MS    5000
#define SILENT_MS   10000 /* a node that does not acknowledge is lost */
#define PATIENCE_MS 200

/**
 * struct link - a connection
 * @fd: of it
 * @since_ms: when it was made
 * @is_node: it has proved to be the recorder of a node
 * @blocked: since when all threads are blocked by the last report, by the clock of the node; 0 if they are not
 * @round: of its last confirmation
 * @in: a part of a message
 */
struct link {
	int fd;
	u64 since_ms;
	bool is_node;
	u64 blocked;
	u32 round;
	struct node_challenge challenge;
	char name[CONTROLLER_NODE_BYTES];
	u8 in[sizeof(struct node_hello)];
	size_t in_bytes;
};

/**
 * struct controller - the controller of a run
 * @stop_fd: an event: the run has ended
 * @expected: number of nodes; before all have connected, no delay is released
 * @left: nodes that have left
 * @has_delay: a delay is under way
 * @delay: its number
 * @delayer: descriptor of the node where it is
 * @is_confirming: all nodes were blocked, and are asked again
 * @round: number of the last question
 */
struct controller {
	struct controller_file file;
	pthread_t thread;
	int listen_fd;
	int stop_fd;
	unsigned int expected;
	unsigned int left;
	struct link *links;
	size_t link_count;
	bool has_delay;
	u64 delay;
	int delayer;
	bool is_confirming;
	u32 round;
	struct controller_result result;
};

static u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000;
}

/* A node that does not take it is lost, which the next receive shows. */
static void put(const struct link *link, u32 kind, u32 round, u64 delay, u64 value)
{
	const struct node_message message = {
		.kind = cpu_to_le32(kind),
		.round = cpu_to_le32(round),
		.number = cpu_to_le64(delay),
		.value = cpu_to_le64(value),
	};

	if (send(link->fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(message))
		shutdown(link->fd, SHUT_RDWR);
}

static void put_all(const struct controller *c, u32 kind)
{
	size_t i;

	for (i = 0; i < c->link_count; i++)
		if (c->links[i].is_node)
			put(&c->links[i], kind, c->round, c->delay, 0);
}

/* -- the delay -------------------------------------------------------------------------------- */

static unsigned int count_nodes(const struct controller *c)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < c->link_count; i++)
		count += c->links[i].is_node;
	return count;
}

static bool are_all_blocked(const struct controller *c)
{
	size_t i;

	if (count_nodes(c) + c->left < c->expected)
		return false;
	for (i = 0; i < c->link_count; i++)
		if (c->links[i].is_node && !c->links[i].blocked)
			return false;
	return true;
}

static bool have_all_confirmed(const struct controller *c)
{
	size_t i;

	for (i = 0; i < c->link_count; i++)
		if (c->links[i].is_node && c->links[i].round != c->round)
			return false;
	return true;
}

static void release(struct controller *c)
{
	size_t i;

	c->is_confirming = false;
	c->result.released++;
	for (i = 0; i < c->link_count; i++)
		if (c->links[i].fd == c->delayer)
			put(&c->links[i], NODE_RELEASE, 0, c->delay, 0);
}

/* After each change. */
static void decide(struct controller *c)
{
	if (!c->has_delay)
		return;
	if (!are_all_blocked(c)) {
		c->is_confirming = false;
		return;
	}
	if (!c->is_confirming) {
		c->is_confirming = true;
		c->round++;
		put_all(c, NODE_CONFIRM);
	} else if (have_all_confirmed(c)) {
		release(c);
		c->has_delay = false; /* until its end is reported, nothing is to be decided */
	}
}

static void begin_delay(struct controller *c, const struct link *link, u64 delay)
{
	size_t i;

	c->has_delay = true;
	c->is_confirming = false;
	c->delay = delay;
	c->delayer = link->fd;
	for (i = 0; i < c->link_count; i++)
		c->links[i].blocked = 0;
	put_all(c, NODE_LOOK);
}

static void end_delay(struct controller *c)
{
	c->has_delay = false;
	c->is_confirming = false;
	put_all(c, NODE_REST);
}

/* What a node has seen. A change after the question makes the confirmations so far worthless. */
static void take_state(struct controller *c, struct link *link, const struct node_message *message)
{
	u64 blocked = le64_to_cpu(message->value);

	if (!c->has_delay || le64_to_cpu(message->number) != c->delay)
		return;
	if (blocked != link->blocked)
		c->is_confirming = false;
	link->blocked = blocked;
	if (le32_to_cpu(message->kind) == NODE_CONFIRMED)
		link->round = le32_to_cpu(message->round);
	decide(c);
}

static int take_message(struct controller *c, struct link *link)
{
	struct node_message message;

	memcpy(&message, link->in, sizeof(message));
	switch (le32_to_cpu(message.kind)) {
	case NODE_BEGIN:
		begin_delay(c, link, le64_to_cpu(message.number));
		return 0;
	case NODE_END:
		if (link->fd == c->delayer)
			end_delay(c);
		return 0;
	case NODE_BLOCKED:
	case NODE_CONFIRMED:
		take_state(c, link, &message);
		return 0;
	case NODE_BYE:
		link->is_node = false;
		c->left++;
		return -ESHUTDOWN;
	default:
		return -EPROTO;
	}
}

/* -- connections ------------------------------------------------------------------------------ */

static int take_hello(struct controller *c, struct link *link)
{
	struct node_hello hello;

	memcpy(&hello, link->in, sizeof(hello));
	if (le64_to_cpu(hello.proof) != controller_proof(&c->file, CONTROLLER_PROOF_CLIENT, &link->challenge, &hello))
		return -EACCES;
	snprintf(link->name, sizeof(link->name), "%.*s", CONTROLLER_NODE_BYTES - 1, hello.name);
	link->is_node = true;
	c->result.nodes++;
	put(link, NODE_WELCOME, 0, 0, controller_proof(&c->file, CONTROLLER_PROOF_SERVER, &link->challenge, &hello));
	if (c->result.lost)
		put(link, NODE_ABANDON, 0, 0, 0);
	else if (c->has_delay)
		put(link, NODE_LOOK, 0, c->delay, 0);
	return 0;
}

/* Return: 0; a negative errno if the connection has to end. */
static int receive(struct controller *c, struct link *link)
{
	size_t wanted = link->is_node ? sizeof(struct node_message) : sizeof(struct node_hello);
	ssize_t bytes = recv(link->fd, link->in + link->in_bytes, wanted - link->in_bytes, MSG_DONTWAIT);

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (bytes <= 0)
		return -EPIPE;
	link->in_bytes += (size_t)bytes;
	if (link->in_bytes < wanted)
		return 0;
	link->in_bytes = 0;
	return link->is_node ? take_message(c, link) : take_hello(c, link);
}

/* Without one of the nodes, nobody knows any more whether all are blocked. */
static void drop_link(struct controller *c, size_t number)
{
	struct link link = c->links[number];

	close(link.fd);
	c->links[number] = c->links[--c->link_count];
	if (link.is_node) {
		c->result.lost++;
		snprintf(c->result.name, sizeof(c->result.name), "%s", link.name);
		c->has_delay = false;
		put_all(c, NODE_ABANDON);
		return;
	}
	if (link.fd == c->delayer && c->has_delay)
		end_delay(c);
	decide(c);
}

static void accept_link(struct controller *c)
{
	const unsigned int silent_ms = SILENT_MS;
	const int on = 1, idle_s = 5;
	struct link link = { .since_ms = now_ms() }, *grown = NULL;

	link.fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (link.fd < 0)
		return;
	setsockopt(link.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(link.fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(link.fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(link.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof(silent_ms));
	if (c->link_count < LINKS_MAX && getrandom(&link.challenge, sizeof(link.challenge), 0) == sizeof(link.challenge) &&
	    send(link.fd, &link.challenge, sizeof(link.challenge), MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(link.challenge))
		grown = reallocarray(c->links, c->link_count + 1, sizeof(*grown));
	if (!grown) {
		close(link.fd);
		return;
	}
	c->links = grown;
	c->links[c->link_count++] = link;
}

static void drop_strangers(struct controller *c)
{
	u64 now = now_ms();
	size_t i;

	for (i = c->link_count; i-- > 0;)
		if (!c->links[i].is_node && now - c->links[i].since_ms > PROOF_MS)
			drop_link(c, i);
}

/* Return: false if the run has ended. */
static bool serve(struct controller *c, struct pollfd *polls)
{
	size_t i, count = c->link_count;

	polls[0] = (struct pollfd){ .fd = c->stop_fd, .events = POLLIN };
	polls[1] = (struct pollfd){ .fd = c->listen_fd, .events = POLLIN };
	for (i = 0; i < count; i++)
		polls[i + 2] = (struct pollfd){ .fd = c->links[i].fd, .events = POLLIN };
	if (poll(polls, count + 2, PATIENCE_MS) <= 0)
		return true;
	for (i = count; i-- > 0;) /* the last one replaces one that leaves */
		if (polls[i + 2].revents && receive(c, &c->links[i]))
			drop_link(c, i);
	if (polls[1].revents)
		accept_link(c);
	return !polls[0].revents;
}

static void *control(void *context)
{
	struct controller *c = context;
	struct pollfd *polls = calloc(LINKS_MAX + 2, sizeof(*polls));

	while (polls && serve(c, polls))
		drop_strangers(c);
	free(polls); /* the nodes lose their connections */
	return NULL;
}

/* -- begin and end ---------------------------------------------------------------------------- */

/* Of IPv6 and IPv4. Return: a descriptor, or a negative errno. */
static int listen_anywhere(u16 *port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_storage bound;
	socklen_t bytes = sizeof(bound);
	const int off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	if (fd >= 0 && (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) || bind(fd, (struct sockaddr *)&six, sizeof(six)))) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd < 0 || bind(fd, (struct sockaddr *)&four, sizeof(four)))
			goto err;
	}
	if (listen(fd, SOMAXCONN) || getsockname(fd, (struct sockaddr *)&bound, &bytes))
		goto err;
	*port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port : ((struct sockaddr_in *)&bound)->sin_port);
	return fd;
err:
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Return: bytes of an address that another node may reach; 0: it is none. */
static socklen_t address_bytes(const struct sockaddr *address)
{
	if (address && address->sa_family == AF_INET)
		return sizeof(struct sockaddr_in);
	if (address && address->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr))
		return sizeof(struct sockaddr_in6);
	return 0;
}

/* Those of the loopback device come last: each node has them. */
static void list_addresses(struct controller_file *file)
{
	struct ifaddrs *all, *one;
	int is_loopback;

	if (getifaddrs(&all))
		return;
	for (is_loopback = 0; is_loopback < 2; is_loopback++)
		for (one = all; one && file->address_count < CONTROLLER_ADDRESSES_MAX; one = one->ifa_next) {
			socklen_t bytes = address_bytes(one->ifa_addr);
			char *text = file->addresses[file->address_count];

			if (bytes && !!(one->ifa_flags & IFF_LOOPBACK) == is_loopback &&
			    !getnameinfo(one->ifa_addr, bytes, text, sizeof(file->addresses[0]), NULL, 0, NI_NUMERICHOST))
				file->address_count++;
		}
	freeifaddrs(all);
}

/**
 * controller_start() - control the delays of a run on several nodes
 * @controller: out: to be freed by controller_stop(); NULL after an error
 * @path: a new file for the recorders of the nodes
 * @node: the node whose threads are delayed; NULL: of all, one after the other
 * @nodes: number of nodes
 *
 * Return: 0 or a negative errno.
 */
int controller_start(struct controller **controller, const char *path, const char *node, unsigned int nodes)
{
	struct controller *c = calloc(1, sizeof(*c));
	int err = 0;

	*controller = NULL;
	if (!c)
		return -ENOMEM;
	c->expected = nodes;
	c->delayer = -1;
	snprintf(c->file.node, sizeof(c->file.node), "%s", node ? node : "*");
	c->stop_fd = eventfd(0, EFD_CLOEXEC);
	c->listen_fd = listen_anywhere(&c->file.port);
	list_addresses(&c->file);
	if (c->stop_fd < 0 || c->listen_fd < 0)
		err = c->listen_fd < 0 ? c->listen_fd : -EMFILE;
	else if (getrandom(&c->file.key, sizeof(c->file.key), 0) != sizeof(c->file.key))
		err = -EIO;
	if (!err)
		err = controller_file_write(path, &c->file);
	if (!err)
		err = record_thread_start(&c->thread, control, c);
	if (!err) {
		*controller = c;
		return 0;
	}
	if (c->listen_fd >= 0)
		close(c->listen_fd);
	if (c->stop_fd >= 0)
		close(c->stop_fd);
	free(c);
	return err;
}

/**
 * controller_stop() - the run has ended
 * @controller: of controller_start()
 * @result: out
 */
void controller_stop(struct controller *controller, struct controller_result *result)
{
	const u64 one = 1;
	size_t i;

	if (write(controller->stop_fd, &one, sizeof(one)) != sizeof(one))
		shutdown(controller->listen_fd, SHUT_RDWR);
	pthread_join(controller->thread, NULL);
	*result = controller->result;
	for (i = 0; i < controller->link_count; i++)
		close(controller->links[i].fd);
	free(controller->links);
	close(controller->listen_fd);
	close(controller->stop_fd);
	free(controller);
}
