// SPDX-License-Identifier: GPL-2.0-only
/*
 * delivery.c - put messages into the socket of a session's collector.
 */
#include "delivery.h"

#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/wait.h>
#include <net/net_namespace.h>
#include <net/sock.h>

/**
 * iot_delivery_init() - no collector yet
 * @delivery: zeroed
 *
 * Return: 0 or a negative errno; iot_delivery_exit() is right in both cases.
 */
int iot_delivery_init(struct iot_delivery *delivery)
{
	/* It is never bound, and counts memory only, so its network namespace does not matter. */
	return sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, &delivery->account);
}

/**
 * iot_delivery_exit() - release the sockets
 * @delivery: no longer in use, and readers under RCU have finished
 *
 * Messages that the collector has not read yet stay in its socket, if that is open.
 */
void iot_delivery_exit(struct iot_delivery *delivery)
{
	if (delivery->to)
		sock_put(delivery->to);
	if (delivery->account)
		sock_release(delivery->account);
}

/**
 * iot_delivery_open() - messages go to a socket from now on
 * @delivery: without one
 * @to: netlink socket of the collector; the caller keeps it from being closed meanwhile
 */
void iot_delivery_open(struct iot_delivery *delivery, struct sock *to)
{
	sock_hold(to);
	WRITE_ONCE(delivery->to, to);
}

/**
 * iot_delivery_close() - nothing will be sent to the socket after all
 * @delivery: open
 */
void iot_delivery_close(struct iot_delivery *delivery)
{
	struct sock *to = delivery->to;

	WRITE_ONCE(delivery->to, NULL);
	synchronize_rcu(); /* iot_delivery_has_ended() */
	sock_put(to);
}

/**
 * iot_delivery_has_ended() - was the collector's socket closed?
 * @delivery: any; the caller is in RCU, or else it keeps the delivery open
 */
bool iot_delivery_has_ended(const struct iot_delivery *delivery)
{
	const struct sock *to = READ_ONCE(delivery->to);

	return to && sock_flag(to, SOCK_DEAD);
}

/**
 * iot_delivery_wake() - let the sender look again whether the collector's socket was closed
 * @delivery: any; callable in any context but NMI
 */
void iot_delivery_wake(struct iot_delivery *delivery)
{
	wake_up_interruptible_all(sk_sleep(delivery->account->sk));
}

/**
 * iot_delivery_purge() - free messages that a collector left unread when it ended
 * @delivery: open; the caller is the sender
 */
void iot_delivery_purge(struct iot_delivery *delivery)
{
	if (iot_delivery_has_ended(delivery)) /* no file refers to it: no reader is left */
		skb_queue_purge(&delivery->to->sk_receive_queue);
}

/* A message that is mostly empty would be charged to the queue at its full size. */
static void cut(struct sk_buff *skb)
{
	int unused_bytes = skb_end_pointer(skb) - skb_tail_pointer(skb);

	if (unused_bytes * 2 >= skb->truesize)
		pskb_expand_head(skb, 0, -unused_bytes, GFP_KERNEL | __GFP_NOWARN | __GFP_NORETRY);
}

/*
 * Once the queue is full, it is filled again when half of it has been read: that is when sock_wfree() wakes.
 * The collector may change the size of its buffer at any time.
 */
static int wait_for_room(struct iot_delivery *delivery)
{
	struct sock *account = delivery->account->sk;

	WRITE_ONCE(account->sk_sndbuf, READ_ONCE(delivery->to->sk_rcvbuf));
	if (sk_wmem_alloc_get(account) < READ_ONCE(account->sk_sndbuf))
		return 0;
	if (wait_event_interruptible(*sk_sleep(account),
				     sock_writeable(account) || iot_delivery_has_ended(delivery)))
		return -EINTR;
	return 0;
}

/**
 * iot_delivery_put() - hand a message to the collector
 * @delivery: open; the caller is its only user but for iot_delivery_wake()
 * @skb: the message, consumed whatever happens
 *
 * Sleeps until the collector's socket has room. What LSMs and socket filters think of it is not asked: the
 * collector had to have CAP_NET_ADMIN, and a message must not be lost without being counted. Neither do
 * devices that mirror netlink (nlmon) get it.
 *
 * Return: 0; -ECONNREFUSED if the socket was closed; -EINTR if the sender got a signal.
 */
int iot_delivery_put(struct iot_delivery *delivery, struct sk_buff *skb)
{
	struct sock *to = delivery->to;
	int err;

	cut(skb);
	err = wait_for_room(delivery);
	if (!err && iot_delivery_has_ended(delivery))
		err = -ECONNREFUSED;
	if (err) {
		kfree_skb(skb);
		return err;
	}
	skb_set_owner_w(skb, delivery->account->sk);
	skb_queue_tail(&to->sk_receive_queue, skb);
	to->sk_data_ready(to);
	return 0;
}
