/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * data.h - the bytes of a file as resources: who wrote what others read, or overwrite.
 *
 * A read finds what was written last before it, so it comes after that and before what
 * overwrites it. Who touches other bytes has no order by this. What one task wrote or read in a
 * row is one piece.
 */
#ifndef IOTAPE_DATA_H
#define IOTAPE_DATA_H

#include "resource.h"

/**
 * struct piece - bytes that were used alike
 * @begin: the first
 * @end: the first that is not among them
 */
struct piece {
	u64 begin;
	u64 end;
	struct resource resource;
};

/**
 * struct data - the bytes of one file, as far as they were used
 * @pieces: by place, none of which touch the same byte; of very many, not those used long ago
 */
struct data {
	struct piece *pieces;
	u32 count;
	u32 room;
};

int data_use(struct waiter *waiter, struct data *data, u64 begin, u64 end, bool is_write);
void data_exit(struct data *data);

#endif
