/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_view.h - views of MPI files: which bytes of the file are the data of a rank. Private to change*.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_VIEW_H
#define IOTAPE_PATTERN_CHANGE_VIEW_H

#include "change.h"

#define VIEW_PARTS_MAX 256
#define VIEW_LEVELS    3

/**
 * struct view_part - a block of bytes, and its repetitions
 * @first: its place from the begin of the datatype
 * @block_bytes: its length
 * @bytes: of all its repetitions
 * @counts, @strides: repetitions, the innermost first
 */
struct view_part {
	u64 first;
	u64 block_bytes;
	u64 bytes;
	u64 counts[VIEW_LEVELS];
	u64 strides[VIEW_LEVELS];
};

/**
 * struct view - a view of one rank
 * @begin: its place in the file
 * @unit_bytes: unit of offsets
 * @extent: distance of the repetitions of its datatype
 * @bytes: data of one of them
 * @part_count: parts of the datatype; @taken of them are known
 * @is_bad: they do not fit together
 */
struct view {
	u64 begin;
	u64 unit_bytes;
	u64 extent;
	u64 bytes;
	u32 part_count;
	u32 taken;
	bool is_bad;
	struct view_part parts[];
};

/* Return: 0 or a negative errno, which ends the walk. */
typedef int (*view_take_range)(void *context, u64 begin, u64 bytes);

int view_take_part(struct change *c, struct view **view, const struct event *event);
bool view_is_known(const struct view *view);
s64 view_end_of_file(const struct view *view, u64 size_bytes);
int view_walk(const struct view *view, u64 place, u64 bytes, view_take_range take, void *context);

#endif
