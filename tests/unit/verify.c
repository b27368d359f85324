// SPDX-License-Identifier: GPL-2.0-only
/*
 * verify.c - valid programs pass; each kind of invalid program is refused with the
 * right reason and position; verification never takes long.
 */
#include "core/replay/program.h"

#include <iotape/schema.h>
#include <stdlib.h>
#include <time.h>

#include "builder.h"
#include "suite.h"

static int count_pause(void *context)
{
	++*(u64 *)context;
	return 0;
}

/* Open and verify, with exactly the required scratch memory. */
static int verify(const u8 *bytes, size_t byte_count, u64 *pauses, struct iot_reject *reject)
{
	struct iot_program program;
	u64 count;
	u32 *scratch;
	int err;

	*reject = (struct iot_reject){};
	err = iot_program_open(&program, bytes, byte_count, reject);
	if (err)
		return err;
	count = iot_program_scratch_count(&program);
	scratch = malloc(count * sizeof(*scratch) + 1);
	memset(scratch, 0xee, count * sizeof(*scratch));
	err = iot_program_verify(&program, scratch, pauses ? count_pause : NULL, pauses, reject);
	free(scratch);
	return err;
}

static int verify_built(struct builder *b, u64 *pauses, struct iot_reject *reject)
{
	size_t byte_count;
	u8 *bytes = builder_bytes(b, &byte_count);
	int err = verify(bytes, byte_count, pauses, reject);

	free(bytes);
	return err;
}

/* -- valid programs ------------------------------------------------------------------------ */

static void program_with_all_features_passes(void **state)
{
	struct iot_reject reject;
	struct builder b;
	u64 pauses = 0;

	(void)state;
	builder_fill(&b);
	assert_int_equal(verify_built(&b, &pauses, &reject), 0);
	assert_int_equal(reject.reason, 0);
	assert_true(pauses > 0);
	builder_close(&b);
}

static void empty_program_passes(void **state)
{
	struct iot_reject reject;
	struct builder b;

	(void)state;
	builder_open(&b);
	assert_int_equal(verify_built(&b, NULL, &reject), 0);
	builder_task(&b);
	assert_int_equal(verify_built(&b, NULL, &reject), 0);
	builder_close(&b);
}

static int stop_now(void *context)
{
	return --*(int *)context ? 0 : -EINTR;
}

static void verification_can_be_cancelled(void **state)
{
	struct iot_reject reject = {};
	struct iot_program program;
	struct builder b;
	size_t byte_count;
	u32 *scratch;
	u8 *bytes;
	int left, n;

	(void)state;
	builder_fill(&b);
	bytes = builder_bytes(&b, &byte_count);
	assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
	scratch = calloc(iot_program_scratch_count(&program), sizeof(*scratch));
	for (n = 1; n < 1000; n++) {
		left = n;
		if (!iot_program_verify(&program, scratch, stop_now, &left, &reject))
			break;
		assert_int_equal(left, 0);
		assert_int_equal(reject.reason, 0);
	}
	assert_in_range(n, 10, 999);
	free(scratch);
	free(bytes);
	builder_close(&b);
}

/* -- one fault each ------------------------------------------------------------------------- */

/* The sections of an open program are const to others. */
#define TASK(p, i)  ((struct iot_program_task *)&(p)->tasks[i])
#define WAIT(p, i)  ((struct iot_program_wait *)&(p)->waits[i])
#define LATCH(p, i)   ((struct iot_program_latch *)&(p)->latches[i])
#define ENTRY(p, i) ((struct iot_program_entry *)&(p)->tree[i])
#define FACT(p, i)  ((struct iot_program_fact *)&(p)->facts[i])
#define EXTENT(p, i) ((struct iot_program_extent *)&(p)->extents[i])
#define XATTR(p, i) ((struct iot_program_xattr *)&(p)->xattrs[i])

static struct iot_program_op *op_of_kind(struct iot_program *p, u16 kind)
{
	u64 i;

	for (i = 0; i < p->op_count; i++)
		if (le16_to_cpu(p->ops[i].kind) == kind)
			return (struct iot_program_op *)&p->ops[i];
	abort();
}

#define CHANGE(name) static const void *name(struct iot_program *p)
#define SET_OP(name, kind, field, value)                                \
	CHANGE(name)                                                    \
	{                                                               \
		struct iot_program_op *op = op_of_kind(p, kind);        \
		op->field = value;                                      \
		return op;                                              \
	}
#define SET_IN(name, what, field, value) \
	CHANGE(name)                     \
	{                                \
		what->field = value;     \
		return what;             \
	}

CHANGE(strings_do_not_begin_empty)
{
	*(char *)p->strings = 'x';
	return p->strings;
}

CHANGE(strings_do_not_end)
{
	((char *)p->strings)[p->string_bytes - 1] = 'x';
	return p->strings;
}

CHANGE(no_strings)
{
	((struct iot_program_head *)p->head)->sections[IOT_SECTION_STRINGS].count = 0;
	return p->strings;
}

SET_IN(fact_key_outside, FACT(p, 0), key, cpu_to_le32((u32)p->string_bytes))
SET_IN(fact_value_outside, FACT(p, 0), value, cpu_to_le32(~0u))

