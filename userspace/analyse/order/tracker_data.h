/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker_data.h - trackers of the bytes of a file.
 *
 * A read returns the data written last, so it comes after that write and before the next write of the same bytes.
 * Accesses to different bytes have no order. Consecutive bytes that one task accessed in sequence form one piece.
 */
#ifndef IOTAPE_DATA_H
#define IOTAPE_DATA_H

#include "tracker.h"

/**
 * struct piece - bytes that were used alike
 * @begin: the first
 * @end: the first that is not among them
 * @prev, @next: its neighbours, as utlist.h has them
 */
struct piece {
	u64 begin;
	u64 end;
	struct tracker tracker;
	struct piece *prev;
	struct piece *next;
};

/**
 * struct data_tracker - the bytes of one file, as far as they were used
 * @pieces: by place, none of which touch the same byte; of very many, not those used long ago
 * @tree: the same, as search.h has them, by where they begin
 */
struct data_tracker {
	struct piece *pieces;
	void *tree;
	u32 count;
};

int data_tracker_use(struct waiter *waiter, struct data_tracker *data, u64 begin, u64 end, bool is_write);
void data_tracker_exit(struct data_tracker *data);

#endif
