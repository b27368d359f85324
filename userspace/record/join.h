/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * join.h - the protocol between the processes of a node that record a job together. Private to
 * userspace/record.
 *
 * The first process forks another one, the holder, which has the session. Each process connects to
 * the holder, receives the descriptors to run its command in the session, and reports the end of
 * the command. The holder answers when the process need not wait any longer.
 */
#ifndef IOTAPE_RECORD_JOIN_H
#define IOTAPE_RECORD_JOIN_H

#include <limits.h>

#include "collectord/collectord.h"
#include "record.h"

#define JOIN_VERSION 2
#define JOIN_WHY     (PATH_MAX + 256)

struct join_hello {
	uint32_t version;
	uint32_t expected; /* processes on this node, 0 if not known */
};

/* With the descriptors of the session and of the mount namespace, if there was no error. */
struct join_welcome {
	int32_t err;
	char why[JOIN_WHY];
};

struct join_done {
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
