/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * receiver.h - the thread that takes messages from the kernel's socket.
 */
#ifndef IOTAPE_RECEIVER_H
#define IOTAPE_RECEIVER_H

#include <pthread.h>

#include "queue.h"

struct nl_sock;

struct receiver {
	struct nl_sock *socket;
	int session_fd;
	int control_fd;
	struct queue *queue;
	const char *reason; /* why the recording ended, "" if by request */
	pthread_t thread;
	bool is_ended;
};

int receiver_open(struct receiver *receiver, int session_fd, int control_fd, unsigned int buffers,
		  struct queue *queue);
int receiver_start(struct receiver *receiver);
void receiver_join(struct receiver *receiver);
void receiver_resize(struct nl_sock *socket, unsigned int buffers);
void receiver_close(struct receiver *receiver);

#endif
