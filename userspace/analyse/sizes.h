/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sizes.h - the size of a file as a resource: who makes it what others find.
 *
 * Writes that extend a file commute with each other, and with reads of what was there
 * before; only who looks beyond an old end must come after the write that moved it, and
 * whoever found the end must come before writes that go beyond it. Writes find nothing, so
 * they need not wait until the file is as long as it was. What sets the size (truncate,
 * append, allocate) is exclusive.
 */
#ifndef IOTAPE_SIZES_H
#define IOTAPE_SIZES_H

#include "resource.h"

/* A write that extended the file: where the end was before. */
struct extension {
	u64 old_size_bytes;
	u64 end_ns;
	u32 index;
};

/* Those of one task, in order; the oldest of many stand for those between them, too. */
struct extender {
	u32 task;
	u32 count;
	u32 room;
	struct extension *extensions;
};

/**
 * struct size - the size of one object
 * @all: exclusive uses of it, and the last of any other use of each task
 * @ends: looks that found the end of the file
 * @extenders: tasks that extended it, by task
 */
struct size {
	struct resource all;
	struct user_list ends;
	struct extender *extenders;
	u32 extender_count;
	u32 extender_room;
};

int size_set(struct waiter *waiter, struct size *size);
int size_write(struct waiter *waiter, struct size *size, u64 end_bytes, u64 old_size_bytes);
int size_look(struct waiter *waiter, struct size *size, u64 up_to_bytes, bool has_found_end);
void size_exit(struct size *size);

#endif
