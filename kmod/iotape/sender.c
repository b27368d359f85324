// SPDX-License-Identifier: GPL-2.0-only
/*
 * sender.c - the thread of a session that hands full buffers to the collector.
 *
 * The collector's socket is the flow control: while it is full, the sender sleeps
 * (delivery.c), full buffers accumulate, and backpressure.c makes the traced tasks wait or channel.c
 * drops their records.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include "session.h"

#define REFILL_RETRY_MS 20

/**
 * iot_session_kick() - there is work for the sender
 * @session: any; callable with interrupts off
 *
 * Two full barriers keep a kick from being lost. The caller stores the work (the head of a ring), then sets
 * @is_kicked; the sender clears it, then loads the work. Without a barrier between the two of the sender, it
 * may load the old head, and its store may then undo the caller's: the buffer would wait for flush_ms, which
 * may be a minute. The barrier of the caller is for machines on which its two stores may be seen in
 * different orders.
 */
void iot_session_kick(struct iot_session *session)
{
	xchg(&session->is_kicked, true); /* pairs with xchg() in sender() */
	wake_up(&session->sender_wait);
}

static void rotate_here(void *channel)
{
	iot_channel_rotate(channel);
}

static void give_back_here(void *channel)
{
	iot_channel_give_back(channel);
}

/* Call a function where the CPU of a channel is not between two lines of its own; cpus_read_lock() is held. */
static void call_on_cpu(struct iot_channel *channel, void (*call)(void *channel))
{
	unsigned long flags;

	if (cpu_online(channel->cpu)) {
		smp_call_function_single(channel->cpu, call, channel, 1);
		return;
	}
	local_irq_save(flags);
	call(channel);
	local_irq_restore(flags);
}

/* Hand over the buffers of all CPUs: no record waits longer than flush_ms. */
static void session_rotate(struct iot_session *session)
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct iot_channel *channel = per_cpu_ptr(session->channels, cpu);
		struct iot_buffer *buffer = READ_ONCE(channel->current_buffer);

		if (buffer && READ_ONCE(buffer->count))
			call_on_cpu(channel, rotate_here);
	}
	cpus_read_unlock();
}

/* Give the CPU its buffer back with a new message in it, however long that takes. */
static void channel_return(struct iot_channel *channel, struct iot_buffer *buffer)
{
	struct iot_session *session = channel->session;

	if (channel->buffers > channel->limit) {
		channel->buffers--;
		iot_buffer_free(buffer);
		return;
	}
	while (iot_buffer_refill(buffer, GFP_KERNEL | __GFP_NOWARN) && !kthread_should_stop())
		msleep(REFILL_RETRY_MS);
	if (!buffer->skb) {
		kfree(buffer);
		return;
	}
	iot_ring_put(&channel->empty, buffer);
	iot_backpressure_relax(session, channel);
}

/* Return: 1 if there was a buffer to send, 0 if not, or a negative errno. */
static int channel_send(struct iot_channel *channel)
{
	struct iot_session *session = channel->session;
	struct iot_buffer *buffer = iot_ring_get(&channel->full);
	u32 count, used_bytes;
	int err;

	if (!buffer)
		return 0;
	if (!buffer->count) { /* see iot_channel_give_back() */
		channel_return(channel, buffer);
		return 1;
	}
	count = buffer->count;
	used_bytes = buffer->used_bytes;
	err = iot_delivery_put(&session->delivery, iot_buffer_seal(buffer));
	if (!err) {
		session->sent_records += count;
		WRITE_ONCE(session->sent_bytes, session->sent_bytes + used_bytes);
	}
	channel_return(channel, buffer);
	return err ?: 1;
}

/* Send all full buffers, one of each CPU in turn. */
static int session_send(struct iot_session *session)
{
	bool is_any;
	int cpu, err;

	do {
		is_any = false;
		for_each_possible_cpu(cpu) {
			err = channel_send(per_cpu_ptr(session->channels, cpu));
			if (err < 0)
				return err;
			is_any |= err > 0;
		}
	} while (is_any);
	return 0;
}

/* Only the sender adds empty buffers. Return: 0 or -ENOMEM. */
static int channel_grow(struct iot_channel *channel, u32 buffers)
{
	struct iot_buffer *buffer;

	while (channel->buffers < buffers) {
		buffer = iot_buffer_new(channel->cpu);
		if (!buffer)
			return -ENOMEM;
		channel->buffers++;
		iot_ring_put(&channel->empty, buffer);
	}
	return 0;
}

static void session_set_limit(struct iot_session *session, u32 buffers)
{
	int cpu;

	iot_backpressure_resize(&session->backpressure, buffers);
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct iot_channel *channel = per_cpu_ptr(session->channels, cpu);

		channel->limit = buffers;
		if (channel->buffers > buffers)
			call_on_cpu(channel, give_back_here);
		iot_backpressure_relax(session, channel);
	}
	cpus_read_unlock();
}

/* Return: 0; -ENOMEM, and the number of buffers is as before. */
static int session_resize(struct iot_session *session, u32 buffers)
{
	int cpu, err = 0;

	for_each_possible_cpu(cpu)
		if (!err)
			err = channel_grow(per_cpu_ptr(session->channels, cpu), buffers);
	if (!err)
		WRITE_ONCE(session->buffers, buffers);
	session_set_limit(session, session->buffers);
	return err;
}

