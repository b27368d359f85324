// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify_ops.c - does an operation use what its kind uses, and nothing else?
 */
#include "verify.h"

#define THINK_MAX_NS (1ull << 54) /* 208 days; both, slowed down, are no overflow: pace.h */

/* What a kind of operation uses; what it does not use must be zero. */
enum use {
	USE_HANDLE = 1 << 0,
	USE_PATH = 1 << 1,
	USE_PATH_OR_HANDLE = 1 << 2,
	USE_OTHER_HANDLE = 1 << 3,
	USE_OTHER_MAP = 1 << 4,
	USE_PATH2 = 1 << 5,
	USE_NAME2 = 1 << 6,   /* of an attribute */
	USE_OFFSET = 1 << 7,  /* not negative */
	USE_LENGTH = 1 << 8,  /* of a read or write */
	USE_HUB = 1 << 9,     /* in `handle`, or 0 */
	USE_HANDLE_IF_ANY = 1 << 10,
	USE_NOTHING = 1 << 11,
	USE_OTHER_LANE = 1 << 12,
	USE_OWNER = 1 << 13,  /* in `mode`, or 0 */
	USE_RANGE = 1 << 14,  /* to `extra`, not before it begins */
	USE_VALUE = 1 << 15,  /* behind `path2`, if `extra` is 1 */
	USE_SIZES = 1 << 16,  /* of 32 bits, if `mode` is 1 */
	USE_TARGET2 = 1 << 17, /* of a link */
};

#define ALL_BITS(bit, name, sentence) | 1u << bit

static const struct rule {
	u16 kind;
	u32 uses;
	u32 flags; /* that are known */
} rules[] = {
	{ IOT_KIND_lookup, USE_PATH, 0 IOT_INTENTS(ALL_BITS) },
	{ IOT_KIND_open, USE_PATH | USE_HANDLE_IF_ANY, 0 IOT_OPEN_FLAGS(ALL_BITS) },
	{ IOT_KIND_stat, USE_PATH_OR_HANDLE, 0 },
	{ IOT_KIND_setattr, USE_PATH_OR_HANDLE, 0 IOT_ATTRS(ALL_BITS) },
	{ IOT_KIND_mkdir, USE_PATH, 0 },
	{ IOT_KIND_mknod, USE_PATH, 0 },
	{ IOT_KIND_rmdir, USE_PATH, 0 },
	{ IOT_KIND_unlink, USE_PATH, 0 },
	{ IOT_KIND_rename, USE_PATH | USE_PATH2, 0 IOT_RENAME_FLAGS(ALL_BITS) },
	{ IOT_KIND_link, USE_PATH_OR_HANDLE | USE_PATH2, 0 },
	{ IOT_KIND_symlink, USE_PATH | USE_TARGET2, 0 },
	{ IOT_KIND_readlink, USE_PATH, 0 },
	{ IOT_KIND_follow, USE_PATH, 0 },
	{ IOT_KIND_denied, USE_PATH, 0 IOT_PROTS(ALL_BITS) },
	{ IOT_KIND_statfs, USE_PATH, 0 },
	{ IOT_KIND_getxattr, USE_PATH_OR_HANDLE | USE_NAME2, 0 },
	{ IOT_KIND_setxattr, USE_PATH_OR_HANDLE | USE_NAME2 | USE_VALUE, 3 },
	{ IOT_KIND_removexattr, USE_PATH_OR_HANDLE | USE_NAME2, 0 },
	{ IOT_KIND_listxattr, USE_PATH_OR_HANDLE, 0 },
	{ IOT_KIND_getfileattr, USE_PATH_OR_HANDLE, 0 },
	{ IOT_KIND_setfileattr, USE_PATH_OR_HANDLE | USE_SIZES, 0 IOT_FILEATTRS(ALL_BITS) },
	{ IOT_KIND_flush, USE_HANDLE | USE_OWNER, 0 },
	{ IOT_KIND_release, USE_HANDLE, 0 },
	{ IOT_KIND_read, USE_HANDLE | USE_OFFSET | USE_LENGTH, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_write, USE_HANDLE | USE_OFFSET | USE_LENGTH, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_seek, USE_HANDLE, 7 },
	{ IOT_KIND_fsync, USE_HANDLE, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_readdir, USE_HANDLE, 0xffffffff },
	{ IOT_KIND_fallocate, USE_HANDLE, 0 IOT_FALLOC_FLAGS(ALL_BITS) },
	{ IOT_KIND_fadvise, USE_HANDLE, 7 },
	{ IOT_KIND_ioctl, USE_HANDLE, 0xff },
	{ IOT_KIND_lock, USE_HANDLE | USE_OFFSET | USE_OWNER | USE_RANGE, 0 IOT_LOCK_FLAGS(ALL_BITS) },
	{ IOT_KIND_copy_range, USE_HANDLE | USE_OTHER_HANDLE | USE_OFFSET | USE_LENGTH, 0 },
	{ IOT_KIND_remap_range, USE_HANDLE | USE_OTHER_HANDLE | USE_OFFSET, 3 },
	{ IOT_KIND_map, USE_HANDLE | USE_OTHER_MAP | USE_OFFSET, 0 IOT_MAP_FLAGS(ALL_BITS) },
	{ IOT_KIND_unmap, USE_OTHER_MAP | USE_OFFSET, 0 },
	{ IOT_KIND_touch, USE_OTHER_MAP | USE_OFFSET, 0 IOT_TOUCH_FLAGS(ALL_BITS) },
	{ IOT_KIND_msync, USE_OTHER_MAP, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_madvise, USE_OTHER_MAP, 7 },
	{ IOT_KIND_submit, USE_HANDLE | USE_OTHER_LANE | USE_OFFSET | USE_LENGTH,
	  0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_KIND_complete, USE_HANDLE | USE_OFFSET | USE_LENGTH, 0 IOT_RW_FLAGS(ALL_BITS) },
	{ IOT_PLAY_arrive, USE_HUB, 0 },
	{ IOT_PLAY_leave, USE_NOTHING, 0 },
	{ IOT_PLAY_pass, USE_NOTHING, 0 },
};