SET_IN(task_ops_leave_a_gap, TASK(p, 1), first_op, cpu_to_le64(le64_to_cpu(p->tasks[1].first_op) + 1))
SET_IN(task_waits_leave_a_gap, TASK(p, 1), first_wait, cpu_to_le64(0))
SET_IN(task_ops_outside, TASK(p, 2), op_count, cpu_to_le32(2))
SET_IN(task_waits_outside, TASK(p, 2), wait_count, cpu_to_le32(2))

CHANGE(ops_of_no_task)
{
	TASK(p, 2)->op_count = 0;
	TASK(p, 2)->wait_count = 0;
	return p->tasks;
}

SET_IN(task_flag_unknown, TASK(p, 1), flags, cpu_to_le32(4))
SET_IN(task_parent_outside, TASK(p, 1), parent, cpu_to_le32(3))
SET_IN(task_space_outside, TASK(p, 1), space, cpu_to_le32(3))
SET_IN(task_command_outside, TASK(p, 1), command, cpu_to_le32((u32)p->string_bytes))

SET_OP(op_kind_zero, IOT_KIND_mkdir, kind, 0)
SET_OP(op_kind_of_no_operation, IOT_KIND_mkdir, kind, cpu_to_le16(IOT_KIND_fact))
SET_OP(op_kind_largest, IOT_KIND_mkdir, kind, cpu_to_le16(0xffff))
SET_OP(op_flag_unknown, IOT_KIND_open, flags, cpu_to_le32(1u << 16))
SET_OP(op_flag_where_there_is_none, IOT_KIND_mkdir, flags, cpu_to_le32(1))
SET_OP(read_offset_negative, IOT_KIND_read, offset_bytes, cpu_to_le64(1ull << 63))
SET_OP(map_offset_negative, IOT_KIND_map, offset_bytes, cpu_to_le64(-1ull))
SET_OP(read_too_long, IOT_KIND_read, length_bytes, cpu_to_le64(IOT_PROGRAM_LENGTH_MAX + 1))
SET_OP(write_too_long, IOT_KIND_write, length_bytes, cpu_to_le64(~0ull))
SET_OP(lock_offset_negative, IOT_KIND_lock, offset_bytes, cpu_to_le64(-1ull))
SET_OP(lock_ends_before_it_begins, IOT_KIND_lock, offset_bytes, cpu_to_le64(1))
SET_OP(lock_owner_unknown, IOT_KIND_lock, mode, cpu_to_le32(1000))
SET_OP(flush_owner_unknown, IOT_KIND_flush, mode, cpu_to_le32(-1u))
SET_OP(numbers_not_yes_or_no, IOT_KIND_setfileattr, mode, cpu_to_le32(2))
SET_OP(extent_size_too_large, IOT_KIND_setfileattr, length_bytes, cpu_to_le64(1ull << 32))
SET_OP(copy_extent_size_too_large, IOT_KIND_setfileattr, extra, cpu_to_le64(~0ull))
SET_OP(flag_of_a_file_unknown, IOT_KIND_setfileattr, flags, cpu_to_le32(1u << 25))
SET_OP(value_not_yes_or_no, IOT_KIND_setxattr, extra, cpu_to_le64(2))

static struct iot_program_op *with_value(struct iot_program *p, u64 length_bytes)
{
	struct iot_program_op *op = op_of_kind(p, IOT_KIND_setxattr);

	op->extra = cpu_to_le64(1);
	op->length_bytes = cpu_to_le64(length_bytes);
	return op;
}

CHANGE(value_beyond_the_end)
{
	u64 at = le32_to_cpu(op_of_kind(p, IOT_KIND_setxattr)->path2) + strlen("user.a") + 1;

	return with_value(p, p->string_bytes - at);
}

CHANGE(value_longest)
{
	return with_value(p, ~0ull);
}

SET_OP(compute_too_long, IOT_KIND_write, compute_ns, cpu_to_le64((1ull << 54) + 1))
SET_OP(pause_too_long, IOT_KIND_write, pause_ns, cpu_to_le64(~0ull))

SET_OP(object_outside, IOT_KIND_read, object, cpu_to_le32(3))
SET_OP(handle_outside, IOT_KIND_read, handle, cpu_to_le32(3))
SET_OP(handle_largest, IOT_KIND_read, handle, cpu_to_le32(~0u))
SET_OP(other_handle_outside, IOT_KIND_copy_range, other, cpu_to_le32(3))
SET_OP(map_outside, IOT_KIND_touch, other, cpu_to_le32(2))
SET_OP(latch_outside, IOT_PLAY_signal, handle, cpu_to_le32(2))

SET_OP(path_outside, IOT_KIND_mkdir, path, cpu_to_le32((u32)p->string_bytes))
SET_OP(path_of_tree_outside, IOT_KIND_mkdir, path, cpu_to_le32(~0u))
SET_OP(path2_outside, IOT_KIND_rename, path2, cpu_to_le32((u32)p->string_bytes))
SET_OP(link_target_outside, IOT_KIND_symlink, path2, cpu_to_le32((u32)p->string_bytes))
SET_OP(link_target_empty, IOT_KIND_symlink, path2, 0)
SET_OP(attribute_name_outside, IOT_KIND_getxattr, path2, cpu_to_le32(~0u))
SET_OP(attribute_name_empty, IOT_KIND_getxattr, path2, 0)

