// SPDX-License-Identifier: GPL-2.0-only
/*
 * effects_results.c - what the result of an operation says of the size of its file.
 *
 * Who asked for the size, or for the end, or read less than was asked for, found a certain size;
 * who read all, one that was large enough.
 */
#include "effects.h"

/**
 * size_says() - an operation found the size
 * @x: the operation
 * @min_bytes: the size was at least that
 * @max_bytes: and at most that
 */
void size_says(struct effect *x, u64 min_bytes, u64 max_bytes)
{
	x->size_min_bytes = min_bytes;
	x->size_max_bytes = max_bytes;
	x->has_found_size = true;
}

static void makes(struct effect *x, u64 bytes, bool is_growth)
{
	x->size_after_bytes = bytes;
	x->has_set_size = true;
	x->is_growth = is_growth;
}

static void says_read(struct effect *x, const struct graph_op *op)
{
	u64 end = op->offset_bytes + (u64)op->result;

	if ((u64)op->result == op->length_bytes)
		size_says(x, end, SIZE_UNKNOWN - 1);
	else
		size_says(x, op->result ? end : 0, end);
}

/* A page is there if the file has a byte of it. */
static void says_touch(struct effect *x, const struct graph_op *op)
{
	if (op->result >= 0)
		size_says(x, op->offset_bytes + 1, SIZE_UNKNOWN - 1);
	else if (op->result == -EFAULT)
		size_says(x, 0, op->offset_bytes);
}

/**
 * size_take_result() - what an operation found, and what it made of the size; neither of most
 * @x: all that it says of sizes is set
 * @op: the operation
 */
void size_take_result(struct effect *x, const struct graph_op *op)
{
	bool is_write = op->kind == IOT_KIND_write && op->result > 0;
	u64 end = op->offset_bytes + (u64)op->result;

	x->has_found_size = x->has_set_size = x->is_growth = false;
	if (op->kind == IOT_KIND_touch)
		says_touch(x, op);
	if (op->result < 0)
		return;
	switch (op->kind) {
	case IOT_KIND_stat:
		size_says(x, op->old_size_bytes, op->old_size_bytes);
		break;
	case IOT_KIND_seek:
		if (op->flags == IOT_WHENCE_end)
			size_says(x, (u64)op->result - op->offset_bytes,
				  (u64)op->result - op->offset_bytes);
		break;
	case IOT_KIND_read:
		if (op->length_bytes)
			says_read(x, op);
		break;
	case IOT_KIND_setattr:
		if (op->flags & IOT_ATTR_size)
			makes(x, op->length_bytes, false);
		break;
	case IOT_KIND_open:
		if (op->flags & IOT_OPEN_trunc)
			makes(x, 0, false);
		break;
	case IOT_KIND_fallocate:
		if (!(op->flags & ~IOT_FALLOC_zero_range))
			makes(x, op->offset_bytes + op->length_bytes, true);
		break;
	}
	if (is_write && (op->flags & IOT_RW_append))
		size_says(x, op->offset_bytes, op->offset_bytes);
	if (is_write) /* also one that made it no longer then; it may when it comes sooner */
		makes(x, end, true);
}
