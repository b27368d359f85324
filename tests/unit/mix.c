// SPDX-License-Identifier: GPL-2.0-only
/*
 * mix.c - a mix of two copies of a program with an operation of every kind: the second copy is the program, with all
 * numbers moved by those of the first, and all paths in its directory.
 */
#include "mix/mix.h"

#include <stdlib.h>
#include <unistd.h>

#include "builder.h"
#include "suite.h"

#define START_NS   5000
#define STAGGER_NS 70

static struct iot_program one, two;

static int load(const char *path, struct iot_program *program)
{
	struct iot_reject reject;

	return iot_program_load(path, program, &reject);
}

static bool has_owner(u16 kind)
{
	return kind == IOT_KIND_lock || kind == IOT_KIND_flush;
}

/* Think times, but not of the last operation, which is one of a request queue; owners of locks. */
static void fill_more(struct builder *b)
{
	struct iot_program_op *ops = (struct iot_program_op *)b->sections[IOT_SECTION_OPS].bytes;
	size_t i;

	for (i = 0; i + 1 < b->sections[IOT_SECTION_OPS].count; i++) {
		ops[i].compute_ns = cpu_to_le64(3 * i + 1);
		ops[i].pause_ns = cpu_to_le64(5 * i);
		if (has_owner(le16_to_cpu(ops[i].kind)))
			ops[i].owner = cpu_to_le32(2);
	}
}

static int make(void **state)
{
	char program[] = "/tmp/iotape-mix-XXXXXX", mix[] = "/tmp/iotape-mix-XXXXXX", why[256];
	struct mix_part part = { .path = program, .copies = 2, .start_ns = START_NS, .stagger_ns = STAGGER_NS,
				 .think_scale = 2 * MIX_SCALE_ONE };
	struct mix_summary summary;
	struct builder b;
	size_t count;
	u8 *bytes;
	int err;

	(void)state;
	close(mkstemp(program));
	close(mkstemp(mix));
	builder_fill(&b);
	fill_more(&b);
	b.head.features_incompat = cpu_to_le32(IOT_PROGRAM_COMPUTES);
	bytes = builder_bytes(&b, &count);
	builder_close(&b);
	err = iot_file_save(program, bytes, count);
	free(bytes);
	if (!err)
		err = mix_make(&part, 1, mix, false, &summary, why, sizeof(why));
	if (!err)
		err = load(program, &one);
	if (!err)
		err = load(mix, &two);
	unlink(program);
	unlink(mix);
	return err;
}

static int unmake(void **state)
{
	(void)state;
	iot_program_free(&one);
	iot_program_free(&two);
	return 0;
}

static void assert_slot(__le32 moved, __le32 slot, u32 count)
{
	assert_int_equal(le32_to_cpu(moved), slot ? le32_to_cpu(slot) + count : 0);
}

static void assert_path(__le32 moved, __le32 path)
{
	const char *text = iot_program_string(&one, path);
	char expected[IOT_PROGRAM_PATH_MAX + 2];

	snprintf(expected, sizeof(expected), !*text ? "" : strcmp(text, ".") ? "2/%s" : "2", text);
	assert_string_equal(iot_program_string(&two, moved), expected);
}

static void assert_text(__le32 moved, __le32 text)
{
	assert_string_equal(iot_program_string(&two, moved), iot_program_string(&one, text));
}

static void assert_other(const struct iot_program_op *moved, const struct iot_program_op *op)
{
	switch (le16_to_cpu(op->kind)) {
	case IOT_KIND_copy_range:
	case IOT_KIND_remap_range:
		assert_slot(moved->other, op->other, one.handle_count);
		break;
	case IOT_KIND_map:
	case IOT_KIND_unmap:
	case IOT_KIND_touch:
	case IOT_KIND_msync:
	case IOT_KIND_madvise:
		assert_slot(moved->other, op->other, one.map_count);
		break;
	case IOT_KIND_submit:
		assert_slot(moved->other, op->other, one.task_count);
		break;
	default:
		assert_int_equal(op->other, 0);
		assert_int_equal(moved->other, 0);
	}
}

