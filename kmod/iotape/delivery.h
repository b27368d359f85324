/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * delivery.h - the socket that the messages of a session go to.
 *
 * A session is bound to a socket, not to the port number that the socket has: netlink_unicast() looks the
 * number up for each message, and another process may have bound it since its owner was killed. So the
 * session holds a reference of the socket from bind to its own end, and puts messages into that socket's
 * receive queue itself. A socket that was closed gets no message, and no other socket ever does.
 *
 * The reference is one of the struct sock, not of its file: the collector's end still closes the socket,
 * which then has SOCK_DEAD.
 *
 * Flow control: the messages that were not read yet count as the send buffer of @account, a socket of the
 * kernel's own. The receive buffer of the collector's socket (SO_RCVBUF) is the limit. The destructor of a
 * message is then the kernel's sock_wfree(), which wakes the sender when half of the messages have been
 * read. A destructor of this module could run after the module was unloaded.
 */
#ifndef IOT_DELIVERY_H
#define IOT_DELIVERY_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct socket;

/**
 * struct iot_delivery - where the messages of a session go
 * @to: socket of the collector, NULL before there is one
 * @account: its send buffer counts the messages in @to
 */
struct iot_delivery {
	struct sock *to;
	struct socket *account;
};

int iot_delivery_init(struct iot_delivery *delivery);
void iot_delivery_exit(struct iot_delivery *delivery);
void iot_delivery_open(struct iot_delivery *delivery, struct sock *to);
void iot_delivery_close(struct iot_delivery *delivery);
bool iot_delivery_has_ended(const struct iot_delivery *delivery);
void iot_delivery_wake(struct iot_delivery *delivery);
void iot_delivery_purge(struct iot_delivery *delivery);
int iot_delivery_put(struct iot_delivery *delivery, struct sk_buff *skb);

#endif
