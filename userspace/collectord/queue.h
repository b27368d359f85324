/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - messages on their way from the receiver thread to the sink thread.
 *
 * liburcu's wait-free queue, one producer and one consumer, with a bound: when the sink
 * is too far behind, the receiver waits, the kernel's socket fills, and the kernel's
 * policy decides. A message is the producer's until queue_put(), then the consumer's.
 */
#ifndef IOTAPE_QUEUE_H
#define IOTAPE_QUEUE_H

#include <iotape/netlink.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <urcu/wfcqueue.h>

enum message_kind {
	MESSAGE_RECORDS,
	MESSAGE_MARK,	/* `mark` is set: do something, and answer */
	MESSAGE_END,	/* nothing follows; `end` and `reason` are set */
	MESSAGE_BROKEN, /* the socket failed with `error`; nothing follows */
};

struct message {
	struct cds_wfcq_node node;
	enum message_kind kind;
	int error;
	struct iot_message_head head;
	struct iot_message_end end;
	struct iot_message_mark mark;
	const char *reason; /* as for sink_conclude() */
	size_t bytes;
	unsigned char records[];
};

struct queue {
	struct cds_wfcq_head head;
	struct cds_wfcq_tail tail;
	sem_t filled; /* messages in the queue */
	sem_t room;   /* messages that may still be put into it */
};

int queue_init(struct queue *queue, unsigned int messages_max);
void queue_exit(struct queue *queue);
struct message *message_new(enum message_kind kind, size_t bytes);
void queue_put(struct queue *queue, struct message *message);
struct message *queue_get(struct queue *queue, int timeout_ms);

#endif