static void assert_strings(const struct iot_program_op *moved, const struct iot_program_op *op)
{
	const void *value = iot_program_value(&one, op);

	assert_path(moved->path, op->path);
	switch (le16_to_cpu(op->kind)) {
	case IOT_KIND_rename:
	case IOT_KIND_link:
		assert_path(moved->path2, op->path2);
		break;
	case IOT_KIND_setxattr:
		if (value)
			assert_memory_equal(iot_program_value(&two, moved), value, le64_to_cpu(op->length_bytes));
		/* fall through */
	default:
		assert_text(moved->path2, op->path2);
	}
}

static void operations_are_moved(void **state)
{
	u32 owners = 0, values = 0, i;

	(void)state;
	assert_int_equal(two.op_count, 2 * one.op_count);
	for (i = 0; i < one.op_count; i++) {
		const struct iot_program_op *op = &one.ops[i], *moved = &two.ops[one.op_count + i];
		u16 kind = le16_to_cpu(op->kind);

		assert_int_equal(moved->kind, op->kind);
		assert_int_equal(moved->wait_count, op->wait_count);
		assert_int_equal(moved->first_wait, op->first_wait);
		assert_int_equal(moved->origin_op, op->origin_op);
		assert_slot(moved->object, op->object, one.object_count);
		assert_slot(moved->handle, op->handle, kind == IOT_PLAY_signal ? one.latch_count : one.handle_count);
		assert_other(moved, op);
		assert_strings(moved, op);
		if (has_owner(kind))
			assert_slot(moved->owner, op->owner, one.task_count);
		else
			assert_int_equal(moved->mode, op->mode);
		assert_memory_equal(&moved->uid, &op->uid, 2 * sizeof(op->uid));
		assert_int_equal(moved->flags, op->flags);
		assert_int_equal(le64_to_cpu(moved->compute_ns), 2 * le64_to_cpu(op->compute_ns));
		assert_memory_equal(&moved->offset_bytes, &op->offset_bytes, 4 * sizeof(op->offset_bytes));
		owners += has_owner(kind) && op->owner;
		values += iot_program_value(&one, op) && op->length_bytes;
	}
	assert_true(owners);
	assert_true(values);
}

static bool is_first(u64 op)
{
	u32 i;

	for (i = 0; i < one.task_count; i++)
		if (le64_to_cpu(one.tasks[i].first_op) == op && one.tasks[i].op_count)
			return !(le32_to_cpu(one.tasks[i].flags) & IOT_TASK_QUEUE);
	return false;
}

/* The start of a copy is think time of each task, but not of request queues, which a submit starts. */
static void tasks_start_later(void **state)
{
	u64 i, copy;

	(void)state;
	for (copy = 0; copy < 2; copy++)
		for (i = 0; i < one.op_count; i++)
			assert_int_equal(le64_to_cpu(two.ops[copy * one.op_count + i].pause_ns),
					 2 * le64_to_cpu(one.ops[i].pause_ns) + (is_first(i) ? START_NS + copy * STAGGER_NS : 0));
}

static void a_mix_of_programs_that_compute_does_so(void **state)
{
	(void)state;
	assert_true(iot_program_computes(&one));
	assert_true(iot_program_computes(&two));
}

static void waits_are_moved(void **state)
{
	u32 latches = 0, i;

	(void)state;
	assert_int_equal(two.wait_count, 2 * one.wait_count);
	for (i = 0; i < one.wait_count; i++) {
		const struct iot_program_wait *wait = &one.waits[i], *moved = &two.waits[one.wait_count + i];
		bool is_latch = le32_to_cpu(wait->task) == IOT_WAIT_LATCH;

		latches += is_latch;
		assert_int_equal(le32_to_cpu(moved->task), is_latch ? IOT_WAIT_LATCH : le32_to_cpu(wait->task) + one.task_count);
		assert_int_equal(le32_to_cpu(moved->index), le32_to_cpu(wait->index) + (is_latch ? one.latch_count : 0));
	}
	assert_true(latches);
	assert_int_equal(two.latch_count, 2 * one.latch_count);
	assert_memory_equal(two.latches + one.latch_count, one.latches, one.latch_count * sizeof(*one.latches));
}

