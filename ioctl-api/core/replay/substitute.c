// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * substitute.c - which results say that the target cannot do what the original's file system did,
 * and which operations may take the place of one.
 *
 * Both engines perform substitutes by the functions that perform any operation. Data that is written
 * is that of all writes of a replay: what a range has in it afterwards is not what matters.
 */
#include <iotape/control.h>
#include <iotape/schema.h>

#include "substitute.h"

#define PLAIN_FLAGS (IOT_RW_direct | IOT_RW_nowait | IOT_RW_hipri)

/* What is not aligned as this target wants it, or not there, is an invalid argument to some. */
static bool is_unable_by_einval(const struct iot_program_op *op)
{
	u32 flags = le32_to_cpu(op->flags);

	switch (le16_to_cpu(op->kind)) {
	case IOT_KIND_open:
		return flags & IOT_OPEN_direct;
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_submit:
	case IOT_KIND_complete:
		return flags & IOT_RW_direct;
	case IOT_KIND_fallocate:
		return flags & (IOT_FALLOC_collapse_range | IOT_FALLOC_insert_range);
	case IOT_KIND_seek:
		return flags == IOT_WHENCE_data || flags == IOT_WHENCE_hole;
	case IOT_KIND_rename:
		return flags != 0;
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
	case IOT_KIND_setfileattr:
		return true;
	default:
		return false;
	}
}

/**
 * iot_is_unable() - does a result say that the target has no such operation?
 * @op: the operation
 * @result: in the replay
 *
 * Only where the original succeeded; where it was refused, too, in another way, nothing is known.
 */
bool iot_is_unable(const struct iot_program_op *op, s64 result)
{
	u16 kind = le16_to_cpu(op->kind);

	if ((s64)le64_to_cpu(op->result) < 0)
		return false;
	switch (result) {
	case -EOPNOTSUPP:
	case -ENOTTY:
	case -ENOSYS:
		return true;
	case -EINVAL:
		return is_unable_by_einval(op);
	case -EXDEV:
		return kind == IOT_KIND_copy_range || kind == IOT_KIND_remap_range;
	case -ENODEV:
		return kind == IOT_KIND_map;
	default:
		return false;
	}
}

/* A read or write of a part of a range: the @nth. Return: false behind its end. */
static bool make_part(struct iot_program_op *next, u16 kind, __le32 handle, u64 offset_bytes,
		      u64 length_bytes, u64 nth)
{
	u64 done_bytes = nth * IOT_CARRIER_BUFFER_BYTES, left_bytes = length_bytes - done_bytes;

	if (done_bytes >= length_bytes)
		return false;
	if (left_bytes > IOT_CARRIER_BUFFER_BYTES)
		left_bytes = IOT_CARRIER_BUFFER_BYTES;
	*next = (struct iot_program_op){
		.kind = cpu_to_le16(kind),
		.handle = handle,
		.offset_bytes = cpu_to_le64(offset_bytes + done_bytes),
		.length_bytes = cpu_to_le64(left_bytes),
		.result = cpu_to_le64(left_bytes),
	};
	return true;
}

/* Read and written part by part: as much as was copied. */
static bool copy_parts(const struct iot_program_op *op, u32 step, struct iot_program_op *next)
{
	u64 length_bytes = le64_to_cpu(op->result);

	if (step % 2)
		return make_part(next, IOT_KIND_write, op->other, le64_to_cpu(op->extra), length_bytes,
				 step / 2);
	return make_part(next, IOT_KIND_read, op->handle, le64_to_cpu(op->offset_bytes), length_bytes,
			 step / 2);
}

static bool nothing(u32 step, struct iot_program_op *next)
{
	*next = (struct iot_program_op){ .kind = cpu_to_le16(IOT_PLAY_pass) };
	return !step;
}

/* Space that is there later than it was is the only difference. */
static bool allocate(const struct iot_program_op *op, u64 size_bytes, u32 step,
		     struct iot_program_op *next)
{
	u64 end_bytes = le64_to_cpu(op->offset_bytes) + le64_to_cpu(op->length_bytes);

