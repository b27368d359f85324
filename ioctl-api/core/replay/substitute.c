// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * substitute.c - results that show that the target does not support an operation of the original's
 * file system, and the emulation of such operations.
 *
 * Both engines run an emulation by the functions that run any operation. It writes the same data
 * as all writes of a replay: the contents of a range afterwards do not matter.
 */
#include <iotape/control.h>
#include <iotape/schema.h>

#include "substitute.h"

#define PLAIN_FLAGS (IOT_RW_direct | IOT_RW_nowait | IOT_RW_hipri)

#define UNSUPPORTED_KIND(k, equivalence, error, einval, emulation) \
	case IOT_KIND_##k:                                         \
		return result == -EINVAL ? (einval) : (error) && result == -(error);

/*
 * Results that mean this for some kinds only, such as EINVAL for a transfer for which the target requires another
 * alignment.
 */
static bool is_unsupported_kind(u16 kind, u32 flags, s64 result)
{
	switch (kind) {
		IOT_OPERATIONS(UNSUPPORTED_KIND)
	default:
		return false;
	}
}

/**
 * iot_is_unsupported() - does a result say that the target has no such operation?
 * @op: the operation
 * @result: in the replay
 *
 * Only if the original succeeded. If it failed with another error, the result says nothing about the target.
 */
bool iot_is_unsupported(const struct iot_program_op *op, s64 result)
{
	if ((s64)le64_to_cpu(op->result) < 0)
		return false;
	switch (result) {
	case -EOPNOTSUPP:
	case -ENOTTY:
	case -ENOSYS:
		return true;
	default:
		return is_unsupported_kind(le16_to_cpu(op->kind), le32_to_cpu(op->flags), result);
	}
}

/* A read or write of a part of a range: the @nth. Return: false behind its end. */
static bool make_part(struct iot_program_op *next, u16 kind, __le32 handle, u64 offset_bytes,
		      u64 length_bytes, u64 nth)
{
	u64 done_bytes = nth * IOT_WORKER_BUFFER_BYTES, left_bytes = length_bytes - done_bytes;

	if (done_bytes >= length_bytes)
		return false;
	if (left_bytes > IOT_WORKER_BUFFER_BYTES)
		left_bytes = IOT_WORKER_BUFFER_BYTES;
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
static bool emulate_copy_range(const struct iot_program_op *op, u64 size_bytes, u32 step,
			       struct iot_program_op *next)
{
	u64 length_bytes = le64_to_cpu(op->result);

	(void)size_bytes;
	if (step % 2)
		return make_part(next, IOT_KIND_write, op->to_handle, le64_to_cpu(op->to_offset_bytes), length_bytes,
				 step / 2);
	return make_part(next, IOT_KIND_read, op->handle, le64_to_cpu(op->offset_bytes), length_bytes,
			 step / 2);
}

static bool nothing(u32 step, struct iot_program_op *next)
{
	*next = (struct iot_program_op){ .kind = cpu_to_le16(IOT_PLAY_nop) };
	return !step;
}

static bool emulate_advice(const struct iot_program_op *op, u64 size_bytes, u32 step,
			   struct iot_program_op *next)
{
	(void)op;
	(void)size_bytes;
	return nothing(step, next);
}

/* Nothing to do: the ranges are equal already. */
static bool emulate_remap_range(const struct iot_program_op *op, u64 size_bytes, u32 step,
				struct iot_program_op *next)
{
	return le32_to_cpu(op->flags) & 1 ? nothing(step, next) : emulate_copy_range(op, size_bytes, step, next);
}

/* Sets the size. The only difference is that space is allocated later than in the trace. */
static bool allocate(const struct iot_program_op *op, u64 size_bytes, u32 step,
		     struct iot_program_op *next)
{
	u64 end_bytes = le64_to_cpu(op->offset_bytes) + le64_to_cpu(op->length_bytes);

	if ((le32_to_cpu(op->flags) & IOT_FALLOC_keep_size) || end_bytes <= size_bytes)
		return nothing(step, next);
	*next = (struct iot_program_op){
		.kind = cpu_to_le16(IOT_KIND_setattr),
		.handle = op->handle,
		.attrs = cpu_to_le32(IOT_ATTR_size | IOT_ATTR_by_handle),
		.size_bytes = cpu_to_le64(end_bytes),
	};
	return !step;
}

/* The range to be zeroed is written; if the size is kept, only up to the end of the file. */
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

static bool emulate_fallocate(const struct iot_program_op *op, u64 size_bytes, u32 step,
			      struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	if (flags & (IOT_FALLOC_collapse_range | IOT_FALLOC_insert_range))
		return false;
	if (flags & (IOT_FALLOC_punch_hole | IOT_FALLOC_zero_range))
		return overwrite(op, size_bytes, step, next);
	return allocate(op, size_bytes, step, next);
}

/* Through the page cache. With O_EXCL, the file was created before O_DIRECT was refused. */
static bool emulate_open(const struct iot_program_op *op, u64 size_bytes, u32 step, struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	(void)size_bytes;
	*next = *op;
	next->flags = cpu_to_le32(flags & ~(u32)(IOT_OPEN_direct | IOT_OPEN_excl));
	return !step && (flags & IOT_OPEN_direct);
}

static bool emulate_transfer(const struct iot_program_op *op, u64 size_bytes, u32 step, struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	(void)size_bytes;
	*next = *op;
	next->flags = cpu_to_le32(flags & ~(u32)PLAIN_FLAGS);
	return !step && (flags & PLAIN_FLAGS);
}

/* Storage that is not memory: an msync is required to make writes durable. */
static bool emulate_map(const struct iot_program_op *op, u64 size_bytes, u32 step, struct iot_program_op *next)
{
	u32 flags = le32_to_cpu(op->flags);

	(void)size_bytes;
	*next = *op;
	next->flags = cpu_to_le32(flags & ~(u32)IOT_MAP_sync);
	return !step && (flags & IOT_MAP_sync);
}

#define emulate_none(op, size_bytes, step, next) false

#define EMULATE_KIND(k, equivalence, error, einval, emulation) \
	case IOT_KIND_##k:                                     \
		return emulate_##emulation(op, size_bytes, step, next);

/**
 * iot_substitute() - a step of the emulation of an operation that the target does not support
 * @op: of which iot_is_unsupported() is true
 * @size_bytes: of the file of its handle, for a fallocate
 * @step: from 0
 * @next: out: a step; unless iot_substitute_is_retry(), it must end as it says, and the operation has
 *	then ended as in the trace
 *
 * Return: true if there is such a step; false after the last one, or at once if no emulation has the same effect on
 * later operations.
 */
bool iot_substitute(const struct iot_program_op *op, u64 size_bytes, u32 step,
		    struct iot_program_op *next)
{
	switch (le16_to_cpu(op->kind)) {
		IOT_OPERATIONS(EMULATE_KIND)
	default:
		return false;
	}
}
