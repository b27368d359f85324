// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_copy.c - calls that move data from one file to another.
 */
#include <linux/fs.h>

#include "transfer.h"

/* NULL, or [1] and the new value. */
enum offset {
	OFFSET_UNKNOWN,
	OFFSET_NONE,
	OFFSET_GIVEN,
};

static enum offset offset_of(const struct call *call, u32 arg, u64 *offset)
{
	struct text text = arg < call->arg_count ? call->args[arg] : (struct text){};
	s64 number;

	if (text_is(text, "NULL"))
		return OFFSET_NONE;
	if (text.bytes < 3 || *text.p != '[')
		return OFFSET_UNKNOWN;
	text = (struct text){ text.p + 1, (size_t)(text_skip(text.p + 1, text.p + text.bytes) -
						   text.p - 1) };
	if (!value_number(text, &number))
		return OFFSET_UNKNOWN;
	*offset = (u64)number;
	return OFFSET_GIVEN;
}

/**
 * take_offset() - a number that a call is given the address of: [1]
 *
 * Return: whether there is one.
 */
bool take_offset(const struct call *call, u32 arg, u64 *offset_bytes)
{
	return offset_of(call, arg, offset_bytes) == OFFSET_GIVEN;
}

/* @offset_arg: -1: the call has none. */
static struct transfer one_side(struct import *im, const struct call *call, u32 fd_arg, int offset_arg,
				u32 length_arg)
{
	struct transfer t = { .file = file_inside(im, call, fd_arg) };
	enum offset offset = OFFSET_NONE;
	bool has_length;
	s64 length;

	if (!t.file)
		return t;
	has_length = call_number(call, length_arg, &length);
	t.length_bytes = (u64)length < RW_MAX_BYTES ? (u64)length : RW_MAX_BYTES;
	t.offset_bytes = t.file->position_bytes;
	t.flags = transfer_flags(t.file, 0);
	if (offset_arg >= 0)
		offset = offset_of(call, (u32)offset_arg, &t.offset_bytes);
	t.has_offset = offset == OFFSET_GIVEN;
	t.is_known = has_length && offset != OFFSET_UNKNOWN && transfer_is_possible(&t, call->result) &&
		     (t.has_offset || !t.file->is_position_lost);
	if (!t.is_known && offset == OFFSET_UNKNOWN)
		t.file->is_position_lost = true;
	return t;
}

static void move_on(const struct transfer *t, s64 result)
{
	if (!t->has_offset && result > 0)
		t->file->position_bytes += (u64)result;
}

/* The kernel copies through a pipe of its own; the model treats this as one transfer. */
static void move_data(struct import *im, const struct call *call, const struct call_kind *kind,
		      struct transfer *from, struct transfer *to)
{
	s64 result = call->result;

	if ((from->file && !from->is_known) || (to->file && !to->is_known)) {
		call_not_understood(im, call, kind);
		if (from->file)
			move_on(from, result);
		if (to->file)
			move_on(to, result);
		if (to->file)
			to->file->inode->has_exact_size = false;
		return;
	}
	if (from->file) {
		from->flags |= IOT_RW_splice;
		transfer_read(im, from, result);
	}
	if (to->file && result > 0) {
		to->length_bytes = (u64)result;
		if (to->file->flags & IOT_OPEN_append)
			to->flags |= IOT_RW_append;
		transfer_write(im, to, result);
	}
}

void call_sendfile(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct transfer from = one_side(im, call, 1, 2, 3);
	struct transfer to = one_side(im, call, 0, -1, 3);

	move_data(im, call, kind, &from, &to);
}

void call_splice(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct transfer from = one_side(im, call, 0, 1, 4);
	struct transfer to = one_side(im, call, 2, 3, 4);

	move_data(im, call, kind, &from, &to);
}

/* -- without leaving the file system ----------------------------------------------------------------- */

static void copy_done(struct transfer *from, struct transfer *to, s64 result)
{
	if (result <= 0)
		return;
	inode_reaches(from->file->inode, from->offset_bytes + (u64)result);
	inode_written(to->file->inode, to->offset_bytes + (u64)result);
	if (!from->has_offset)
		from->file->position_bytes = from->offset_bytes + (u64)result;
	if (!to->has_offset)
		to->file->position_bytes = to->offset_bytes + (u64)result;
}

/* The kernel requests the rest of the source. */
static u64 copy_length(const struct transfer *from, u64 copied_bytes)
{
	u64 left_bytes = from->file->inode->size_bytes > from->offset_bytes ?
				 from->file->inode->size_bytes - from->offset_bytes :
				 0;

	if (copied_bytes >= from->length_bytes)
		return from->length_bytes;
	if (left_bytes < copied_bytes)
		left_bytes = copied_bytes;
	return left_bytes < from->length_bytes ? left_bytes : from->length_bytes;
}

