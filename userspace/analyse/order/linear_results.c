// SPDX-License-Identifier: GPL-2.0-only
/*
 * linear_results.c - the size of a file, as observed by the result of an operation.
 *
 * A query of the size, a seek to the end and a short read observe an exact size; a full read observes a lower
 * bound.
 */
#include "linear.h"

#define REMAP_DEDUPLICATE 1 /* a flag of remap_range */

/**
 * size_says() - an operation found the size
 * @x: the operation
 * @min_bytes: the size was at least that
 * @max_bytes: and at most that
 */
void size_says(struct linear_op *x, u64 min_bytes, u64 max_bytes)
{
	x->size_min_bytes = min_bytes;
	x->size_max_bytes = max_bytes;
	x->has_found_size = true;
}

static void makes(struct linear_op *x, u64 bytes, bool is_growth)
{
	x->size_after_bytes = bytes;
	x->has_set_size = true;
	x->is_growth = is_growth;
}

static void says_read(struct linear_op *x, const struct graph_op *op)
{
	u64 end = op->offset_bytes + (u64)op->result;

	if ((u64)op->result == op->length_bytes)
		size_says(x, end, SIZE_UNKNOWN - 1);
	else
		size_says(x, op->result ? end : 0, end);
}

/* A page is there if the file has a byte of it. */
static void says_touch(struct linear_op *x, const struct graph_op *op)
{
	if (op->result >= 0)
		size_says(x, op->offset_bytes + 1, SIZE_UNKNOWN - 1);
	else if (op->result == -EFAULT)
		size_says(x, 0, op->offset_bytes);
}

/* Inserting or collapsing a range in the middle moves the end by its length. */
static void makes_by_fallocate(struct linear_op *x, const struct graph_op *op)
{
	if (op->flags & IOT_FALLOC_collapse_range)
		makes(x, op->old_size_bytes - op->length_bytes, false);
	else if (op->flags & IOT_FALLOC_insert_range)
		makes(x, op->old_size_bytes + op->length_bytes, false);
	else if (!(op->flags & (IOT_FALLOC_keep_size | IOT_FALLOC_punch_hole)))
		makes(x, op->offset_bytes + op->length_bytes, true);
}

/* An import does not know the length of a clone. */
static void makes_by_copy(struct linear_op *x, const struct graph_op *op)
{
	if (op->kind == IOT_KIND_remap_range && (op->flags & REMAP_DEDUPLICATE))
		return;
	if (op->result > 0)
		makes(x, op->extra + (u64)op->result, true);
	else if (op->kind == IOT_KIND_remap_range && !op->length_bytes)
		makes(x, SIZE_UNKNOWN, false);
}

/* Also one that did not extend it at that time, because it may extend it if it runs earlier. */
static void makes_by_write(struct linear_op *x, const struct graph_op *op)
{
	bool is_request = op->kind == IOT_KIND_complete, is_append = op->flags & IOT_RW_append;
	u64 begin = is_request && is_append ? op->old_size_bytes : op->offset_bytes;

	if (!op->result || (is_request && !(op->flags & IOT_RW_write)))
		return;
	if (is_append && !is_request)
		size_says(x, begin, begin);
	makes(x, begin + (u64)op->result, true);
}

/**
 * size_file() - the file whose size an operation finds or changes
 */
u32 size_file(const struct graph_op *op)
{
	return op->kind == IOT_KIND_copy_range || op->kind == IOT_KIND_remap_range ? op->file2 : op->file;
}

/**
 * size_take_result() - sizes that an operation observed and set; most operations do neither
 * @x: its observations of sizes are set
 * @op: the operation
 */
void size_take_result(struct linear_op *x, const struct graph_op *op)
{
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
	case IOT_KIND_write:
	case IOT_KIND_complete: /* of a request, which began when it was submitted */
		makes_by_write(x, op);
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
		makes_by_fallocate(x, op);
		break;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		makes_by_copy(x, op);
		break;
	}
}
