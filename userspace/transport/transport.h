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
 * struct transport - carries messages between the processes that a launcher started
 * @version: TRANSPORT_VERSION
 * @name: of the MPI
 * @open: join the others; says which of them this is, from 0, and how many they are
 * @send: send a message, at once or soon; the bytes may change afterwards. Messages of one to another
 *	come in order
 * @receive: take a message if one is there; returns its length, 0 if there is none
 * @close: wait until the others close, too, and all messages have come
 * @abort: end all processes, this one included
 *
 * Functions return 0 or what is said, or a negative errno.
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