SET_IN(wait_on_no_task, WAIT(p, 1), task, cpu_to_le32(3))
SET_IN(wait_on_no_op, WAIT(p, 1), index, cpu_to_le32(1u << 20))
SET_IN(wait_on_no_latch, WAIT(p, 0), index, cpu_to_le32(1))

SET_OP(op_waits_leave_a_gap, IOT_PLAY_wait, first_wait, cpu_to_le32(1))

CHANGE(op_has_too_many_waits)
{
	struct iot_program_op *op = op_of_kind(p, IOT_PLAY_wait);

	op->wait_count = cpu_to_le16(2);
	return op;
}

CHANGE(timed_wait_without_waits)
{
	struct iot_program_op *op = op_of_kind(p, IOT_PLAY_nop);

	op->kind = cpu_to_le16(IOT_PLAY_timed);
	return op;
}

CHANGE(op_has_too_few_waits)
{
	op_of_kind(p, IOT_PLAY_wait)->wait_count = 0;
	return TASK(p, 0);
}

SET_IN(latch_reserved, LATCH(p, 0), reserved, cpu_to_le32(1))
SET_IN(latch_wants_more, LATCH(p, 0), signals, cpu_to_le32(3))
SET_IN(latch_wants_less, LATCH(p, 0), signals, cpu_to_le32(1))
SET_IN(latch_wants_none, LATCH(p, 0), signals, 0)

SET_IN(object_path_outside, ((struct iot_program_object *)&p->objects[1]), path, cpu_to_le32(~0u))
SET_IN(object_type_impossible, ((struct iot_program_object *)&p->objects[1]), type, cpu_to_le32(16))

SET_IN(entry_path_outside, ENTRY(p, 1), path, cpu_to_le32(~0u))
SET_IN(entry_path_empty, ENTRY(p, 1), path, 0)
SET_IN(entry_target_outside, ENTRY(p, 1), target, cpu_to_le32(~0u))
SET_IN(entry_size_negative, ENTRY(p, 1), size_bytes, cpu_to_le64(-1ull))
SET_IN(entry_mode_impossible, ENTRY(p, 1), mode, cpu_to_le32(0200000))
SET_IN(entry_links_to_nothing, ENTRY(p, 2), target, 0)
SET_IN(entry_flag_unknown, ENTRY(p, 1), flags, cpu_to_le32(4))
SET_IN(directory_with_data, ENTRY(p, 0), flags, cpu_to_le32(IOT_ENTRY_EXTENTS))
SET_IN(further_name_with_attributes, ENTRY(p, 2), flags, cpu_to_le32(IOT_ENTRY_XATTRS))

SET_IN(extent_reserved, EXTENT(p, 0), reserved, cpu_to_le32(1))
SET_IN(extent_of_no_entry, EXTENT(p, 1), entry, cpu_to_le32(4))
SET_IN(extent_of_a_directory, EXTENT(p, 0), entry, 0)
SET_IN(extent_empty, EXTENT(p, 1), length_bytes, 0)
SET_IN(extent_without_room_before, EXTENT(p, 1), offset_bytes, cpu_to_le64(1024))
SET_IN(extent_behind_the_end, EXTENT(p, 1), length_bytes, cpu_to_le64(2049))
SET_IN(extent_around_the_end, EXTENT(p, 1), length_bytes, cpu_to_le64(-2048ull))
SET_IN(xattr_of_no_entry, XATTR(p, 1), entry, cpu_to_le32(4))
SET_IN(xattr_of_a_further_name, XATTR(p, 1), entry, cpu_to_le32(2))
SET_IN(xattr_without_a_name, XATTR(p, 1), name, 0)
SET_IN(xattr_name_outside, XATTR(p, 1), name, cpu_to_le32(~0u))
SET_IN(xattr_value_outside, XATTR(p, 1), value, cpu_to_le32(~0u))
SET_IN(xattr_value_beyond_the_end, XATTR(p, 1), value_bytes, cpu_to_le32((u32)p->string_bytes))
SET_IN(xattr_value_too_long, XATTR(p, 1), value_bytes, cpu_to_le32(IOT_XATTR_VALUE_MAX + 1))

CHANGE(xattrs_not_in_order)
{
	XATTR(p, 0)->entry = cpu_to_le32(1);
	XATTR(p, 1)->entry = 0;
	return XATTR(p, 1);
}

CHANGE(operation_waits_for_itself)
{
	WAIT(p, 1)->task = cpu_to_le32(1);
	return p->ops + le32_to_cpu(p->tasks[0].op_count) - 1; /* the first task cannot end either */
}

CHANGE(cycle_after_the_first_op)
{
	struct iot_program_wait *wait = WAIT(p, 0); /* of task 0's exit, on the latch */

	wait->task = cpu_to_le32(1); /* whose first operation waits for task 0's last */
	wait->index = 0;
	WAIT(p, 1)->index = cpu_to_le32(le32_to_cpu(p->tasks[0].op_count) - 1);
	return p->ops + le64_to_cpu(p->tasks[0].first_op) + le32_to_cpu(p->tasks[0].op_count) - 1;
}

