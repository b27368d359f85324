/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_collective.h - collective calls on MPI files. Private to change_collective*.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_COLLECTIVE_H
#define IOTAPE_PATTERN_CHANGE_COLLECTIVE_H

#include "change.h"

/**
 * struct collective_part - the part of one rank in a collective call
 * @actor: index of the rank
 * @call: index of the call among its steps
 * @end: index of the first step after the operations in the call
 * @path, @generation: the file
 * @handle: by which the rank has it open, 0 if it does not
 * @number: of the call on the file
 * @depth: of the call
 * @place, @length_bytes: data of the rank; the place is valid if @has_place
 * @first_moved, @moved_count: transfers in the call: of the begins and lengths of all
 * @think_ns, @duration_ns: sums of these
 * @made: transfers that replace them; its memory belongs to the part
 */
struct collective_part {
	u64 actor;
	u64 call;
	u64 end;
	const char *path;
	u64 generation;
	u64 handle;
	u64 number;
	u32 depth;
	s64 place;
	u64 length_bytes;
	bool has_place;
	bool is_write;
	u64 first_moved;
	u64 moved_count;
	u64 think_ns;
	u64 duration_ns;
	struct actor made;
};

/**
 * struct collectives - all collective calls that move data
 * @begins, @lengths: of the transfers in them
 * @is_independent: each rank will move its own data
 * @aggregators: else their number; if @is_share, one of that number of ranks is one
 */
struct collectives {
	struct collective_part *parts;
	u64 count;
	u64 room;
	struct numbers begins;
	struct numbers lengths;
	bool is_independent;
	bool is_share;
	u64 aggregators;
};

/* change_collective_parts.c */
int collective_move(struct change *c, struct collectives *all, u64 first, u64 next);

#endif
