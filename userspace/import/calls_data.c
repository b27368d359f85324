// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls_data.c - calls that move data between a file and memory.
 */
#include <linux/fs.h>

#include "transfer.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif

/* One buffer of a vector: {iov_base="ab", iov_len=2}; {"ab", 2} before 4.11. */
static bool take_length(struct text item, s64 *bytes)
{
	struct text inner, base, rest;

	if (value_member_number(item, "iov_len", bytes))
		return true;
	return value_inner(item, '{', &inner) && value_first(inner, &base, &rest) &&
	       *base.p == '"' && value_first(rest, &item, &rest) && value_number(item, bytes);
}

/*
 * The length of all buffers of a vector. strace shows the first ones only, if there are many. Return: is it
 * known?
 */
static bool vector_bytes(const struct call *call, u32 arg, u64 *bytes)
{
	struct text list, item;
	s64 number;

	*bytes = 0;
	if (arg >= call->arg_count || !value_inner(call->args[arg], '[', &list))
		return false;
	while (value_first(list, &item, &list)) {
		if (!take_length(item, &number))
			return false;
		*bytes += (u64)number;
	}
	return true;
}

/**
 * transfer_flags() - IOT_RW_* that follow from how a file was opened, and from RWF_*
 */
u32 transfer_flags(const struct file *file, s64 flags)
{
	u32 ours = 0;

	if (file->flags & IOT_OPEN_direct)
		ours |= IOT_RW_direct;
	if ((file->flags & IOT_OPEN_sync) || flags & RWF_SYNC)
		ours |= IOT_RW_sync;
	else if ((file->flags & IOT_OPEN_dsync) || flags & RWF_DSYNC)
		ours |= IOT_RW_dsync;
	if (flags & RWF_NOWAIT)
		ours |= IOT_RW_nowait;
	if (flags & RWF_HIPRI)
		ours |= IOT_RW_hipri;
	return ours;
}

static bool is_vector(u32 variant)
{
	return variant == VARIANT_VECTOR || variant == VARIANT_POSITION_VECTOR ||
	       variant == VARIANT_POSITION_FLAGS;
}

/* Where it is; -1 in preadv2 and pwritev2: where the file is. Return: is that known? */
static bool take_place(const struct call *call, u32 variant, struct transfer *t)
{
	s64 offset;

	t->offset_bytes = t->file->position_bytes;
	if (variant == VARIANT_NONE || variant == VARIANT_VECTOR)
		return !t->file->is_position_lost;
	if (!call_number(call, 3, &offset))
		return false;
	t->has_offset = offset >= 0;
	if (t->has_offset)
		t->offset_bytes = (u64)offset;
	return t->has_offset || (variant == VARIANT_POSITION_FLAGS && !t->file->is_position_lost);
}

static bool take_length_of(const struct call *call, u32 variant, u64 *bytes)
{
	s64 number;

	if (is_vector(variant))
		return vector_bytes(call, 1, bytes);
	if (!call_number(call, 2, &number))
		return false;
	*bytes = (u64)number;
	return true;
}

/* Return: RWF_*; *@is_known: are there all of them? */
static s64 take_flags(struct import *im, const struct call *call, u32 variant, bool *is_known)
{
	enum value_known known;
	s64 flags;

	*is_known = true;
	if (variant != VARIANT_POSITION_FLAGS)
		return 0;
	known = call_flags(call, 4, &flags);
	*is_known = known != VALUE_UNKNOWN;
	if (known == VALUE_PARTLY)
		flags_partly(im, call, call->args[4]);
	return flags;
}

static void take_transfer(struct import *im, const struct call *call, const struct call_kind *kind,
			  struct transfer *t)
{
	u32 variant = kind->variant % VARIANT_WRITE;
	bool has_length, has_flags, has_place;
	s64 flags;

	*t = (struct transfer){ .file = file_inside(im, call, 0) };
	if (!t->file)
		return;
	flags = take_flags(im, call, variant, &has_flags);
	t->flags = transfer_flags(t->file, flags);
	if ((kind->variant & VARIANT_WRITE) && !(flags & RWF_NOAPPEND) &&
	    (flags & RWF_APPEND || t->file->flags & IOT_OPEN_append))
		t->flags |= IOT_RW_append;
	has_length = take_length_of(call, variant, &t->length_bytes);
	if (t->length_bytes > RW_MAX_BYTES)
		t->length_bytes = RW_MAX_BYTES;
	has_place = take_place(call, variant, t);
	t->is_known = has_flags && has_length && (has_place || t->flags & IOT_RW_append) &&
		      transfer_is_possible(t, call->result);
}