SET_IN(queue_of_another_task, TASK(p, 2), parent, 0)
SET_IN(queue_of_no_task, TASK(p, 0), flags, cpu_to_le32(IOT_TASK_QUEUE))
SET_OP(completion_of_something_else, IOT_KIND_complete, offset_bytes, cpu_to_le64(4096))
SET_OP(completion_after_a_thought, IOT_KIND_complete, compute_ns, cpu_to_le64(1))
SET_OP(operation_in_a_queue, IOT_KIND_complete, kind, cpu_to_le16(IOT_KIND_read))

CHANGE(completion_waits_for_another)
{
	WAIT(p, 4)->index = cpu_to_le32(4);
	return op_of_kind(p, IOT_KIND_complete);
}

CHANGE(submit_to_another_queue)
{
	op_of_kind(p, IOT_KIND_submit)->other = cpu_to_le32(1);
	return op_of_kind(p, IOT_KIND_complete);
}

CHANGE(completion_in_a_task)
{
	TASK(p, 2)->flags = 0;
	return p->tasks;
}

CHANGE(submit_without_an_end)
{
	op_of_kind(p, IOT_KIND_read)->kind = cpu_to_le16(IOT_KIND_submit);
	op_of_kind(p, IOT_KIND_submit)[1].other = cpu_to_le32(3);
	return p->tasks;
}

#define ROW(change, reason) { #change, change, IOT_REJECT_##reason }

static const struct {
	const char *name;
	const void *(*change)(struct iot_program *program); /* returns the refused place */
	u32 reason;
} changes[] = {
	ROW(strings_do_not_begin_empty, string),
	ROW(strings_do_not_end, string),
	ROW(no_strings, string),
	ROW(fact_key_outside, string),
	ROW(fact_value_outside, string),
	ROW(task_ops_leave_a_gap, task_range),
	ROW(task_waits_leave_a_gap, task_range),
	ROW(task_ops_outside, task_range),
	ROW(task_waits_outside, task_range),
	ROW(ops_of_no_task, task_range),
	ROW(task_flag_unknown, task_field),
	ROW(task_parent_outside, task_field),
	ROW(task_space_outside, task_field),
	ROW(task_command_outside, task_field),
	ROW(op_kind_zero, op_kind),
	ROW(op_kind_of_no_operation, op_kind),
	ROW(op_kind_largest, op_kind),
	ROW(op_flag_unknown, op_field),
	ROW(op_flag_where_there_is_none, op_field),
	ROW(read_offset_negative, op_field),
	ROW(map_offset_negative, op_field),
	ROW(read_too_long, op_field),
	ROW(write_too_long, op_field),
	ROW(lock_offset_negative, op_field),
	ROW(lock_ends_before_it_begins, op_field),
	ROW(lock_owner_unknown, op_field),
	ROW(flush_owner_unknown, op_field),
	ROW(value_not_yes_or_no, op_field),
	ROW(numbers_not_yes_or_no, op_field),
	ROW(extent_size_too_large, op_field),
	ROW(copy_extent_size_too_large, op_field),
	ROW(flag_of_a_file_unknown, op_field),
	ROW(value_beyond_the_end, op_field),
	ROW(value_longest, op_field),
	ROW(compute_too_long, op_field),
	ROW(pause_too_long, op_field),
	ROW(object_outside, op_slot),
	ROW(handle_outside, op_slot),
	ROW(handle_largest, op_slot),
	ROW(other_handle_outside, op_slot),
	ROW(map_outside, op_slot),
	ROW(latch_outside, op_slot),
	ROW(path_outside, path),
	ROW(path_of_tree_outside, path),
	ROW(path2_outside, path),
	ROW(link_target_outside, text),
	ROW(link_target_empty, text),
	ROW(attribute_name_outside, text),
	ROW(attribute_name_empty, text),
	ROW(wait_on_no_task, wait),
	ROW(wait_on_no_op, wait),
	ROW(wait_on_no_latch, wait),
	ROW(op_waits_leave_a_gap, op_wait),
	ROW(op_has_too_many_waits, op_wait),
	ROW(op_has_too_few_waits, op_wait),
	ROW(timed_wait_without_waits, op_wait),
	ROW(latch_reserved, latch),
	ROW(latch_wants_more, latch),
	ROW(latch_wants_less, latch),
	ROW(latch_wants_none, latch),
	ROW(object_path_outside, op_slot),
	ROW(object_type_impossible, op_slot),
	ROW(entry_path_outside, path),
	ROW(entry_path_empty, path),
	ROW(entry_target_outside, tree),
	ROW(entry_size_negative, tree),
	ROW(entry_mode_impossible, tree),
	ROW(entry_links_to_nothing, tree),
	ROW(entry_flag_unknown, tree),
	ROW(directory_with_data, tree),
	ROW(further_name_with_attributes, tree),
	ROW(extent_reserved, reserved),
	ROW(extent_of_no_entry, extent),
	ROW(extent_of_a_directory, extent),
	ROW(extent_empty, extent),
	ROW(extent_without_room_before, extent),
	ROW(extent_behind_the_end, extent),
	ROW(extent_around_the_end, extent),
	ROW(xattr_of_no_entry, xattr),
	ROW(xattr_of_a_further_name, xattr),
	ROW(xattr_without_a_name, xattr),
	ROW(xattr_name_outside, xattr),
	ROW(xattr_value_outside, xattr),
	ROW(xattr_value_beyond_the_end, xattr),
	ROW(xattr_value_too_long, xattr),
	ROW(xattrs_not_in_order, xattr),
	ROW(operation_waits_for_itself, cycle),
	ROW(cycle_after_the_first_op, cycle),
	ROW(queue_of_another_task, queue),
	ROW(queue_of_no_task, queue),
	ROW(completion_of_something_else, queue),
	ROW(completion_after_a_thought, queue),
	ROW(operation_in_a_queue, queue),
	ROW(completion_waits_for_another, queue),
	ROW(submit_to_another_queue, queue),
	ROW(completion_in_a_task, queue),
	ROW(submit_without_an_end, queue),
};

