/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resource.h - one thing that operations use, and which of them must keep their order.
 *
 * An operation uses a resource in one of these ways; two uses that conflict keep the
 * order they had in the trace, if they did not overlap there:
 *
 *			exclusive	change		look
 *	exclusive	conflict	conflict	conflict
 *	change		conflict	-		conflict
 *	look		conflict	conflict	-
 *
 * Changes commute with each other: names made in one directory, ranges written to one
 * file. Operations come in the order in which they began. Of those that may still be
 * needed, only the last of each task is kept: the ones before it have ended when it
 * begins, so whoever waits for it waits for them.
 */
#ifndef IOTAPE_RESOURCE_H
#define IOTAPE_RESOURCE_H

#include "graph.h"

enum use {
	USE_EXCLUSIVE,
	USE_CHANGE,
	USE_LOOK,
	USE_COUNT
};

/* An operation that used a resource. */
struct user {
	u32 task;
	u32 index;
	u64 end_ns;
};

struct user_list {
	struct user *users;
	u32 count;
	u32 room;
};

#define EXCLUSIVE_KEPT 4

/**
 * struct resource - a thing, and who used it
 * @exclusive: the last exclusive users, the newest first
 * @changes, @looks: the last user of each task, since the exclusive use that ended last
 */
struct resource {
	struct user exclusive[EXCLUSIVE_KEPT];
	u32 exclusive_count;
	struct user_list changes;
	struct user_list looks;
};

int resource_use(struct graph *graph, struct resource *resource, enum use use, u32 task, u32 index,
		 enum edge_cause cause);
void resource_exit(struct resource *resource);

#endif
