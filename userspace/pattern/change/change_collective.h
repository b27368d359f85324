/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * change_collective.h - collective calls on MPI files. Private to change_collective*.c.
 */
#ifndef IOTAPE_PATTERN_CHANGE_COLLECTIVE_H
#define IOTAPE_PATTERN_CHANGE_COLLECTIVE_H

#include "change_requests.h"

/**
 * struct collective_part - the part of one rank in a collective call
 * @on: the call
 * @call: index of the call among its steps
 * @end: index of the first step after the operations in the call
 * @data: what the call does
 * @handle: by which the rank has it open, 0 if it does not
 * @depth: of the call
 * @view: with which the rank has the file open, NULL if with none
 * @place, @length_bytes: data of the rank, in those of the view if it has one; the place is -1 if it is not known
 * @place_flaw: why not, NULL if because the view is not known
 * @is_own: the rank moves these data itself
 * @is_outside: the transfers of a nonblocking call are not in it
 * @is_kept: the operations in the call stay
 * @flaw, @flaw_step: why the operations in the call cannot be replaced, and the index of the first such step; NULL if they can be
 * @first_moved, @moved_count: transfers in the call: of the begins and lengths of all
 * @think_ns, @duration_ns: sums of these
 * @made: transfers that replace them; its memory belongs to the part
 */
struct collective_part {
	struct mpi_file_call on; /* the first one, for mpi_compare_calls() */
	u64 call;
	u64 end;
	const struct data_call *data;
	u64 handle;
	u32 depth;
	const struct view *view;
	s64 place;
	const char *place_flaw;
	u64 length_bytes;
	bool is_own;
	bool is_outside;
	bool is_kept;
	const char *flaw;
	u64 flaw_step;
	u64 first_moved;
	u64 moved_count;
	u64 think_ns;
	u64 duration_ns;
	struct actor made;
};

/**
 * struct collectives - all collective calls that move data
 * @begins, @lengths: of the transfers in them
 * @requests: nonblocking calls
 * @is_independent: each rank will move its own data
 * @block_bytes: data whose places are unknown belong to the ranks in turn, in blocks of this size; 0: they are refused
 * @aggregators: else their number; if @is_share, one of that number of ranks is one
 */
struct collectives {
	struct collective_part *parts;
	u64 count;
	u64 room;
	struct numbers begins;
	struct numbers lengths;
	struct file_requests requests;
	bool is_independent;
	u64 block_bytes;
	bool is_share;
	u64 aggregators;
};

/* change_collective_parts.c */
int collective_move(struct change *c, struct collectives *all, u64 first, u64 next);

#endif
