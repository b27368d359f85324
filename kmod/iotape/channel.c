// SPDX-License-Identifier: GPL-2.0-only
/*
 * channel.c - per-CPU buffers: reserve room for a record, hand a buffer to the sender, make a message of it.
 */
#include "channel.h"

#include <linux/export.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/netlink.h>

#include "iotape.h"
#include "session.h"

/* @slots: a power of two */
static int ring_init(struct iot_ring *ring, u32 slots)
{
	ring->slots = kcalloc(slots, sizeof(*ring->slots), GFP_KERNEL);
	if (!ring->slots)
		return -ENOMEM;
	ring->mask = slots - 1;
	return 0;
}

static void ring_exit(struct iot_ring *ring)
{
	kfree(ring->slots);
}

/**
 * iot_ring_put() - add a buffer
 * @ring: has room for all buffers, so it is never full
 * @buffer: becomes the ring's
 */
void iot_ring_put(struct iot_ring *ring, struct iot_buffer *buffer)
{
	u32 head = ring->head;

	ring->slots[head & ring->mask] = buffer;
	smp_store_release(&ring->head, head + 1); /* pairs with iot_ring_peek() */
}

/**
 * iot_ring_peek() - look at the oldest buffer
 * @ring: keeps it
 *
 * Return: the buffer, NULL if there is none.
 */
struct iot_buffer *iot_ring_peek(struct iot_ring *ring)
{
	u32 tail = ring->tail;

	if (smp_load_acquire(&ring->head) == tail) /* pairs with iot_ring_put() */
		return NULL;
	return ring->slots[tail & ring->mask];
}

/**
 * iot_ring_get() - take the oldest buffer
 * @ring: whose it was
 *
 * Return: the buffer, NULL if there is none.
 */
struct iot_buffer *iot_ring_get(struct iot_ring *ring)
{
	struct iot_buffer *buffer = iot_ring_peek(ring);

	if (buffer)
		smp_store_release(&ring->tail, ring->tail + 1);
	return buffer;
}

/**
 * iot_ring_count() - buffers in a ring
 * @ring: any
 *
 * Return: the number of a moment ago, if the producer or the consumer is at work.
 */
u32 iot_ring_count(const struct iot_ring *ring)
{
	return READ_ONCE(ring->head) - READ_ONCE(ring->tail);
}

/**
 * iot_buffer_refill() - give a buffer a new, empty message
 * @buffer: one whose message was sent, or never had one
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM.
 */
int iot_buffer_refill(struct iot_buffer *buffer, gfp_t gfp)
{
	int err = iot_message_new(buffer, gfp);

	if (err)
		return err;
	buffer->used_bytes = 0;
	buffer->count = 0;
	return 0;
}

/**
 * iot_buffer_free() - free a buffer
 * @buffer: no longer in use; may be NULL
 */
void iot_buffer_free(struct iot_buffer *buffer)
{
	if (!buffer)
		return;
	kfree_skb(buffer->skb);
	kfree(buffer);
}

/**
 * iot_buffer_new() - make a buffer
 * @cpu: whose
 *
 * Return: the buffer with a message in it, or NULL.
 */
struct iot_buffer *iot_buffer_new(u32 cpu)
{
	struct iot_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (!buffer)
		return NULL;
	buffer->cpu = cpu;
	if (iot_buffer_refill(buffer, GFP_KERNEL)) {
		kfree(buffer);
		return NULL;
	}
	return buffer;
}

/**
 * iot_buffer_seal() - make a message of the records in a buffer
 * @buffer: with records; has no message afterwards
 *
 * Return: the message, which is the caller's.
 */
struct sk_buff *iot_buffer_seal(struct iot_buffer *buffer)
{
	struct sk_buff *skb = buffer->skb;
	struct nlattr *attr = (struct nlattr *)(buffer->data - NLA_HDRLEN);
	struct nlmsghdr *head = (struct nlmsghdr *)skb->data;
	u32 total_bytes;