static void program_with_one_error_is_refused(void **state)
{
	struct iot_reject reject;
	struct iot_program program;
	struct builder b;
	size_t byte_count, i;
	const u8 *where;
	u8 *bytes;

	(void)state;
	builder_fill(&b);
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		bytes = builder_bytes(&b, &byte_count);
		assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
		where = changes[i].change(&program);
		program_seal(bytes, byte_count);
		assert_row(changes[i].name, verify(bytes, byte_count, NULL, &reject) == -EBADMSG);
		assert_row(changes[i].name, reject.reason == changes[i].reason);
		assert_row(changes[i].name, reject.offset_bytes == (u64)(where - bytes));
		free(bytes);
	}
	builder_close(&b);
}

/* Reasons that result only from the header, a small machine, or a file: program.c, blocks.c, packed.c. */
static const u32 reasons_elsewhere[] = {
	IOT_REJECT_program_magic,   IOT_REJECT_program_short, IOT_REJECT_program_major,
	IOT_REJECT_program_feature, IOT_REJECT_program_head,  IOT_REJECT_program_size,
	IOT_REJECT_section,	    IOT_REJECT_section_crc,   IOT_REJECT_changed,
	IOT_REJECT_packed_head,	    IOT_REJECT_packed_index,  IOT_REJECT_packed_block,
	IOT_REJECT_packed_unsupported, /* only on kernels without zstd */
};

static void every_reason_has_a_test(void **state)
{
	static const u32 reasons[] = {
#define REASON(id, name, error, sentence) id,
		IOT_REJECTS(REASON)
#undef REASON
	};
	size_t r, i;

	(void)state;
	for (r = 0; r < ARRAY_SIZE(reasons); r++) {
		bool is_tested = reasons[r] < IOT_REJECT_program_magic ||
				 reasons[r] >= IOT_REJECT_pattern_magic; /* tests/fuzz/patterns.c */

		for (i = 0; i < ARRAY_SIZE(changes); i++)
			is_tested |= changes[i].reason == reasons[r];
		for (i = 0; i < ARRAY_SIZE(reasons_elsewhere); i++)
			is_tested |= reasons_elsewhere[i] == reasons[r];
		if (!is_tested)
			fail_msg("no test for reason %u of reject.h", reasons[r]);
	}
}

static void program_with_any_byte_of_a_section_changed_is_refused(void **state)
{
	struct iot_reject reject;
	struct iot_program program;
	struct builder b;
	size_t byte_count, at, s;
	u8 *bytes;

	(void)state;
	builder_fill(&b);
	bytes = builder_bytes(&b, &byte_count);
	assert_int_equal(iot_program_open(&program, bytes, byte_count, &reject), 0);
	for (s = 0; s < IOT_SECTION_COUNT; s++) {
		u64 begin = le64_to_cpu(program.head->sections[s].offset_bytes);
		u64 stop = begin + iot_section_bytes(program.head, (u32)s);

		for (at = begin; at < stop; at += 13) {
			bytes[at] ^= 1;
			assert_int_equal(verify(bytes, byte_count, NULL, &reject), -EBADMSG);
			assert_int_equal(reject.reason, IOT_REJECT_section_crc);
			assert_int_equal(reject.offset_bytes, begin);
			bytes[at] ^= 1;
		}
	}
	free(bytes);
	builder_close(&b);
}

/* -- operands of operations ------------------------------------------------------------------ */

/*
 * As in the table of program.h: h handle, n handle or none, H latch or none, e path or else handle,
 * o handle in `other`, m mapping in `other`, l request queue in `other`, L in a request queue, p path, q path in `path2`, t
 * text in `path2`.
 */