/* A call of which something is missing has moved the position all the same. */
static void leave_out(struct import *im, const struct call *call, const struct call_kind *kind,
		      const struct transfer *t)
{
	u32 variant = kind->variant % VARIANT_WRITE;
	struct file *file = t->file;
	s64 offset;

	call_not_understood(im, call, kind);
	if (call->result <= 0 || variant == VARIANT_POSITION || variant == VARIANT_POSITION_VECTOR)
		return;
	if (variant == VARIANT_POSITION_FLAGS && call_number(call, 3, &offset) && offset >= 0)
		return;
	if (variant == VARIANT_POSITION_FLAGS && !call_number(call, 3, &offset))
		file->is_position_lost = true;
	else if (!(t->flags & IOT_RW_append))
		file->position_bytes += (u64)call->result;
	else
		file->is_position_lost = true;
}

/* The transferred range is known, but the file may extend beyond it. */
static void lose_size(struct file *file)
{
	file->inode->has_exact_size = false;
}

/**
 * transfer_is_possible() - could a kernel have moved that? A log that was damaged may say anything
 */
bool transfer_is_possible(const struct transfer *t, s64 result)
{
	return t->offset_bytes <= FILE_MAX_BYTES && result <= (s64)t->length_bytes;
}

/**
 * transfer_read() - something was read from a file of the trace
 * @t: all of it is known
 * @result: of the call
 */
void transfer_read(struct import *im, const struct transfer *t, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_read };
	struct inode *inode = t->file->inode;
	u64 end_bytes = t->offset_bytes + (result > 0 ? (u64)result : 0);

	if (!is_shown(IOT_KIND_read, result) || !transfer_is_possible(t, result))
		return;
	inode_is(inode, IOT_TYPE_file);
	record.read.object = emit_object(im, inode);
	record.read.handle = t->file->handle;
	record.read.offset_bytes = (s64)t->offset_bytes;
	record.read.length_bytes = t->length_bytes;
	record.read.flags = t->flags;
	record.read.result = result;
	emit_op(im, &record);
	if (result < 0)
		return;
	if (result > 0)
		inode_reaches(inode, end_bytes);
	if ((u64)result < t->length_bytes && end_bytes == inode->size_bytes &&
	    !(t->flags & IOT_RW_splice))
		inode_has_size(inode, end_bytes);
	if (!t->has_offset)
		t->file->position_bytes = end_bytes;
}

void call_read(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct transfer t;

	take_transfer(im, call, kind, &t);
	if (t.file && t.is_known)
		transfer_read(im, &t, call->result);
	else if (t.file)
		leave_out(im, call, kind, &t);
}

/**
 * transfer_write() - something was written to a file of the trace
 * @t: all of it is known, but for the offset if it is appended, which is set
 * @result: of the call
 */
void transfer_write(struct import *im, struct transfer *t, s64 result)
{
	struct iot_record record = { .kind = IOT_KIND_write };
	struct inode *inode = t->file->inode;
	u64 end_bytes;

	if (t->flags & IOT_RW_append) {
		t->offset_bytes = inode->size_bytes;
		if (!inode->has_exact_size)
			gap(im, IMPORT_GAP_size);
	}
	if (!is_shown(IOT_KIND_write, result) || !transfer_is_possible(t, result))
		return;
	inode_is(inode, IOT_TYPE_file);
	end_bytes = t->offset_bytes + (result > 0 ? (u64)result : 0);
	record.write.object = emit_object(im, inode);
	record.write.handle = t->file->handle;
	record.write.offset_bytes = (s64)t->offset_bytes;
	record.write.length_bytes = t->length_bytes;
	record.write.flags = t->flags;
	record.write.old_size_bytes = inode->size_bytes;
	record.write.result = result;
	emit_op(im, &record);
	if (result < 0)
		return;
	if (result > 0)
		inode_written(inode, end_bytes);
	if (t->has_offset)
		return;
	t->file->position_bytes = end_bytes;
	t->file->is_position_lost = t->flags & IOT_RW_append && !inode->has_exact_size;
}

void call_write(struct import *im, const struct call *call, const struct call_kind *kind)
{
	struct transfer t;

	take_transfer(im, call, kind, &t);
	if (t.file && t.is_known) {
		transfer_write(im, &t, call->result);
	} else if (t.file) {
		leave_out(im, call, kind, &t);
		lose_size(t.file);
	}
}
