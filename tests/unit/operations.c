// SPDX-License-Identifier: GPL-2.0-only
/*
 * operations.c - the tables of iotape/program_ops.h: each member of an operation reaches the field of its record, and
 * each field of a record the operation that is compiled from it.
 */
#include "compile/compile.h"
#include "core/replay/operation.h"
#include "core/replay/outcome.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

static void only_operations_have_rows(void **state)
{
	u32 kind, count = 0, expected = 0;

	(void)state;
#define COUNT(...) expected++;
	IOT_OPERATIONS(COUNT)
	IOT_SYNC_OPERATIONS(COUNT)
#undef COUNT
	for (kind = 0; kind <= 0xffff; kind++)
		count += iot_operation((u16)kind) != NULL;
	assert_int_equal(count, expected);
	assert_null(iot_operation(IOT_KIND_fact));
	assert_null(iot_operation(IOT_KIND_fork));
	assert_non_null(iot_operation(IOT_KIND_touch));
	assert_true(iot_operation(IOT_KIND_seek)->flags == 7);
}

static struct iot_record record_of(struct iot_program_op op, const struct iot_observed *found)
{
	const struct iot_program_object objects[] = { { .origin = cpu_to_le64(500) } };
	const struct iot_program program = { .objects = objects, .object_count = 1, .strings = "\0user.a\0value" };
	struct iot_record r = {};

	op.object = cpu_to_le32(1);
	iot_outcome_fill(&r, &program, &op, found, 4096);
	return r;
}

