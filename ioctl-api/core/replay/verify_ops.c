// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify_ops.c - an operation has the operands of its kind, as iotape/program_ops.h lists them, and no others.
 */
#include "operation.h"
#include "verify.h"

static bool is_slot(__le32 slot, u32 count)
{
	return le32_to_cpu(slot) - 1 < count; /* 0 wraps around */
}

/* Of an operand that may be a path or a handle, the use that the operation has. */
static u32 uses_of(const struct iot_operation *operation, const struct iot_program_op *op)
{
	u32 uses = operation->uses;

	if (uses & IOT_USE_BIT(place))
		uses |= op->path ? IOT_USE_BIT(path) : IOT_USE_BIT(handle);
	if (uses & IOT_USE_BIT(new_handle) && op->handle)
		uses |= IOT_USE_BIT(handle);
	return uses;
}

static bool is_handle_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	if (uses & IOT_USE_BIT(latch))
		return !op->latch || is_slot(op->latch, v->program->latch_count);
	if (uses & IOT_USE_BIT(handle))
		return is_slot(op->handle, v->program->handle_count);
	return op->handle == 0;
}

static bool are_slots_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	const struct iot_program *program = v->program;

	if (op->object && !is_slot(op->object, program->object_count))
		return false;
	if (!is_handle_valid(v, op, uses))
		return false;
	if (uses & IOT_USE_BIT(to_handle))
		return is_slot(op->to_handle, program->handle_count);
	if (uses & (IOT_USE_BIT(map) | IOT_USE_BIT(new_map)))
		return is_slot(op->map, program->map_count);
	if (uses & IOT_USE_BIT(queue))
		return is_slot(op->queue, program->task_count);
	return op->other == 0;
}

static bool are_paths_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	if (uses & IOT_USE_BIT(path) ? !iot_verify_is_path(v, op->path) : op->path != 0)
		return false;
	if (uses & IOT_USE_BIT(new_path))
		return iot_verify_is_path(v, op->new_path);
	return uses & (IOT_USE_BIT(xattr) | IOT_USE_BIT(target)) || op->path2 == 0;
}

/* Texts are limited as in system calls: so no length of a text can be a problem later. */
static bool is_text_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	size_t most = uses & IOT_USE_BIT(xattr) ? IOT_PROGRAM_NAME_MAX : IOT_PROGRAM_TARGET_MAX - 1, bytes;

	if (!(uses & (IOT_USE_BIT(xattr) | IOT_USE_BIT(target))))
		return true;
	if (!iot_verify_is_string(v, op->path2))
		return false;
	bytes = strnlen(iot_program_string(v->program, op->path2), most + 1);
	return bytes && bytes <= most;
}

/* @op: its `xattr` is valid. */
static bool is_value_valid(const struct verifier *v, const struct iot_program_op *op)
{
	u64 at_bytes = le32_to_cpu(op->xattr), bytes = le64_to_cpu(op->length_bytes);

	if (!op->has_value)
		return true;
	at_bytes += strlen(iot_program_string(v->program, op->xattr)) + 1;
	return le64_to_cpu(op->has_value) == 1 && bytes <= IOT_XATTR_VALUE_MAX &&
	       at_bytes + bytes < v->program->string_bytes;
}

static bool is_small(__le64 number)
{
	return le64_to_cpu(number) <= (u32)-1;
}

static bool is_range_valid(const struct iot_program_op *op, u32 uses)
{
	s64 offset_bytes = (s64)le64_to_cpu(op->offset_bytes);

	if (uses & IOT_USE_BIT(position) && offset_bytes < 0)
		return false;
	if (uses & IOT_USE_BIT(transfer) && le64_to_cpu(op->length_bytes) > IOT_PROGRAM_LENGTH_MAX)
		return false;
	return !(uses & IOT_USE_BIT(range_end)) || (s64)le64_to_cpu(op->end_bytes) >= offset_bytes;
}

static bool are_numbers_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses, u32 flags)
{
	if (le32_to_cpu(op->flags) & ~flags)
		return false;
	if (!is_range_valid(op, uses))
		return false;
	if (uses & IOT_USE_BIT(owner) && le32_to_cpu(op->owner) > v->program->task_count)
		return false;
	if (uses & IOT_USE_BIT(value) && !is_value_valid(v, op))
		return false;
	if (uses & IOT_USE_BIT(yes_no) && le32_to_cpu(op->has_numbers) > 1)
		return false;
	if (uses & IOT_USE_BIT(small) && !(is_small(op->length_bytes) && is_small(op->extra)))
		return false;
	return le64_to_cpu(op->compute_ns) <= IOT_PROGRAM_THINK_MAX_NS &&
	       le64_to_cpu(op->pause_ns) <= IOT_PROGRAM_THINK_MAX_NS;
}

/**
 * iot_verify_op() - can engines run this operation?
 * @v: the work
 * @op: the operation
 * @index: of it, in the section
 *
 * Return: 0 or a refusal.
 */
int iot_verify_op(const struct verifier *v, const struct iot_program_op *op, u64 index)
{
	const struct iot_operation *operation = iot_operation(le16_to_cpu(op->kind));
	u32 uses;

	if (!operation)
		return iot_verify_refuse(v, IOT_REJECT_op_kind, IOT_SECTION_OPS, index);
	uses = uses_of(operation, op);
	if (!are_slots_valid(v, op, uses))
		return iot_verify_refuse(v, IOT_REJECT_op_slot, IOT_SECTION_OPS, index);
	if (!are_paths_valid(v, op, uses))
		return iot_verify_refuse(v, IOT_REJECT_path, IOT_SECTION_OPS, index);
	if (!is_text_valid(v, op, uses))
		return iot_verify_refuse(v, IOT_REJECT_text, IOT_SECTION_OPS, index);
	if (!are_numbers_valid(v, op, uses, operation->flags))
		return iot_verify_refuse(v, IOT_REJECT_op_field, IOT_SECTION_OPS, index);
	return 0;
}
