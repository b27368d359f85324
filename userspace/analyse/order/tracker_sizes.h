/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker_sizes.h - tracker of the size of a file.
 *
 * Writes that extend a file commute with each other, and with reads of the old contents. An
 * operation that reads up to a position comes after a write that moved the end past it; one such
 * write is enough. An operation that observed the end comes before writes beyond it. Writes observe
 * no size, so they need not wait until the file has its length in the trace. Operations that set
 * the size (truncate, append, allocate) are exclusive.
 */
#ifndef IOTAPE_SIZES_H
#define IOTAPE_SIZES_H

#include "tracker.h"

/**
 * struct extension - a write that extended the file
 * @new_size_bytes: where the end was then
 * @max_bytes: the farthest that the end got, by this one or those before it
 * @stretch_bytes: the same of those since the last truncation before it
 * @cut_ns: end of the first truncation after it, 0 if there was none
 */
struct extension {
	u64 new_size_bytes;
	u64 max_bytes;
	u64 stretch_bytes;
	u64 end_ns;
	u64 cut_ns;
	u32 task;
	u32 index;
};

/**
 * struct size_tracker - the size of one object
 * @all: exclusive uses of it, and the last of any other use of each task
 * @ends: looks that found the end of the file
 * @writers: writes, and which of them their tasks have waited for
 * @set_end_ns: when the last exclusive use of it ended
 * @extensions: in the order in which they began; of very many, not all of the oldest
 */
struct size_tracker {
	struct tracker all;
	struct use_list ends;
	struct use_list writers;
	u64 set_end_ns;
	struct extension *extensions;
	u32 count;
	u32 room;
};

int size_tracker_set(struct waiter *waiter, struct size_tracker *size);
int size_tracker_cut(struct waiter *waiter, struct size_tracker *size);
int size_tracker_write(struct waiter *waiter, struct size_tracker *size, u64 end_bytes, u64 old_size_bytes);
int size_tracker_look(struct waiter *waiter, struct size_tracker *size, u64 up_to_bytes, bool has_found_end);
void size_tracker_exit(struct size_tracker *size);

#endif