static const struct rule *rule_of(u16 kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].kind == kind)
			return &rules[i];
	return NULL;
}

static bool is_slot(__le32 slot, u32 count)
{
	return le32_to_cpu(slot) - 1 < count; /* 0 wraps around */
}

static bool are_slots_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	const struct iot_program *program = v->program;
	bool is_by_path = op->path != 0;

	if (op->object && !is_slot(op->object, program->object_count))
		return false;
	if (uses & USE_PATH_OR_HANDLE)
		uses |= is_by_path ? USE_PATH : USE_HANDLE;
	if ((uses & USE_HANDLE_IF_ANY) && op->handle)
		uses |= USE_HANDLE;
	if (uses & USE_HUB) {
		if (op->handle && !is_slot(op->handle, program->hub_count))
			return false;
	} else if (uses & USE_HANDLE ? !is_slot(op->handle, program->handle_count) : op->handle != 0) {
		return false;
	}
	if (uses & USE_OTHER_HANDLE)
		return is_slot(op->other, program->handle_count);
	if (uses & USE_OTHER_MAP)
		return is_slot(op->other, program->map_count);
	if (uses & USE_OTHER_LANE)
		return is_slot(op->other, program->task_count);
	return op->other == 0;
}

static bool are_paths_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	if ((uses & USE_PATH_OR_HANDLE) && op->path)
		uses |= USE_PATH;
	if (uses & USE_PATH ? !iot_verify_is_path(v, op->path) : op->path != 0)
		return false;
	if (uses & USE_PATH2)
		return iot_verify_is_path(v, op->path2);
	return uses & (USE_NAME2 | USE_TARGET2) || op->path2 == 0;
}

/* As long as system calls take them: what is looked at of a longer one does not depend on its length. */
static bool is_text_valid(const struct verifier *v, const struct iot_program_op *op, u32 uses)
{
	size_t most = uses & USE_NAME2 ? IOT_PROGRAM_NAME_MAX : IOT_PROGRAM_TARGET_MAX - 1, bytes;

	if (!(uses & (USE_NAME2 | USE_TARGET2)))
		return true;
	if (!iot_verify_is_string(v, op->path2))
		return false;
	bytes = strnlen(iot_program_string(v->program, op->path2), most + 1);
	return bytes && bytes <= most;
}

/* @op: whose `path2` is a name. */
static bool is_value_valid(const struct verifier *v, const struct iot_program_op *op)
{
	u64 at_bytes = le32_to_cpu(op->path2), bytes = le64_to_cpu(op->length_bytes);

	if (!op->extra)
		return true;
	at_bytes += strlen(iot_program_string(v->program, op->path2)) + 1;
	return le64_to_cpu(op->extra) == 1 && bytes <= IOT_XATTR_VALUE_MAX &&
	       at_bytes + bytes < v->program->string_bytes;
}

static bool are_sizes_valid(const struct iot_program_op *op)
{
	return le32_to_cpu(op->mode) <= 1 && le64_to_cpu(op->length_bytes) <= (u32)-1 &&
	       le64_to_cpu(op->extra) <= (u32)-1;
}

static bool are_numbers_valid(const struct verifier *v, const struct iot_program_op *op,
			      const struct rule *rule)
{
	u64 length = le64_to_cpu(op->length_bytes), offset = le64_to_cpu(op->offset_bytes);

	if (le32_to_cpu(op->flags) & ~rule->flags)
		return false;
	if ((rule->uses & USE_OFFSET) && (s64)offset < 0)
		return false;
	if ((rule->uses & USE_LENGTH) && length > IOT_PROGRAM_LENGTH_MAX)
		return false;
	if ((rule->uses & USE_OWNER) && le32_to_cpu(op->mode) > v->program->task_count)
		return false;
	if ((rule->uses & USE_RANGE) && (s64)le64_to_cpu(op->extra) < (s64)offset)
		return false;
	if ((rule->uses & USE_VALUE) && !is_value_valid(v, op))
		return false;
	if ((rule->uses & USE_SIZES) && !are_sizes_valid(op))
		return false;
	return le64_to_cpu(op->compute_ns) <= THINK_MAX_NS && le64_to_cpu(op->pause_ns) <= THINK_MAX_NS;
}

/**
 * iot_verify_op() - is an operation one that engines can perform?
 * @v: the work
 * @op: the operation
 * @index: of it, in the section
 *
 * Return: 0 or a refusal.
 */
int iot_verify_op(const struct verifier *v, const struct iot_program_op *op, u64 index)
{
	const struct rule *rule = rule_of(le16_to_cpu(op->kind));

	if (!rule)
		return iot_verify_refuse(v, IOT_REJECT_op_kind, IOT_SECTION_OPS, index);
	if (!are_slots_valid(v, op, rule->uses))
		return iot_verify_refuse(v, IOT_REJECT_op_slot, IOT_SECTION_OPS, index);
	if (!are_paths_valid(v, op, rule->uses))
		return iot_verify_refuse(v, IOT_REJECT_path, IOT_SECTION_OPS, index);
	if (!is_text_valid(v, op, rule->uses))
		return iot_verify_refuse(v, IOT_REJECT_text, IOT_SECTION_OPS, index);
	if (!are_numbers_valid(v, op, rule))
		return iot_verify_refuse(v, IOT_REJECT_op_field, IOT_SECTION_OPS, index);
	return 0;
}
