// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue.c - the bounded queue between receiver and sink.
 */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/**
 * queue_init() - make an empty queue
 * @queue: the queue
 * @messages_max: its bound
 *
 * Return: 0 or a negative errno.
 */
int queue_init(struct queue *queue, unsigned int messages_max)
{
	cds_wfcq_init(&queue->head, &queue->tail);
	if (sem_init(&queue->filled, 0, 0) || sem_init(&queue->room, 0, messages_max))
		return -errno;
	return 0;
}

/**
 * queue_exit() - free a queue, which is no longer in use, and its messages
 */
void queue_exit(struct queue *queue)
{
	struct cds_wfcq_node *node;

	while ((node = __cds_wfcq_dequeue_blocking(&queue->head, &queue->tail)))
		free(caa_container_of(node, struct message, node));
	sem_destroy(&queue->filled);
	sem_destroy(&queue->room);
	cds_wfcq_destroy(&queue->head, &queue->tail);
}

/**
 * message_new() - allocate a message
 * @kind: its kind
 * @bytes: of records in it
 *
 * Return: the message, to be freed with free(); NULL if out of memory.
 */
struct message *message_new(enum message_kind kind, size_t bytes)
{
	struct message *message = calloc(1, sizeof(*message) + bytes);

	if (!message)
		return NULL;
	cds_wfcq_node_init(&message->node);
	message->kind = kind;
	message->bytes = bytes;
	return message;
}

/**
 * queue_put() - add a message, which is the consumer's from now on; waits for room
 */
void queue_put(struct queue *queue, struct message *message)
{
	while (sem_wait(&queue->room) && errno == EINTR)
		;
	cds_wfcq_enqueue(&queue->head, &queue->tail, &message->node);
	sem_post(&queue->filled);
}

/**
 * queue_get() - take the oldest message, which is the caller's from now on
 * @queue: the queue
 * @timeout_ms: how long to wait for one
 *
 * Return: the message; NULL if none came.
 */
struct message *queue_get(struct queue *queue, int timeout_ms)
{
	struct cds_wfcq_node *node;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (sem_timedwait(&queue->filled, &until))
		if (errno != EINTR)
			return NULL;
	node = __cds_wfcq_dequeue_blocking(&queue->head, &queue->tail);
	sem_post(&queue->room);
	return caa_container_of(node, struct message, node);
}
