// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink.c - the generic netlink family: bind a collector, build and send its messages.
 *
 * A data message is laid out when its buffer is created, and records are written directly into
 * it. iot_buffer_seal() fills in its head and trims the unused rest.
 */
#include <iotape/netlink.h>

#include <linux/netlink.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "session.h"

static int bind_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[IOT_ATTR_SESSION_FD];
	struct sock *collector = NETLINK_CB(skb).sk; /* whose owner is in sendmsg(2) */
	struct iot_session *session;
	int err;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "bind: no session descriptor given");
		return -EINVAL;
	}
	session = iot_session_get_fd(nla_get_s32(attr));
	if (IS_ERR(session)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "bind: the descriptor is no session, or that of another user");
		return PTR_ERR(session);
	}
	if (!session->only.is_on && !netlink_capable(skb, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack, "bind: without CAP_NET_ADMIN");
		iot_session_put(session);
		return -EPERM;
	}
	err = iot_session_bind(session, collector);
	if (err == -EBUSY)
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "bind: the session has a collector");
	iot_session_put(session);
	return err;
}

static const struct nla_policy policy[IOT_ATTR_MAX + 1] = {
	[IOT_ATTR_SESSION_FD] = { .type = NLA_S32 },
	[IOT_ATTR_HEAD] = { .type = NLA_REJECT },
	[IOT_ATTR_RECORDS] = { .type = NLA_REJECT },
	[IOT_ATTR_END] = { .type = NLA_REJECT },
};

static const struct genl_ops ops[] = {
	{
		.cmd = IOT_CMD_BIND,
		.doit = bind_doit,
	},
};

static struct genl_family family = {
	.name = IOT_GENL_NAME,
	.version = IOT_GENL_VERSION,
	.maxattr = IOT_ATTR_MAX,
	.policy = policy,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = IOT_CMD_BIND + 1,
};

/**
 * iot_message_new() - lay out an empty data message
 * @buffer: whose; its skb, head and data are set
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM.
 */
int iot_message_new(struct iot_buffer *buffer, gfp_t gfp)
{
	struct sk_buff *skb;
	struct nlattr *attr;

	skb = genlmsg_new(nla_total_size(sizeof(struct iot_message_head)) +
				  nla_total_size(IOT_BUFFER_BYTES),
			  gfp);
	if (!skb)
		return -ENOMEM;
	if (!genlmsg_put(skb, 0, 0, &family, 0, IOT_CMD_DATA))
		goto err_layout;
	attr = nla_reserve(skb, IOT_ATTR_HEAD, sizeof(struct iot_message_head));
	if (!attr)
		goto err_layout;
	buffer->head = nla_data(attr);
	attr = nla_reserve(skb, IOT_ATTR_RECORDS, IOT_BUFFER_BYTES);
	if (!attr)
		goto err_layout;
	buffer->data = nla_data(attr);
	buffer->skb = skb;
	return 0;

err_layout:
	kfree_skb(skb);
	return -ENOMEM;
}

/**
 * iot_message_send_end() - announce the end of the stream to the collector
 * @session: whose collector; the caller may sleep
 * @end: totals of the session
 *
 * Return: 0 or a negative errno.
 */
int iot_message_send_end(struct iot_session *session, const struct iot_message_end *end)
{
	size_t bytes = session->gate.had_program ? sizeof(*end) : offsetof(struct iot_message_end, refused_of);
	struct sk_buff *skb = genlmsg_new(nla_total_size(bytes), GFP_KERNEL);
	void *head;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put(skb, 0, 0, &family, 0, IOT_CMD_END);
	if (!head || nla_put(skb, IOT_ATTR_END, bytes, end)) {
		kfree_skb(skb);
		return -ENOMEM;
	}
	genlmsg_end(skb, head);
	return iot_delivery_put(&session->delivery, skb);
}

/**
 * iot_message_send_mark() - ask the collector to do something at this place of the stream
 * @session: whose collector; the caller may sleep
 * @mark: what
 *
 * Return: 0 or a negative errno.
 */
int iot_message_send_mark(struct iot_session *session, const struct iot_message_mark *mark)
{
	struct sk_buff *skb = genlmsg_new(nla_total_size(sizeof(*mark)), GFP_KERNEL);
	void *head;

	if (!skb)
		return -ENOMEM;
	head = genlmsg_put(skb, 0, 0, &family, 0, IOT_CMD_MARK);
	if (!head || nla_put(skb, IOT_ATTR_MARK, sizeof(*mark), mark)) {
		kfree_skb(skb);
		return -ENOMEM;
	}
	genlmsg_end(skb, head);
	return iot_delivery_put(&session->delivery, skb);
}

static int socket_released(struct notifier_block *block, unsigned long event, void *data)
{
	struct netlink_notify *notify = data;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC)
		iot_sessions_wake_orphans();
	return NOTIFY_DONE;
}

static struct notifier_block release_notifier = {
	.notifier_call = socket_released,
};

/**
 * iot_netlink_init() - register the netlink family, and watch for sockets of collectors that close
 *
 * Return: 0 or a negative errno.
 */
int iot_netlink_init(void)
{
	int err = genl_register_family(&family);

	if (err)
		return err;
	err = netlink_register_notifier(&release_notifier);
	if (err)
		genl_unregister_family(&family);
	return err;
}

/**
 * iot_netlink_exit() - undo iot_netlink_init(); no session exists
 */
void iot_netlink_exit(void)
{
	netlink_unregister_notifier(&release_notifier);
	genl_unregister_family(&family);
}
