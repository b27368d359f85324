// SPDX-License-Identifier: GPL-2.0-only
/*
 * receiver.c - bind a socket to the session, and pass on its messages.
 */
#include "receiver.h"

#include <errno.h>
#include <iotape/control.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "collectord.h"

/*
 * The kernel counts the memory that a message takes, which is a little more than it holds.
 * The messages that wait here are bounded in proportion to the kernel's buffers.
 */
#define SOCKET_BYTES_PER_BUFFER (1 << 20)
#define SOCKET_BYTES_MAX	(64 << 20)
#define MESSAGE_ROOM_BYTES  (64 << 10)

/* libnl has error numbers of its own; these are the ones that can happen here. */
static int errno_of_nl(int err)
{
	switch (-err) {
	case 0:
		return 0;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_BUSY:
		return -EBUSY;
	default:
		return -EIO;
	}
}

static void put_broken(struct receiver *receiver, int error)
{
	struct message *message = message_new(MESSAGE_BROKEN, 0);

	receiver->is_ended = true;
	if (!message)
		abort(); /* a few bytes, without which the other thread cannot be notified */
	message->error = error;
	queue_put(receiver->queue, message);
}

static int take_records(struct receiver *receiver, struct nlattr **attrs)
{
	struct nlattr *head = attrs[IOT_ATTR_HEAD], *records = attrs[IOT_ATTR_RECORDS];
	struct message *message;

	if (!head || !records || nla_len(head) != (int)sizeof(message->head))
		return -EBADMSG;
	message = message_new(MESSAGE_RECORDS, (size_t)nla_len(records));
	if (!message)
		return -ENOMEM;
	memcpy(&message->head, nla_data(head), sizeof(message->head));
	memcpy(message->records, nla_data(records), message->bytes);
	queue_put(receiver->queue, message);
	return 0;
}

static int take_end(struct receiver *receiver, struct nlattr *end)
{
	struct message *message;

	if (!end || nla_len(end) < (int)offsetof(struct iot_message_end, refused) ||
	    nla_len(end) > (int)sizeof(message->end))
		return -EBADMSG;
	message = message_new(MESSAGE_END, 0);
	if (!message)
		return -ENOMEM;
	memset(&message->end, 0, sizeof(message->end));
	memcpy(&message->end, nla_data(end), (size_t)nla_len(end));
	message->reason = receiver->reason;
	receiver->is_ended = true;
	queue_put(receiver->queue, message);
	return 0;
}

static int take_mark(struct receiver *receiver, struct nlattr *mark)
{
	struct message *message;

	if (!mark || nla_len(mark) != (int)sizeof(message->mark))
		return -EBADMSG;
	message = message_new(MESSAGE_MARK, 0);
	if (!message)
		return -ENOMEM;
	memcpy(&message->mark, nla_data(mark), sizeof(message->mark));
	queue_put(receiver->queue, message);
	return 0;
}

static int take_message(struct nl_msg *msg, void *argument)
{
	struct receiver *receiver = argument;
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *attrs[IOT_ATTR_MAX + 1];
	struct genlmsghdr *head = nlmsg_data(nlh);
	int err = genlmsg_parse(nlh, 0, attrs, IOT_ATTR_MAX, NULL) ? -EBADMSG : 0;

	if (!err && head->cmd == IOT_CMD_DATA)
		err = take_records(receiver, attrs);
	else if (!err && head->cmd == IOT_CMD_MARK)
		err = take_mark(receiver, attrs[IOT_ATTR_MARK]);
	else if (!err && head->cmd == IOT_CMD_END)
		err = take_end(receiver, attrs[IOT_ATTR_END]);
	if (err)
		put_broken(receiver, err);
	return receiver->is_ended ? NL_STOP : NL_OK;
}