static const struct {
	u16 kind;
	const char *uses;
} used[] = {
	{ IOT_KIND_lookup, "p" },      { IOT_KIND_open, "np" },	       { IOT_KIND_stat, "e" },
	{ IOT_KIND_setattr, "e" },     { IOT_KIND_mkdir, "p" },	       { IOT_KIND_mknod, "p" },
	{ IOT_KIND_rmdir, "p" },       { IOT_KIND_unlink, "p" },       { IOT_KIND_rename, "pq" },
	{ IOT_KIND_link, "eq" },       { IOT_KIND_symlink, "pt" },     { IOT_KIND_readlink, "p" },
	{ IOT_KIND_follow, "p" },      { IOT_KIND_statfs, "e" },       { IOT_KIND_getxattr, "et" },
	{ IOT_KIND_setxattr, "et" },   { IOT_KIND_removexattr, "et" }, { IOT_KIND_listxattr, "e" },
	{ IOT_KIND_getfileattr, "e" }, { IOT_KIND_setfileattr, "e" },
	{ IOT_KIND_flush, "h" },       { IOT_KIND_release, "h" },      { IOT_KIND_read, "h" },
	{ IOT_KIND_write, "h" },       { IOT_KIND_seek, "h" },	       { IOT_KIND_fsync, "h" },
	{ IOT_KIND_readdir, "h" },     { IOT_KIND_fallocate, "h" },    { IOT_KIND_fadvise, "h" },
	{ IOT_KIND_ioctl, "h" },	       { IOT_KIND_lock, "h" },	       { IOT_KIND_denied, "p" },
	{ IOT_KIND_copy_range, "ho" }, { IOT_KIND_remap_range, "ho" }, { IOT_KIND_map, "hm" },
	{ IOT_KIND_unmap, "m" },       { IOT_KIND_touch, "m" },	       { IOT_KIND_msync, "m" },
	{ IOT_KIND_madvise, "m" },     { IOT_PLAY_signal, "H" },       { IOT_PLAY_wait, "" },
	{ IOT_KIND_submit, "hl" },      { IOT_KIND_complete, "hL" },
	{ IOT_PLAY_nop, "" },	       { IOT_PLAY_timed, "" },	{ IOT_KIND_denied, "p" },
};

struct slots {
	u32 handle, other;
	const char *path, *path2;
};

/* A program of one operation. Return: the reason of its refusal, or 0. */
static u32 reason_of(u16 kind, const struct slots *slots)
{
	struct iot_reject reject;
	struct iot_program_op *op;
	struct builder b;

	builder_open(&b);
	b.head.handles = cpu_to_le32(1);
	b.head.maps = cpu_to_le32(1);
	builder_task(&b);
	op = builder_op(&b, kind);
	op->handle = cpu_to_le32(slots->handle);
	op->other = cpu_to_le32(slots->other);
	if (slots->path)
		op->path = builder_string(&b, slots->path);
	if (slots->path2)
		op->path2 = builder_string(&b, slots->path2);
	if (kind == IOT_PLAY_signal && slots->handle)
		builder_latch(&b, 1);
	if (kind == IOT_PLAY_timed) /* it blocks nothing */
		builder_wait(&b, 0, 0);
	verify_built(&b, NULL, &reject);
	builder_close(&b);
	return reject.reason;
}

static struct slots slots_of(const char *uses)
{
	return (struct slots){
		.handle = strpbrk(uses, "hnH") ? 1 : 0,
		.other = strpbrk(uses, "oml") ? 1 : 0,
		.path = strpbrk(uses, "pe") ? "a" : NULL,
		.path2 = strpbrk(uses, "qt") ? "b" : NULL,
	};
}

static void operation_must_have_exactly_its_operands(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(used); i++) {
		const char *uses = used[i].uses;
		const struct slots good = slots_of(uses);
		struct slots bad = good;

		/* a request queue needs a second task */
		assert_row(uses, reason_of(used[i].kind, &good) ==
					 (strpbrk(uses, "lL") ? IOT_REJECT_queue : 0u));
		bad.handle = !good.handle;
		assert_row(uses, reason_of(used[i].kind, &bad) ==
					 (strpbrk(uses, "nH") ? 0u : IOT_REJECT_op_slot));
		bad = good;
		bad.other = !good.other;
		assert_row(uses, reason_of(used[i].kind, &bad) == IOT_REJECT_op_slot);
		bad = good;
		bad.path = good.path ? NULL : "a";
		assert_row(uses, reason_of(used[i].kind, &bad) ==
					 (strchr(uses, 'e') ? IOT_REJECT_op_slot : IOT_REJECT_path));
		bad.handle = 1;
		assert_row(uses, !strchr(uses, 'e') || reason_of(used[i].kind, &bad) == 0);
		bad = good;
		bad.path2 = good.path2 ? NULL : "b";
		assert_row(uses, reason_of(used[i].kind, &bad) ==
					 (strchr(uses, 't') ? IOT_REJECT_text : IOT_REJECT_path));
	}
}

static void every_replayable_operation_is_known(void **state)
{
	unsigned int kind;
	size_t i;

	(void)state;
	for (kind = 0; kind < 0x200; kind++) {
		struct slots none = {};
		bool is_known = false;

		for (i = 0; i < ARRAY_SIZE(used); i++)
			is_known |= used[i].kind == kind;
		assert_int_equal(reason_of((u16)kind, &none) != IOT_REJECT_op_kind, is_known);
	}
}

/* -- paths ------------------------------------------------------------------------------------ */

/* A name may be longer than any file system permits: the trace records the attempt. */
static char longest_name[256], longer_name[257], longest_possible_name[4096], too_long_name[4097];
static char one_look_up[4096], two_look_ups[4097], longest_path[16384], too_long_path[16385];