	if ((le32_to_cpu(op->flags) & IOT_FALLOC_keep_size) || end_bytes <= size_bytes)
		return nothing(step, next);
	*next = (struct iot_program_op){
		.kind = cpu_to_le16(IOT_KIND_setattr),
		.handle = op->handle,
		.flags = cpu_to_le32(IOT_ATTR_size | IOT_ATTR_by_handle),
		.length_bytes = cpu_to_le64(end_bytes),
	};
	return !step;
}

/* What was to be zeros is written; if the size is kept, no further than the file goes. */
static bool overwrite(const struct iot_program_op *op, u64 size_bytes, u32 step,
		      struct iot_program_op *next)
{
	u64 offset_bytes = le64_to_cpu(op->offset_bytes);
	u64 end_bytes = offset_bytes + le64_to_cpu(op->length_bytes);

	if (le32_to_cpu(op->flags) & IOT_FALLOC_keep_size && end_bytes > size_bytes)
		end_bytes = size_bytes;
	if (end_bytes <= offset_bytes)
		return nothing(step, next);
	return make_part(next, IOT_KIND_write, op->handle, offset_bytes, end_bytes - offset_bytes, step);
}

static bool allocate_or_free(const struct iot_program_op *op, u64 size_bytes, u32 step,
		      struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	if (flags & (IOT_FALLOC_collapse_range | IOT_FALLOC_insert_range))
		return false;
	if (flags & (IOT_FALLOC_punch_hole | IOT_FALLOC_zero_range))
		return overwrite(op, size_bytes, step, next);
	return allocate(op, size_bytes, step, next);
}

/* Through the page cache. What O_EXCL made was made before O_DIRECT was refused. */
static bool open_plainly(const struct iot_program_op *op, u32 step, struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	*next = *op;
	next->flags = cpu_to_le32(flags & ~(u32)(IOT_OPEN_direct | IOT_OPEN_excl));
	return !step && (flags & IOT_OPEN_direct);
}

static bool move_plainly(const struct iot_program_op *op, u32 step, struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	*next = *op;
	next->flags = cpu_to_le32(flags & ~(u32)PLAIN_FLAGS);
	return !step && (flags & PLAIN_FLAGS);
}

/* Storage that is no memory: then it takes an msync to make what is written last. */
static bool map_plainly(const struct iot_program_op *op, u32 step, struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	*next = *op;
	next->flags = cpu_to_le32(flags & ~(u32)IOT_MAP_sync);
	return !step && (flags & IOT_MAP_sync);
}

/**
 * iot_substitute() - what may be performed instead of an operation that the target does not have
 * @op: of which iot_is_unable() is true
 * @size_bytes: of the file of its handle, for a fallocate
 * @step: from 0
 * @next: out: a step; unless iot_substitute_is_retry(), it must end as it says, and the operation has
 *	then ended as in the trace
 *
 * Return: true if there is such a step; false behind the last one, or at once if there is nothing
 * that would do the same to those who come later.
 */
bool iot_substitute(const struct iot_program_op *op, u64 size_bytes, u32 step,
		    struct iot_program_op *next)
{
	switch (le16_to_cpu(op->kind)) {
	case IOT_KIND_open:
		return open_plainly(op, step, next);
	case IOT_KIND_read:
	case IOT_KIND_write:
	case IOT_KIND_complete:
		return move_plainly(op, step, next);
	case IOT_KIND_map:
		return map_plainly(op, step, next);
	case IOT_KIND_fallocate:
		return allocate_or_free(op, size_bytes, step, next);
	case IOT_KIND_fadvise:
	case IOT_KIND_madvise:
		return nothing(step, next);
	case IOT_KIND_copy_range:
		return copy_parts(op, step, next);
	case IOT_KIND_remap_range: /* what is the same already stays so */
		return le32_to_cpu(op->flags) & 1 ? nothing(step, next) : copy_parts(op, step, next);
	default:
		return false;
	}
}
