// SPDX-License-Identifier: GPL-2.0-only
/*
 * substitute.c - unsupported operations are distinguished from errors, and
 * are emulated with the same effect on later operations.
 */
#include "core/replay/substitute.h"

#include <iotape/control.h>
#include <iotape/schema.h>

#include "suite.h"

static struct iot_program_op make(u16 kind, u32 flags, s64 result)
{
	return (struct iot_program_op){
		.kind = cpu_to_le16(kind),
		.flags = cpu_to_le32(flags),
		.handle = cpu_to_le32(1),
		.other = cpu_to_le32(kind == IOT_KIND_copy_range || kind == IOT_KIND_remap_range ? 2 : 0),
		.offset_bytes = cpu_to_le64(4096),
		.length_bytes = cpu_to_le64(8192),
		.extra = cpu_to_le64(100),
		.result = cpu_to_le64((u64)result),
	};
}

static void some_errors_mean_unsupported(void **state)
{
	static const struct {
		const char *name;
		u16 kind;
		u32 flags;
		s64 expected;
		s64 got;
		bool is_unable;
	} rows[] = {
		{ "fallocate", IOT_KIND_fallocate, 1, 0, -EOPNOTSUPP, true },
		{ "fallocate, refused in the trace, too", IOT_KIND_fallocate, 1, -ENOSPC, -EOPNOTSUPP, false },
		{ "fallocate on a full disk", IOT_KIND_fallocate, 0, 0, -ENOSPC, false },
		{ "fallocate of nothing", IOT_KIND_fallocate, 0, 0, -EINVAL, false },
		{ "collapse, not aligned", IOT_KIND_fallocate, IOT_FALLOC_collapse_range, 0, -EINVAL, true },
		{ "read", IOT_KIND_read, 0, 10, -EINVAL, false },
		{ "direct read", IOT_KIND_read, IOT_RW_direct, 10, -EINVAL, true },
		{ "read that fails", IOT_KIND_read, IOT_RW_direct, 10, -EIO, false },
		{ "direct request", IOT_KIND_complete, IOT_RW_direct, 10, -EINVAL, true },
		{ "open", IOT_KIND_open, 0, 0, -EINVAL, false },
		{ "direct open", IOT_KIND_open, IOT_OPEN_direct, 0, -EINVAL, true },
		{ "open of an absent file", IOT_KIND_open, IOT_OPEN_direct, 0, -ENOENT, false },
		{ "copy between file systems", IOT_KIND_copy_range, 0, 10, -EXDEV, true },
		{ "rename between file systems", IOT_KIND_rename, 0, 0, -EXDEV, false },
		{ "exchange", IOT_KIND_rename, IOT_RENAME_exchange, 0, -EINVAL, true },
		{ "rename into itself", IOT_KIND_rename, 0, 0, -EINVAL, false },
		{ "attribute", IOT_KIND_setxattr, 0, 0, -EOPNOTSUPP, true },
		{ "flag of a file", IOT_KIND_setfileattr, 0, 0, -EINVAL, true },
		{ "flag of a file, refused", IOT_KIND_setfileattr, 0, 0, -EPERM, false },
		{ "absent attribute", IOT_KIND_getxattr, 0, 10, -ENODATA, false },
		{ "mapping", IOT_KIND_map, 0, 0, -ENODEV, true },
		{ "synchronous mapping", IOT_KIND_map, IOT_MAP_shared | IOT_MAP_sync, 0, -EOPNOTSUPP, true },
		{ "ioctl", IOT_KIND_ioctl, 0, 0, -ENOTTY, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iot_program_op op = make(rows[i].kind, rows[i].flags, rows[i].expected);

		assert_row(rows[i].name, iot_is_unsupported(&op, rows[i].got) == rows[i].is_unable);
	}
}

/* The kind of the first step, and the number of steps. */
static void operations_have_substitutes(void **state)
{
	static const struct {
		const char *name;
		u16 kind;
		u32 flags;
		u64 size_bytes;
		u32 steps;
		u16 first;
	} rows[] = {
		{ "space, size kept", IOT_KIND_fallocate, IOT_FALLOC_keep_size, 0, 1, IOT_PLAY_nop },
		{ "space", IOT_KIND_fallocate, 0, 5000, 1, IOT_KIND_setattr },
		{ "space in a file that is larger", IOT_KIND_fallocate, 0, 1 << 20, 1, IOT_PLAY_nop },
		{ "a hole", IOT_KIND_fallocate, IOT_FALLOC_keep_size | IOT_FALLOC_punch_hole, 1 << 20, 1, IOT_KIND_write },
		{ "a hole beyond the end", IOT_KIND_fallocate, IOT_FALLOC_keep_size | IOT_FALLOC_punch_hole, 4096, 1, IOT_PLAY_nop },
		{ "zeros", IOT_KIND_fallocate, IOT_FALLOC_zero_range, 0, 1, IOT_KIND_write },
		{ "blocks that go", IOT_KIND_fallocate, IOT_FALLOC_collapse_range, 1 << 20, 0, 0 },
		{ "blocks that come", IOT_KIND_fallocate, IOT_FALLOC_insert_range, 1 << 20, 0, 0 },
		{ "a copy", IOT_KIND_copy_range, 0, 0, 2, IOT_KIND_read },
		{ "shared blocks", IOT_KIND_remap_range, 0, 0, 2, IOT_KIND_read },
		{ "deduplication", IOT_KIND_remap_range, 1, 0, 1, IOT_PLAY_nop },
		{ "direct open", IOT_KIND_open, IOT_OPEN_direct, 0, 1, IOT_KIND_open },
		{ "open", IOT_KIND_open, IOT_OPEN_tmpfile, 0, 0, 0 },
		{ "direct write", IOT_KIND_write, IOT_RW_direct, 0, 1, IOT_KIND_write },
		{ "write", IOT_KIND_write, IOT_RW_dsync, 0, 0, 0 },
		{ "advice", IOT_KIND_fadvise, 0, 0, 1, IOT_PLAY_nop },
		{ "a synchronous mapping", IOT_KIND_map, IOT_MAP_shared | IOT_MAP_sync, 0, 1, IOT_KIND_map },
		{ "a mapping", IOT_KIND_map, IOT_MAP_shared, 0, 0, 0 },
		{ "an attribute", IOT_KIND_setxattr, 0, 0, 0, 0 },
		{ "another name", IOT_KIND_rename, IOT_RENAME_exchange, 0, 0, 0 },
	};
	struct iot_program_op op, first, step;
	size_t i;
	u32 n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		op = make(rows[i].kind, rows[i].flags, 8192);
		first = (struct iot_program_op){};
		for (n = 0; iot_substitute(&op, rows[i].size_bytes, n, &step); n++)
			first = n ? first : step;
		assert_row(rows[i].name, n == rows[i].steps);
		assert_row(rows[i].name, le16_to_cpu(first.kind) == rows[i].first);
	}
}