static void *receive(void *argument)
{
	struct receiver *receiver = argument;
	struct pollfd polls[] = {
		{ .fd = nl_socket_get_fd(receiver->socket), .events = POLLIN },
		{ .fd = receiver->control_fd, .events = POLLIN },
	};
	int err;

	while (!receiver->is_ended) {
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			put_broken(receiver, -errno);
		if (polls[1].revents) {
			polls[1].fd = -1; /* once */
			polls[1].revents = 0;
			receiver->reason = collector_reason(receiver->control_fd);
			if (ioctl(receiver->session_fd, IOT_IOC_STOP))
				put_broken(receiver, -errno);
		}
		if (receiver->is_ended || !polls[0].revents)
			continue;
		err = nl_recvmsgs_default(receiver->socket);
		if (err < 0 && !receiver->is_ended)
			put_broken(receiver, errno_of_nl(err));
	}
	return NULL;
}

static int bind_session(struct receiver *receiver, int family)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err = -ENOMEM;

	if (!msg)
		return err;
	if (genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, NLM_F_ACK, IOT_CMD_BIND,
			IOT_GENL_VERSION) &&
	    !nla_put_s32(msg, IOT_ATTR_SESSION_FD, receiver->session_fd)) {
		err = nl_send_auto(receiver->socket, msg);
		if (err >= 0)
			err = nl_wait_for_ack(receiver->socket);
		err = errno_of_nl(err < 0 ? err : 0);
	}
	nlmsg_free(msg);
	return err;
}

/**
 * receiver_resize() - let more or less wait in the socket
 * @socket: of the receiver
 * @buffers: buffers of each CPU that the session has
 *
 * More than the limit for ordinary users if permitted; otherwise that limit.
 */
void receiver_resize(struct nl_sock *socket, unsigned int buffers)
{
	int bytes = buffers < SOCKET_BYTES_MAX / SOCKET_BYTES_PER_BUFFER ?
			    (int)buffers * SOCKET_BYTES_PER_BUFFER : SOCKET_BYTES_MAX;

	if (setsockopt(nl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(nl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

/**
 * receiver_open() - become the receiver of a session
 * @receiver: filled in
 * @session_fd: descriptor of the session, without a receiver
 * @control_fd: a byte on it, or its end, means: stop
 * @buffers: buffers of each CPU that the session has
 * @queue: where messages go
 *
 * Return: 0 or a negative errno.
 */
int receiver_open(struct receiver *receiver, int session_fd, int control_fd, unsigned int buffers,
		  struct queue *queue)
{
	int err, family;

	*receiver = (struct receiver){
		.socket = nl_socket_alloc(),
		.session_fd = session_fd,
		.control_fd = control_fd,
		.queue = queue,
		.reason = "",
	};
	if (!receiver->socket)
		return -ENOMEM;
	err = genl_connect(receiver->socket);
	if (err < 0)
		goto err_socket;
	family = err = genl_ctrl_resolve(receiver->socket, IOT_GENL_NAME);
	if (err < 0)
		goto err_socket;
	receiver_resize(receiver->socket, buffers);
	nl_socket_set_msg_buf_size(receiver->socket, MESSAGE_ROOM_BYTES);
	nl_socket_disable_msg_peek(receiver->socket);
	err = bind_session(receiver, family);
	if (err) {
		receiver_close(receiver);
		return err;
	}
	nl_socket_disable_seq_check(receiver->socket);
	nl_socket_disable_auto_ack(receiver->socket);
	nl_socket_modify_cb(receiver->socket, NL_CB_VALID, NL_CB_CUSTOM, take_message, receiver);
	return 0;

err_socket:
	receiver_close(receiver);
	return errno_of_nl(err);
}

/**
 * receiver_start() - start the thread
 *
 * Return: 0 or a negative errno.
 */
int receiver_start(struct receiver *receiver)
{
	return -pthread_create(&receiver->thread, NULL, receive, receiver);
}

/**
 * receiver_join() - wait for the thread, which ends after MESSAGE_END or MESSAGE_BROKEN
 */
void receiver_join(struct receiver *receiver)
{
	pthread_join(receiver->thread, NULL);
}

/**
 * receiver_close() - close the socket
 */
void receiver_close(struct receiver *receiver)
{
	nl_socket_free(receiver->socket);
	receiver->socket = NULL;
}