#define RECORD(kind_, found, ...) \
	record_of((struct iot_program_op){ .kind = cpu_to_le16(IOT_KIND_##kind_), __VA_ARGS__ }, found)

static void members_reach_the_fields_of_the_record(void **state)
{
	const struct iot_observed none = {}, seen = { .lock = IOT_LOCK_shared, .request = 7, .size_bytes = 9 };
	struct iot_record r;

	(void)state;
	r = RECORD(setattr, &none, .handle = cpu_to_le32(2), .attrs = cpu_to_le32(3), .mode = cpu_to_le32(4),
		   .uid = cpu_to_le32(5), .gid = cpu_to_le32(6), .size_bytes = cpu_to_le64(7),
		   .atime_ns = cpu_to_le64(8), .mtime_ns = cpu_to_le64(9));
	assert_true(r.setattr.object == 500 && r.setattr.handle == 2 && r.setattr.attrs == 3 && r.setattr.mode == 4);
	assert_true(r.setattr.uid == 5 && r.setattr.gid == 6 && r.setattr.size_bytes == 7);
	assert_true(r.setattr.atime_ns == 8 && r.setattr.mtime_ns == 9);
	r = RECORD(setfileattr, &none, .has_numbers = cpu_to_le32(1), .project = cpu_to_le32(2),
		   .extsize_bytes = cpu_to_le64(3), .cowextsize_bytes = cpu_to_le64(4));
	assert_true(r.setfileattr.has_numbers == 1 && r.setfileattr.project == 2);
	assert_true(r.setfileattr.extsize_bytes == 3 && r.setfileattr.cowextsize_bytes == 4);
	r = RECORD(lock, &seen, .owner = cpu_to_le32(1), .offset_bytes = cpu_to_le64(2), .end_bytes = cpu_to_le64(3));
	assert_true(r.lock.offset_bytes == 2 && r.lock.end_bytes == 3 && r.lock.found == IOT_LOCK_shared);
	r = RECORD(copy_range, &none, .to_handle = cpu_to_le32(1), .to_offset_bytes = cpu_to_le64(2));
	assert_true(r.copy_range.to_handle == 1 && r.copy_range.to_offset_bytes == 2);
	r = RECORD(map, &none, .map = cpu_to_le32(1), .prot = cpu_to_le32(2), .flags = cpu_to_le32(4));
	assert_true(r.map.map == 1 && r.map.prot == 2 && r.map.flags == 4);
	r = RECORD(touch, &none, .length_bytes = cpu_to_le64(1));
	assert_true(r.touch.length_bytes == 4096);
	r = RECORD(submit, &seen, .queue = cpu_to_le32(1));
	assert_true(r.submit.request == 7);
	r = RECORD(ioctl, &none, .request = cpu_to_le32(1));
	assert_true(r.ioctl.request == 0x5401);
	r = RECORD(denied, &none, .wanted = cpu_to_le32(2));
	assert_true(r.denied.object == 500 && r.denied.prot == 2);
	r = RECORD(stat, &seen, .path = cpu_to_le32(1));
	assert_true(r.stat.name == 1 && r.stat.size_bytes == 9);
}

static void texts_are_tails(void **state)
{
	const struct iot_observed none = {}, seen = { .target = "there", .target_bytes = 5 }, other = { .is_harmless = true };
	struct iot_record r;

	(void)state;
	r = RECORD(symlink, &none, .target = cpu_to_le32(1));
	assert_true(r.tail_bytes == 6);
	r = RECORD(readlink, &seen, .length_bytes = cpu_to_le64(100));
	assert_true(r.tail_bytes == 5 && r.readlink.length_bytes == 100);
	r = RECORD(getxattr, &none, .xattr = cpu_to_le32(1), .length_bytes = cpu_to_le64(100));
	assert_true(r.tail_bytes == 6 && r.getxattr.length_bytes == 100);
	r = RECORD(setxattr, &none, .xattr = cpu_to_le32(1), .length_bytes = cpu_to_le64(5), .has_value = cpu_to_le64(1));
	assert_true(r.tail_bytes == 12 && !memcmp(r.tail, "user.a\0value", 12));
	r = RECORD(setxattr, &other, .xattr = cpu_to_le32(1), .length_bytes = cpu_to_le64(5), .has_value = cpu_to_le64(1));
	assert_true(r.tail_bytes == 6); /* the value that was set is another one */
}

static struct iot_program_op compiled(struct scribe *s, u16 kind)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program, .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct iot_program_op op = {};
	struct iot_reject reject;
	struct iot_program p;
	u64 i;

	scribe_finish(s);
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(scratch_program, &p, &reject), 0);
	for (i = 0; i < p.op_count; i++)
		if (le16_to_cpu(p.ops[i].kind) == kind)
			op = p.ops[i];
	iot_program_free(&p);
	assert_int_equal(le16_to_cpu(op.kind), kind);
	return op;
}

static void fields_reach_the_members_of_the_operation(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct iot_program_op op;

	(void)state;
	scribe_begin(s);
	s->task = 1;
	PUT(setattr, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .attrs = IOT_ATTR_size, .mode = 4, .uid = 5, .gid = 6,
	    .size_bytes = 7, .atime_ns = 8, .mtime_ns = 9);
	op = compiled(s, IOT_KIND_setattr);
	assert_true(le32_to_cpu(op.attrs) == IOT_ATTR_size && le32_to_cpu(op.mode) == 4);
	assert_true(le32_to_cpu(op.uid) == 5 && le32_to_cpu(op.gid) == 6 && le64_to_cpu(op.size_bytes) == 7);
	assert_true(le64_to_cpu(op.atime_ns) == 8 && le64_to_cpu(op.mtime_ns) == 9);
}

/*
 * An operation by a descriptor is replayed by the same handle, not by another handle of the file, nor by one of its
 * names; unless no replay opens the handle.
 */
static void call_by_descriptor_uses_its_handle(void **state)
{
	static const u16 kinds[] = { IOT_KIND_stat, IOT_KIND_setattr, IOT_KIND_statfs, IOT_KIND_getxattr,
				     IOT_KIND_setxattr, IOT_KIND_removexattr, IOT_KIND_listxattr,
				     IOT_KIND_getfileattr, IOT_KIND_setfileattr };
	struct scribe scribe, *s = &scribe;
	struct iot_program_op op;
	u32 i, is_known;

	(void)state;
	for (i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		struct iot_record r = { .kind = kinds[i / 2], .stat = { .object = SCRIBE_FILE, .name = SCRIBE_NAME } };
		const struct iot_kind_info *info = iot_kind_info(r.kind);
		u32 f;

		is_known = i % 2;
		if (r.kind == IOT_KIND_statfs)
			r.statfs = (struct iot_rec_statfs){ .object = SCRIBE_FILE };
		for (f = 0; f < info->field_count; f++)
			if (!strcmp(info->fields[f].name, "handle"))
				iot_field_set(&r, &info->fields[f], is_known ? 7 : 9);
		scribe_begin(s);
		s->task = 1;
		PUT(open, .object = SCRIBE_FILE, .handle = 7, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
		PUT(open, .object = SCRIBE_FILE, .handle = 8, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
		scribe_put(s, r,
			   strstr(info->name, "etxattr") || strstr(info->name, "removexattr") ? "user.a" : NULL);
		op = compiled(s, r.kind);
		assert_row(info->name, le32_to_cpu(op.handle) == is_known);
		assert_row(info->name, (op.path == 0) == (is_known == 1));
	}
}

/* The lock found by a test is not an owner. */
static void lock_of_a_handle_has_no_owner(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct iot_program_op op;

	(void)state;
	scribe_begin(s);
	s->task = 1;
	PUT(open, .object = SCRIBE_FILE, .handle = 7, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	PUT(lock, .object = SCRIBE_FILE, .handle = 7, .offset_bytes = 1, .end_bytes = 2,
	    .flags = IOT_LOCK_ofd | IOT_LOCK_test | IOT_LOCK_exclusive, .found = IOT_LOCK_exclusive);
	op = compiled(s, IOT_KIND_lock);
	assert_true(op.owner == 0 && le64_to_cpu(op.end_bytes) == 2);
}

SUITE("operations", TEST(only_operations_have_rows) TEST(members_reach_the_fields_of_the_record)
      TEST(texts_are_tails) WITH_SCRATCH(fields_reach_the_members_of_the_operation)
      WITH_SCRATCH(call_by_descriptor_uses_its_handle)
      WITH_SCRATCH(lock_of_a_handle_has_no_owner))