	*buffer->head = (struct iot_message_head){
		.sequence = cpu_to_le64(buffer->sequence),
		.lost = cpu_to_le64(buffer->lost),
		.first_ns = cpu_to_le64(buffer->first_ns),
		.last_ns = cpu_to_le64(buffer->last_ns),
		.cpu = cpu_to_le32(buffer->cpu),
		.count = cpu_to_le32(buffer->count),
	};
	attr->nla_len = nla_attr_size(buffer->used_bytes);
	total_bytes = buffer->data - skb->data + NLA_ALIGN(buffer->used_bytes);
	memset(buffer->data + buffer->used_bytes, 0, nla_padlen(buffer->used_bytes));
	skb_trim(skb, total_bytes);
	head->nlmsg_len = total_bytes;
	head->nlmsg_pid = 0;
	buffer->skb = NULL;
	return skb;
}

/* -- the buffers of a CPU --------------------------------------------------------------------- */

/* The CPU has a full buffer for the sender, or few empty ones. */
static void channel_report(struct iot_channel *channel, bool is_full)
{
	if (is_full)
		iot_session_kick(channel->session);
	iot_backpressure_check(channel->session, channel);
}

/* The same a moment after a wake-up; current is, as a rule, still the task that caused it, and may have to wait. */
static void channel_late(struct irq_work *work)
{
	struct iot_channel *channel = container_of(work, struct iot_channel, late);

	channel_report(channel, true);
	if (iot_backpressure_is_on(&channel->session->backpressure))
		iot_backpressure_arm_interrupted(channel->session);
}

/**
 * iot_channel_init() - make the buffers of one CPU
 * @channel: zeroed
 * @session: whose
 * @cpu: which
 * @buffers: how many
 *
 * Return: 0 or -ENOMEM; iot_channel_exit() is right in both cases.
 */
int iot_channel_init(struct iot_channel *channel, struct iot_session *session, u32 cpu, u32 buffers)
{
	channel->session = session;
	channel->cpu = cpu;
	channel->buffers = buffers;
	channel->limit = buffers;
	init_irq_work(&channel->late, channel_late);
	BUILD_BUG_ON_NOT_POWER_OF_2(IOT_BUFFERS_MAX);
	if (ring_init(&channel->full, IOT_BUFFERS_MAX) || ring_init(&channel->empty, IOT_BUFFERS_MAX))
		return -ENOMEM;
	while (buffers--) {
		struct iot_buffer *buffer = iot_buffer_new(cpu);

		if (!buffer)
			return -ENOMEM;
		iot_ring_put(&channel->empty, buffer);
	}
	channel->current_buffer = iot_ring_get(&channel->empty);
	return 0;
}

/**
 * iot_channel_exit() - free the buffers
 * @channel: no longer in use
 */
void iot_channel_exit(struct iot_channel *channel)
{
	struct iot_buffer *buffer;

	iot_buffer_free(channel->current_buffer);
	if (channel->full.slots)
		while ((buffer = iot_ring_get(&channel->full)))
			iot_buffer_free(buffer);
	if (channel->empty.slots)
		while ((buffer = iot_ring_get(&channel->empty)))
			iot_buffer_free(buffer);
	ring_exit(&channel->full);
	ring_exit(&channel->empty);
}

/**
 * iot_channel_rotate() - hand the current buffer over, if there is anything in it
 * @channel: this CPU's, with interrupts off; or that of a CPU that is not online
 *
 * Afterwards there may be no current buffer: the collector is behind.
 */
void iot_channel_rotate(struct iot_channel *channel)
{
	struct iot_buffer *buffer = channel->current_buffer;

	if (buffer) {
		if (!buffer->count)
			return;
		iot_ring_put(&channel->full, buffer);
	}
	channel->current_buffer = iot_ring_get(&channel->empty);
	if (unlikely(channel->is_quiet))
		irq_work_queue(&channel->late);
	else
		channel_report(channel, buffer);
}