void call_copy_range(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct iot_record record = { .kind = IOT_KIND_copy_range };
	struct transfer from = one_side(im, call, 0, 1, 4);
	struct transfer to = one_side(im, call, 2, 3, 4);

	if (!from.file || !to.file || !from.is_known || !to.is_known) {
		if (call->result >= 0) /* between file systems it is a splice */
			move_data(im, call, kind, &from, &to);
		return;
	}
	inode_is(from.file->inode, IOT_TYPE_file);
	inode_is(to.file->inode, IOT_TYPE_file);
	if (!call->result && from.length_bytes)
		inode_has_size(from.file->inode, from.offset_bytes);
	if (!call->result || !is_shown(record.kind, call->result))
		return; /* of nothing, the file system is not asked */
	record.copy_range.object = emit_object(im, from.file->inode);
	record.copy_range.handle = from.file->handle;
	record.copy_range.offset_bytes = (s64)from.offset_bytes;
	record.copy_range.to_object = emit_object(im, to.file->inode);
	record.copy_range.to_handle = to.file->handle;
	record.copy_range.to_offset_bytes = (s64)to.offset_bytes;
	record.copy_range.length_bytes =
		call->result > 0 ? copy_length(&from, (u64)call->result) : from.length_bytes;
	record.copy_range.old_size_bytes = to.file->inode->size_bytes;
	record.copy_range.result = call->result;
	emit_op(im, &record);
	copy_done(&from, &to, call->result);
}

/* The shared blocks: all of a file, or {src_fd=3, src_offset=0, src_length=4096, dest_offset=0}. */
struct clone {
	struct file *from;
	s64 from_bytes;
	s64 length_bytes;
	s64 to_bytes;
};

/* Return: is all of it known? */
static bool take_clone(struct import *im, const struct call *call, struct clone *clone)
{
	struct text range = call->arg_count > 2 ? call->args[2] : (struct text){}, fd;
	struct call by_fd = *call;

	*clone = (struct clone){};
	if (range.bytes && *range.p != '{') {
		clone->from = file_inside(im, call, 2);
		return true;
	}
	if (!value_member(range, "src_fd", &fd) ||
	    !value_member_number(range, "src_offset", &clone->from_bytes) ||
	    !value_member_number(range, "src_length", &clone->length_bytes) ||
	    !value_member_number(range, "dest_offset", &clone->to_bytes))
		return false;
	if (clone->from_bytes < 0 || clone->length_bytes < 0 || clone->to_bytes < 0)
		return false; /* no kernel takes these: the line is damaged */
	by_fd.args[0] = fd;
	clone->from = file_inside(im, &by_fd, 0);
	return true;
}

/**
 * clone_file() - ioctl(2) with FICLONE or FICLONERANGE
 * @to: the file that is changed, inside
 *
 * Return: is it understood?
 */
bool clone_file(struct import *im, const struct call *call, struct file *to)
{
	struct iot_record record = { .kind = IOT_KIND_remap_range };
	struct clone clone;
	u64 length_bytes;

	if (!take_clone(im, call, &clone) || (!clone.from && call->result >= 0))
		return false;
	if (!clone.from || !is_shown(IOT_KIND_copy_range, call->result))
		return true;
	length_bytes = (u64)clone.length_bytes;
	if (!length_bytes && clone.from->inode->size_bytes > (u64)clone.from_bytes)
		length_bytes = clone.from->inode->size_bytes - (u64)clone.from_bytes;
	record.remap_range.object = emit_object(im, clone.from->inode);
	record.remap_range.handle = clone.from->handle;
	record.remap_range.offset_bytes = clone.from_bytes;
	record.remap_range.to_object = emit_object(im, to->inode);
	record.remap_range.to_handle = to->handle;
	record.remap_range.to_offset_bytes = clone.to_bytes;
	record.remap_range.length_bytes = (u64)clone.length_bytes;
	record.remap_range.old_size_bytes = to->inode->size_bytes;
	record.remap_range.result = call->result < 0 ? call->result : (s64)length_bytes;
	if (call->result >= 0 && !clone.length_bytes && !clone.from->inode->has_exact_size)
		gap(im, IMPORT_GAP_size); /* the call returns 0, the file system how much it cloned */
	emit_op(im, &record);
	if (call->result >= 0)
		inode_written(to->inode, (u64)clone.to_bytes + length_bytes);
	return true;
}
