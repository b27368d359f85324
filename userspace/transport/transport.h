/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * transport.h - messages between the nodes of a replay: the interface of a library for an MPI.
 *
 * `iotape` is not linked with an MPI. It loads a library that is, and that has one symbol,
 * `iotape_transport`. Such a library knows nothing of replays: it carries bytes. The protocol is in
 * userspace/replay/agent.c.
 *
 * All functions are called by one thread at a time.
 */
#ifndef IOTAPE_TRANSPORT_H
#define IOTAPE_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#define TRANSPORT_VERSION	1
#define TRANSPORT_SYMBOL	"iotape_transport"
#define TRANSPORT_MESSAGE_BYTES 65536 /* no message is longer */

/**
 * struct transport - exchanges messages between the processes of a launcher
 * @version: TRANSPORT_VERSION
 * @name: of the MPI
 * @open: join the other processes; returns the number of this process, from 0, and the number of processes
 * @send: send a message, now or soon; the buffer may be reused afterwards. Messages between two processes
 *	arrive in order
 * @receive: receive a message if one has arrived; returns its length, 0 if there is none
 * @close: wait until the others close, too, and all messages have arrived
 * @abort: end all processes, including this one
 *
 * Functions return 0 or the stated value, or a negative errno.
 */
struct transport {
	uint32_t version;
	const char *name;
	int (*open)(uint32_t *node, uint32_t *nodes);
	int (*send)(uint32_t to, const void *bytes, size_t count);
	int (*receive)(uint32_t *from, void *bytes, size_t room);
	void (*close)(void);
	void (*abort)(int code);
};

#endif