/**
 * iot_channel_give_back() - hand over empty buffers that are too many
 * @channel: this CPU's, with interrupts off; or that of a CPU that is not online
 *
 * Buffers in use are given back after they have been sent.
 */
void iot_channel_give_back(struct iot_channel *channel)
{
	u32 excess = channel->buffers - channel->limit;
	struct iot_buffer *buffer;

	while (excess-- && (buffer = iot_ring_get(&channel->empty)))
		iot_ring_put(&channel->full, buffer);
}

/**
 * iot_channel_reserve() - room for one record, which the caller fills at once
 * @channel: this CPU's, with interrupts off
 * @bytes: of the record
 * @now_ns: when the record ends; does not decrease
 *
 * Return: where the record goes; NULL if it is lost, which has been counted.
 */
u8 *iot_channel_reserve(struct iot_channel *channel, u32 bytes, u64 now_ns)
{
	struct iot_buffer *buffer = channel->current_buffer;
	u8 *p;

	if (unlikely(!buffer || buffer->used_bytes + bytes > IOT_BUFFER_BYTES)) {
		iot_channel_rotate(channel);
		buffer = channel->current_buffer;
		if (unlikely(!buffer)) {
			WRITE_ONCE(channel->lost, channel->lost + 1);
			return NULL;
		}
	}
	if (!buffer->count) {
		buffer->sequence = channel->records;
		buffer->first_ns = now_ns;
	}
	p = buffer->data + buffer->used_bytes;
	buffer->used_bytes += bytes;
	buffer->count++;
	buffer->lost = channel->lost;
	buffer->last_ns = now_ns;
	WRITE_ONCE(channel->records, channel->records + 1);
	return p;
}

/* -- room for a record -------------------------------------------------------------------------- */

/**
 * iot_slot_open() - get room for a record
 * @session: entered
 * @bytes: of the record, at most IOT_RECORD_MAX_BYTES
 * @slot: filled in
 *
 * The time is taken with interrupts off, so that one CPU's records are in order.
 *
 * Return: true, and interrupts are off until iot_slot_close(); false if the record
 * is lost. In both cases, if the collector is behind, current will wait for it before
 * it returns to user mode.
 */
bool iot_slot_open(struct iot_session *session, u32 bytes, struct iot_slot *slot)
{
	slot->session = session;
	local_irq_save(slot->flags);
	slot->now_ns = ktime_get_mono_fast_ns();
	slot->p = iot_channel_reserve(this_cpu_ptr(session->channels), bytes, slot->now_ns);
	if (likely(slot->p))
		return true;
	local_irq_restore(slot->flags);
	if (iot_backpressure_is_on(&session->backpressure)) /* otherwise a task that finds all buffers full would never wait */
		iot_backpressure_arm(session);
	return false;
}
EXPORT_SYMBOL_GPL(iot_slot_open);

/**
 * iot_slot_close() - the record is complete
 * @slot: open
 */
void iot_slot_close(struct iot_slot *slot)
{
	local_irq_restore(slot->flags);
	if (unlikely(iot_backpressure_is_on(&slot->session->backpressure)))
		iot_backpressure_arm(slot->session);
}
EXPORT_SYMBOL_GPL(iot_slot_close);

/**
 * iot_session_count_announced() - an announcement was written
 * @session: entered
 */
void iot_session_count_announced(struct iot_session *session)
{
	this_cpu_inc(session->channels->announced);
}
EXPORT_SYMBOL_GPL(iot_session_count_announced);

/**
 * iot_session_count_lost() - a record could not even be begun
 * @session: that it is missing from
 */
void iot_session_count_lost(struct iot_session *session)
{
	unsigned long flags;
	struct iot_channel *channel;

	local_irq_save(flags);
	channel = this_cpu_ptr(session->channels);
	WRITE_ONCE(channel->lost, channel->lost + 1);
	local_irq_restore(flags);
}