static void tasks_are_moved(void **state)
{
	u32 spaces = 0, origins = 0, i;

	(void)state;
	for (i = 0; i < one.task_count; i++) {
		spaces = le32_to_cpu(one.tasks[i].space) >= spaces ? le32_to_cpu(one.tasks[i].space) + 1 : spaces;
		origins = le32_to_cpu(one.tasks[i].origin) >= origins ? le32_to_cpu(one.tasks[i].origin) + 1 : origins;
	}
	assert_int_equal(two.task_count, 2 * one.task_count);
	for (i = 0; i < one.task_count; i++) {
		const struct iot_program_task *task = &one.tasks[i], *moved = &two.tasks[one.task_count + i];

		assert_int_equal(le64_to_cpu(moved->first_op), le64_to_cpu(task->first_op) + one.op_count);
		assert_int_equal(le64_to_cpu(moved->first_wait), le64_to_cpu(task->first_wait) + one.wait_count);
		assert_int_equal(moved->op_count, task->op_count);
		assert_int_equal(moved->wait_count, task->wait_count);
		assert_int_equal(le32_to_cpu(moved->origin), le32_to_cpu(task->origin) + origins);
		assert_int_equal(le32_to_cpu(moved->parent), le32_to_cpu(task->parent) + one.task_count);
		assert_int_equal(le32_to_cpu(moved->space), le32_to_cpu(task->space) + spaces);
		assert_int_equal(moved->flags, task->flags);
		assert_text(moved->command, task->command);
		assert_int_equal(moved->uid, task->uid);
	}
}

static void objects_are_moved(void **state)
{
	u32 i, j;

	(void)state;
	assert_int_equal(two.object_count, 2 * one.object_count);
	for (i = 0; i < one.object_count; i++) {
		assert_path(two.objects[one.object_count + i].path, one.objects[i].path);
		assert_int_equal(two.objects[one.object_count + i].type, one.objects[i].type);
		for (j = 0; j < one.object_count; j++)
			assert_true(two.objects[one.object_count + i].origin != two.objects[j].origin);
	}
}

static const struct iot_program_entry *entry_at(const char *path, u32 *index)
{
	for (*index = 0; *index < two.entry_count; ++*index)
		if (!strcmp(iot_program_string(&two, two.tree[*index].path), path))
			return &two.tree[*index];
	return NULL;
}

static void assert_entry(const struct iot_program_entry *entry, u32 index)
{
	const struct iot_program_extent *extents, *moved_extents;
	const struct iot_program_xattr *xattrs, *moved_xattrs;
	const struct iot_program_entry *moved;
	u32 at, count, moved_count, i;
	char path[IOT_PROGRAM_PATH_MAX + 2];

	snprintf(path, sizeof(path), "2/%s", iot_program_string(&one, entry->path));
	moved = entry_at(path, &at);
	assert_non_null(moved);
	assert_memory_equal(&moved->mode, &entry->mode, sizeof(*entry) - offsetof(struct iot_program_entry, mode));
	if (entry->mode)
		assert_text(moved->target, entry->target);
	else
		assert_path(moved->target, entry->target);
	extents = iot_tree_extents(&one, index, &count);
	moved_extents = iot_tree_extents(&two, at, &moved_count);
	assert_int_equal(moved_count, count);
	for (i = 0; i < count; i++)
		assert_memory_equal(&moved_extents[i].offset_bytes, &extents[i].offset_bytes, 16);
	xattrs = iot_tree_xattrs(&one, index, &count);
	moved_xattrs = iot_tree_xattrs(&two, at, &moved_count);
	assert_int_equal(moved_count, count);
	for (i = 0; i < count; i++) {
		assert_text(moved_xattrs[i].name, xattrs[i].name);
		assert_memory_equal(iot_program_string(&two, moved_xattrs[i].value), iot_program_string(&one, xattrs[i].value),
				    le32_to_cpu(xattrs[i].value_bytes));
	}
}

static void tree_is_moved(void **state)
{
	u32 extents = one.extent_count, xattrs = one.xattr_count, at, i;

	(void)state;
	assert_non_null(entry_at("2", &at));
	for (i = 0; i < one.entry_count; i++)
		if (strcmp(iot_program_string(&one, one.tree[i].path), "."))
			assert_entry(&one.tree[i], i);
	assert_true(extents && two.extent_count == 2 * extents);
	assert_true(xattrs && two.xattr_count <= 2 * xattrs);
}

#define WITH_MIX(function) cmocka_unit_test_setup_teardown(function, make, unmake),

SUITE("mix", WITH_MIX(operations_are_moved) WITH_MIX(tasks_start_later) WITH_MIX(a_mix_of_programs_that_compute_does_so)
	WITH_MIX(waits_are_moved) WITH_MIX(tasks_are_moved)
	WITH_MIX(objects_are_moved) WITH_MIX(tree_is_moved))
