/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * channel.h - the path from one CPU to the collector: each buffer is a complete message to send.
 *
 * A channel has a current buffer and two rings. The CPU itself, with interrupts
 * off, fills the current buffer, puts it into `full` when it has no more room, and
 * takes the next from `empty`. The session's sender thread does the opposite. Each
 * ring thus has one producer and one consumer and needs no lock:
 *
 *                    producer               consumer
 *   full             this CPU, irqs off     sender
 *   empty            sender                 this CPU, irqs off
 *   current, counts  this CPU, irqs off     - (others read them unlocked, for status)
 *
 * The sender makes a CPU give up a buffer that is not full by an interrupt to it. A buffer without records on `full`
 * is one too many, after the number of buffers was made smaller.
 */
#ifndef IOT_CHANNEL_H
#define IOT_CHANNEL_H

#include <iotape/netlink.h>

#include <linux/irq_work.h>
#include <linux/skbuff.h>
#include <linux/types.h>

struct iot_session;

/**
 * struct iot_buffer - one message in the making
 * @skb: the message; its data area is allocated in full and trimmed before sending
 * @head: where its struct iot_message_head lies
 * @data: where its records lie
 * @cpu: whose it is
 * @used_bytes: bytes of records in it
 * @count: records in it
 * @sequence: number of the first of them on this CPU
 * @lost: records of this CPU lost up to the last of them
 * @first_ns: end time of the first of them
 * @last_ns: end time of the last of them
 */
struct iot_buffer {
	struct sk_buff *skb;
	struct iot_message_head *head;
	u8 *data;
	u32 cpu;
	u32 used_bytes;
	u32 count;
	u64 sequence;
	u64 lost;
	u64 first_ns;
	u64 last_ns;
};

struct iot_ring {
	struct iot_buffer **slots;
	u32 mask;
	u32 head ____cacheline_aligned_in_smp; /* producer's */
	u32 tail ____cacheline_aligned_in_smp; /* consumer's */
};

/**
 * struct iot_channel - the path of one CPU to the collector
 * @session: whose
 * @current_buffer: is filled; NULL if the collector is behind
 * @records: made so far
 * @lost: lost so far
 * @announced: records that said what an id stands for
 * @refused: operations that a filter did not admit on this CPU
 * @refused_of: of them those that a filter program refused, by kind from IOT_REFUSED_FIRST
 * @left_out: operations that a pause left out on this CPU
 * @buffers: how many there are; written by the sender
 * @limit: how many there should be; written by the sender
 * @is_behind: fewer than half of its buffers are empty
 * @is_quiet: the CPU is inside a wake-up, and must not wake anybody itself
 * @cpu: which
 * @late: does the wake-ups that the CPU could not do then
 * @full: buffers for the sender
 * @empty: buffers from it
 */
struct iot_channel {
	struct iot_session *session;
	struct iot_buffer *current_buffer;
	u64 records;
	u64 lost;
	u64 announced;
	u64 refused;
	u64 refused_of[IOT_REFUSED_KINDS];
	u64 left_out;
	u32 buffers;
	u32 limit;
	bool is_behind;
	bool is_quiet;
	u32 cpu;
	struct irq_work late;
	struct iot_ring full;
	struct iot_ring empty;
};

int iot_channel_init(struct iot_channel *channel, struct iot_session *session, u32 cpu, u32 buffers);
void iot_channel_exit(struct iot_channel *channel);
void iot_channel_rotate(struct iot_channel *channel);
void iot_channel_give_back(struct iot_channel *channel);
u8 *iot_channel_reserve(struct iot_channel *channel, u32 bytes, u64 now_ns);

struct iot_buffer *iot_ring_peek(struct iot_ring *ring);
struct iot_buffer *iot_ring_get(struct iot_ring *ring);
void iot_ring_put(struct iot_ring *ring, struct iot_buffer *buffer);
u32 iot_ring_count(const struct iot_ring *ring);

struct iot_buffer *iot_buffer_new(u32 cpu);
void iot_buffer_free(struct iot_buffer *buffer);
int iot_buffer_refill(struct iot_buffer *buffer, gfp_t gfp);
struct sk_buff *iot_buffer_seal(struct iot_buffer *buffer);

#endif