static const struct {
	const char *path;
	bool is_good;
} paths[] = {
	{ "a", true },
	{ ".", true },
	{ "a/b/c", true },
	{ ".a/..b/...", true },
	{ "a b\n\t\\\"*", true },
	{ "\377\376", true },
	{ longest_name, true },
	{ longer_name, true },
	{ longest_possible_name, true },
	{ one_look_up, true },
	{ two_look_ups, true },
	{ longest_path, true },
	{ too_long_name, false },
	{ "", false },
	{ "/", false },
	{ "/a", false },
	{ "..", false },
	{ "../a", false },
	{ "a/..", false },
	{ "a/../b", false },
	{ "a/./b", false },
	{ "./a", false },
	{ "a/.", false },
	{ "a/", false },
	{ "a//b", false },
	{ "//", false },
	{ too_long_path, false },
};

static void fill_path(char *path, size_t room, size_t component_bytes)
{
	size_t i;

	for (i = 0; i < room - 1; i++)
		path[i] = i % (component_bytes + 1) == component_bytes ? '/' : 'x';
	if (path[room - 2] == '/')
		path[room - 2] = 'y';
	path[room - 1] = 0;
}

static void path_stays_below_the_target(void **state)
{
	size_t i;

	(void)state;
	fill_path(longest_name, sizeof(longest_name), 300);
	fill_path(longer_name, sizeof(longer_name), 300);
	fill_path(longest_possible_name, sizeof(longest_possible_name), 5000);
	fill_path(too_long_name, sizeof(too_long_name), 5000);
	fill_path(one_look_up, sizeof(one_look_up), 100);
	fill_path(two_look_ups, sizeof(two_look_ups), 100);
	fill_path(longest_path, sizeof(longest_path), 100);
	fill_path(too_long_path, sizeof(too_long_path), 100);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct slots one = { .path = paths[i].path };
		const struct slots two = { .path = "a", .path2 = paths[i].path };
		const struct slots text = { .path = "a", .path2 = paths[i].path };
		bool has_length = paths[i].path[0] && strlen(paths[i].path) < IOT_PROGRAM_TARGET_MAX;
		u32 expected = paths[i].is_good ? 0 : IOT_REJECT_path;

		assert_row(paths[i].path, reason_of(IOT_KIND_unlink, &one) == expected);
		assert_row(paths[i].path, reason_of(IOT_KIND_rename, &two) == expected);
		assert_row(paths[i].path, reason_of(IOT_KIND_symlink, &text) ==
						   (has_length ? 0u : IOT_REJECT_text));
	}
}

/* Pieces are separated by slashes, and no piece is longer than a lookup permits. */
static void long_paths_are_walked_in_parts(void **state)
{
	static const struct {
		char *path;
		int pieces;
	} rows[] = { { longest_name, 1 }, { one_look_up, 1 }, { two_look_ups, 2 }, { longest_path, 5 } };
	size_t i, bytes, piece;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = rows[i].path;
		int pieces = 1;

		bytes = strlen(path);
		while ((piece = iot_path_piece(path, bytes)) < bytes) {
			assert_in_range(piece, 1, 4095);
			assert_int_equal(path[piece], '/');
			path += piece + 1;
			bytes -= piece + 1;
			pieces++;
		}
		assert_in_range(bytes, 1, 4095);
		assert_int_equal(pieces, rows[i].pieces);
	}
}

/* -- order ------------------------------------------------------------------------------------- */

struct edge {
	u32 waiter; /* in this task, */
	u32 op;	    /* this operation waits */
	u32 task;   /* for this task or latch */
	u32 index;
};

#define LATCH_1 IOT_WAIT_LATCH
#define NO_EDGE { 9, 0, 0, 0 }

/* Three tasks of three operations each; the last operation of `signals` tasks signals a latch. */
static const struct {
	const char *name;
	struct edge edges[4];
	u32 signals;
	bool is_good;
} orders[] = {
	{ "no waits", { NO_EDGE }, 0, true },
	{ "a chain", { { 0, 0, 1, 2 }, { 1, 0, 2, 2 }, NO_EDGE }, 0, true },
	{ "own past", { { 0, 1, 0, 0 }, { 1, 2, 1, 0 }, { 2, 2, 2, 1 }, NO_EDGE }, 0, true },
	{ "itself", { { 0, 1, 0, 1 }, NO_EDGE }, 0, false },
	{ "own future", { { 0, 1, 0, 2 }, NO_EDGE }, 0, false },
	{ "two, crossing in time", { { 0, 2, 1, 0 }, { 1, 2, 0, 0 }, NO_EDGE }, 0, true },
	{ "two, the first of each for the other's last", { { 0, 0, 1, 2 }, { 1, 0, 0, 2 }, NO_EDGE }, 0, false },
	{ "two, same operation", { { 0, 1, 1, 1 }, { 1, 1, 0, 1 }, NO_EDGE }, 0, false },
	{ "two, ping-pong", { { 0, 1, 1, 0 }, { 1, 1, 0, 1 }, { 0, 2, 1, 1 }, { 1, 2, 0, 2 } }, 0, true },
	{ "a cycle of three", { { 0, 0, 1, 0 }, { 1, 0, 2, 0 }, { 2, 0, 0, 0 }, NO_EDGE }, 0, false },
	{ "latch that opens", { { 2, 2, LATCH_1, 0 }, NO_EDGE }, 2, true },
	{ "latch after its own signal", { { 0, 2, LATCH_1, 0 }, NO_EDGE }, 1, false },
	{ "latch never open", { { 0, 0, LATCH_1, 0 }, NO_EDGE }, 3, false },
	{ "a cycle of latch and task", { { 1, 1, LATCH_1, 0 }, { 0, 2, 1, 1 }, NO_EDGE }, 1, false },
};