/*
 * A change that the sender makes, or that the collector is to make when it has all records from before it. The sender
 * has sent the full buffers, and now sends the rest.
 */
static int session_change(struct iot_session *session)
{
	struct iot_message_mark mark;
	int err = 0;

	if (!iot_ctl_is_due(session, &mark))
		return 0;
	if (le32_to_cpu(mark.verb) == IOT_CTL_BUFFERS) {
		err = session_resize(session, le32_to_cpu(mark.value));
		iot_ctl_done(session, le64_to_cpu(mark.number), err);
		if (err)
			return 0;
	}
	session_rotate(session);
	err = session_send(session);
	if (!err)
		err = iot_mailboxes_send(session, U64_MAX);
	if (!err || err == -ENOMEM)
		err = iot_message_send_mark(session, &mark);
	if (err == -ENOMEM)
		iot_ctl_done(session, le64_to_cpu(mark.number), err);
	return err;
}

static u64 refused_of(const struct iot_session *session, int index)
{
	u64 refused = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		refused += per_cpu_ptr(session->channels, cpu)->refused_of[index];
	return refused;
}

static int session_send_end(struct iot_session *session)
{
	struct iot_message_end end = {};
	u64 lost = session->mailboxes.lost, refused = 0;
	int cpu, err, i;

	for_each_possible_cpu(cpu) {
		lost += per_cpu_ptr(session->channels, cpu)->lost;
		refused += per_cpu_ptr(session->channels, cpu)->refused;
	}
	end.records = cpu_to_le64(session->sent_records);
	end.lost = cpu_to_le64(lost);
	end.waits = cpu_to_le64(atomic64_read(&session->backpressure.waits));
	end.end_ns = cpu_to_le64(session->end_ns);
	end.refused = cpu_to_le64(refused);
	for (i = 0; i < IOT_REFUSED_KINDS; i++)
		end.refused_of[i] = cpu_to_le64(refused_of(session, i));
	/* Without it the collector would wait for ever, so it is sent however long that takes. */
	while ((err = iot_message_send_end(session, &end)) == -ENOMEM && !kthread_should_stop())
		msleep(REFILL_RETRY_MS);
	return err;
}

/* The channels have no writers any more: hand over the remaining records. */
static int session_drain(struct iot_session *session)
{
	int err;

	session_rotate(session);
	err = session_send(session);
	while (!err && (err = iot_mailboxes_send(session, session->end_ns)) == -ENOMEM &&
	       !kthread_should_stop()) {
		msleep(REFILL_RETRY_MS);
		err = 0;
	}
	if (!err)
		err = session_send_end(session);
	if (!err)
		WRITE_ONCE(session->state, IOT_STATE_ENDED);
	return err;
}

static bool sender_has_work(struct iot_session *session)
{
	return READ_ONCE(session->is_kicked) || kthread_should_stop();
}

static int sender(void *data)
{
	struct iot_session *session = data;
	bool is_open = true;

	/* The wait for room may last for ever, so a signal ends it: see iot_sender_stop(). None from outside. */
	allow_kernel_signal(SIGKILL);
	while (!kthread_should_stop()) {
		int err = 0;

		if (!wait_event_interruptible_timeout(session->sender_wait,
						      sender_has_work(session),
						      msecs_to_jiffies(session->flush_ms)) &&
		    is_open)
			session_rotate(session);
		xchg(&session->is_kicked, false); /* pairs with xchg() in iot_session_kick() */
		if (!is_open) {
			iot_delivery_purge(&session->delivery);
			continue;
		}
		if (READ_ONCE(session->state) == IOT_STATE_DRAINING) {
			err = session_drain(session);
			is_open = false;
		} else {
			err = session_send(session);
			if (!err)
				err = iot_mailboxes_send(session, U64_MAX);
			if (!err)
				err = session_change(session);
			if (err == -ENOMEM)
				err = 0; /* next time */
		}
		if (!err && iot_delivery_has_ended(&session->delivery))
			err = -ECONNREFUSED;
		if (err) {
			is_open = false;
			iot_session_fail(session);
			iot_delivery_purge(&session->delivery);
		}
	}
	return 0;
}

/**
 * iot_sender_start() - start the thread of a session that has got its collector
 * @session: keeps it until iot_sender_stop()
 *
 * Return: 0 or -ENOMEM.
 */
int iot_sender_start(struct iot_session *session)
{
	struct task_struct *thread =
		kthread_run(sender, session, "iotape/%llu", session->number);

	if (IS_ERR(thread))
		return PTR_ERR(thread);
	session->sender = thread;
	return 0;
}

/**
 * iot_sender_stop() - end the thread, even if it sleeps in a collector's full socket
 * @session: quiescent; the caller does not hold iot_control_lock
 */
void iot_sender_stop(struct iot_session *session)
{
	if (!session->sender)
		return;
	send_sig(SIGKILL, session->sender, 1);
	kthread_stop(session->sender);
	session->sender = NULL;
}
