/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * join.h - the protocol between the processes of a node that record a job together. Private to
 * userspace/record.
 *
 * The first process forks another one, the holder, which has the session. Each process connects to
 * the holder, receives the descriptors to run its command in the session, and reports the end of
 * the command. The holder answers when the process need not wait any longer.
 *
 * Processes enter the session in the order of their ranks, so that each run has the same numbers of tasks: the holder welcomes one when
 * those before it have reported that they are in the session. With a controller of delays, which identifies threads by numbers,
 * no command begins before all are in the session, because threads that a command creates have numbers, too.
 */
#ifndef IOTAPE_RECORD_JOIN_H
#define IOTAPE_RECORD_JOIN_H

#include <limits.h>

#include "collectord/collectord.h"
#include "record.h"

#define JOIN_VERSION 3
#define JOIN_WHY     (PATH_MAX + 256)

struct join_hello {
	uint32_t version;
	uint32_t expected; /* processes on this node, 0 if not known */
	uint32_t rank;	   /* of the process among them, 0 if not known */
};

/* With the descriptors of the session and of the mount namespace, if there was no error. */
struct join_welcome {
	int32_t err;
	char why[JOIN_WHY];
};

enum join_news {
	JOIN_ENTERED = 1, /* the process that becomes the command is in the session */
	JOIN_DONE,	  /* the command has ended */
};

struct join_note {
	uint32_t news;
};

/* The command may begin. */
struct join_go {
	uint32_t unused;
};

struct join_goodbye {
	uint32_t is_last;
	struct collector_result result;
	char path[PATH_MAX];
};

/* holder.c */
void holder_main(const struct record_options *options, int listen_fd);

#endif