static u32 reason_of_order(size_t row)
{
	struct iot_reject reject;
	struct builder b;
	u32 task, op, e;

	builder_open(&b);
	if (orders[row].signals)
		builder_latch(&b, orders[row].signals);
	for (task = 0; task < 3; task++) {
		builder_task(&b);
		for (op = 0; op < 3; op++) {
			builder_op(&b, IOT_PLAY_signal)->handle =
				cpu_to_le32(op == 2 && task < orders[row].signals);
			for (e = 0; e < 4 && orders[row].edges[e].waiter < 3; e++)
				if (orders[row].edges[e].waiter == task && orders[row].edges[e].op == op)
					builder_wait(&b, orders[row].edges[e].task,
						     orders[row].edges[e].index);
		}
	}
	verify_built(&b, NULL, &reject);
	builder_close(&b);
	return reject.reason;
}

static void cyclic_waits_are_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(orders); i++)
		assert_row(orders[i].name, reason_of_order(i) ==
						   (orders[i].is_good ? 0 : IOT_REJECT_cycle));
}

/* -- time ---------------------------------------------------------------------------------------- */

#define MANY 3000

/* One task, in which each operation waits for the previous one. */
static void build_chain(struct builder *b)
{
	u32 i;

	builder_task(b);
	for (i = 0; i < 100 * MANY; i++) {
		builder_op(b, IOT_PLAY_nop);
		if (i)
			builder_wait(b, 0, i - 1);
	}
}

/* Two tasks alternate, and many wait for the last operation. */
static void build_crowd(struct builder *b)
{
	u32 i, task;

	for (task = 0; task < MANY; task++) {
		builder_task(b);
		builder_op(b, IOT_PLAY_nop);
		builder_wait(b, MANY, MANY - 1);
	}
	for (; task < MANY + 2; task++) {
		builder_task(b);
		for (i = 0; i < MANY; i++) {
			builder_op(b, IOT_PLAY_nop);
			if (task > MANY || i)
				builder_wait(b, 2 * MANY + 1 - task, task > MANY ? i : i - 1);
		}
	}
}

/* The same through latches: many tasks wait for all latches, which open one after the other. */
static void build_latches(struct builder *b)
{
	u32 i, task;

	for (i = 0; i < MANY; i++)
		builder_latch(b, 1);
	for (task = 1; task < 64; task++) {
		builder_task(b);
		builder_op(b, IOT_PLAY_wait);
		for (i = 0; i < MANY; i++)
			builder_wait(b, IOT_WAIT_LATCH, i);
	}
	builder_task(b);
	for (i = 0; i < MANY; i++)
		builder_op(b, IOT_PLAY_signal)->handle = cpu_to_le32(i + 1);
}

/* An operation with the maximum number of waits, each on another task that is not ready. */
static void build_fan_in(struct builder *b)
{
	u32 i;

	builder_task(b);
	builder_op(b, IOT_PLAY_wait);
	for (i = 1; i < 0xffff; i++)
		builder_wait(b, i, 0);
	for (i = 1; i < 0xffff; i++) {
		builder_task(b);
		builder_op(b, IOT_PLAY_nop);
	}
}

static const struct {
	const char *name;
	void (*build)(struct builder *b);
} large[] = {
	{ "chain", build_chain },
	{ "crowd", build_crowd },
	{ "latches", build_latches },
	{ "fan-in", build_fan_in },
};

/* Instead of time, the number of wake-ups is measured, and of other work between pauses. */
static void verification_time_is_linear(void **state)
{
	struct iot_reject reject;
	struct builder b;
	clock_t begin;
	u64 pauses, size;
	size_t i, s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(large); i++) {
		builder_open(&b);
		large[i].build(&b);
		for (s = size = 0; s < IOT_SECTION_STRINGS; s++)
			size += b.sections[s].count;
		pauses = 0;
		begin = clock();
		assert_row(large[i].name, verify_built(&b, &pauses, &reject) == 0);
		assert_row(large[i].name, pauses <= 2 * size + 1000);
		assert_row(large[i].name, clock() - begin < 20 * CLOCKS_PER_SEC);
		builder_close(&b);
	}
}

SUITE("verify",
      TEST(program_with_all_features_passes)
      TEST(empty_program_passes)
      TEST(verification_can_be_cancelled)
      TEST(program_with_one_error_is_refused)
      TEST(every_reason_has_a_test)
      TEST(program_with_any_byte_of_a_section_changed_is_refused)
      TEST(operation_must_have_exactly_its_operands)
      TEST(every_replayable_operation_is_known)
      TEST(path_stays_below_the_target) TEST(long_paths_are_walked_in_parts)
      TEST(cyclic_waits_are_refused)
      TEST(verification_time_is_linear))