static void hole_ends_at_the_end_of_the_file(void **state)
{
	struct iot_program_op op = make(IOT_KIND_fallocate, IOT_FALLOC_keep_size | IOT_FALLOC_punch_hole, 0);
	struct iot_program_op step;

	(void)state;
	assert_true(iot_substitute(&op, 5000, 0, &step));
	assert_int_equal(le64_to_cpu(step.offset_bytes), 4096);
	assert_int_equal(le64_to_cpu(step.length_bytes), 5000 - 4096);
	assert_false(iot_substitute(&op, 5000, 1, &step));
}

/* Parts of the copied range are read and written alternately, without gaps. */
static void long_copy_is_divided(void **state)
{
	const u64 length_bytes = 2 * IOT_WORKER_BUFFER_BYTES + 5;
	struct iot_program_op op = make(IOT_KIND_copy_range, 0, (s64)length_bytes), step;
	u64 read_bytes = 0, written_bytes = 0;
	u32 n;

	(void)state;
	op.length_bytes = cpu_to_le64(length_bytes + 100); /* more than was copied */
	for (n = 0; iot_substitute(&op, 0, n, &step); n++) {
		u64 *done_bytes = n % 2 ? &written_bytes : &read_bytes;

		assert_int_equal(le16_to_cpu(step.kind), n % 2 ? IOT_KIND_write : IOT_KIND_read);
		assert_int_equal(le32_to_cpu(step.handle), n % 2 ? 2 : 1);
		assert_int_equal(le64_to_cpu(step.offset_bytes), (n % 2 ? 100 : 4096) + *done_bytes);
		assert_int_equal(step.result, step.length_bytes);
		*done_bytes += le64_to_cpu(step.length_bytes);
	}
	assert_int_equal(n, 6);
	assert_int_equal(read_bytes, length_bytes);
	assert_int_equal(written_bytes, length_bytes);
}

static void emulated_operation_is_not_tried_again(void **state)
{
	const u32 flags = IOT_OPEN_create | IOT_OPEN_excl | IOT_OPEN_direct | IOT_OPEN_write;
	struct iot_program_op op = make(IOT_KIND_open, flags, 0), step;

	(void)state;
	assert_true(iot_substitute(&op, 0, 0, &step));
	assert_true(iot_substitute_is_retry(&op, &step));
	assert_int_equal(le32_to_cpu(step.flags), IOT_OPEN_create | IOT_OPEN_write);
}

SUITE("substitute",
      TEST(some_errors_mean_unsupported)
      TEST(operations_have_substitutes)
      TEST(hole_ends_at_the_end_of_the_file)
      TEST(long_copy_is_divided)
      TEST(emulated_operation_is_not_tried_again))
