// SPDX-License-Identifier: GPL-2.0-only
/*
 * builder.c - programs built by hand.
 */
#include "builder.h"

#include <stdlib.h>

#include "core/crc32c.h"
#include "core/trace/record.h"

static const size_t unit_bytes[IOT_SECTION_COUNT] = {
	sizeof(struct iot_program_task),   sizeof(struct iot_program_op),
	sizeof(struct iot_program_wait),   sizeof(struct iot_program_latch),
	sizeof(struct iot_program_object), sizeof(struct iot_program_entry),
	1,				   sizeof(struct iot_program_fact),
	sizeof(struct iot_program_extent), sizeof(struct iot_program_xattr),
};

/* Room for @count more units, zeroed. */
static void *extend(struct builder *b, enum iot_section_kind section, size_t count)
{
	size_t unit = unit_bytes[section], at = b->sections[section].count;
	u8 *bytes = b->sections[section].bytes;

	if (at + count > b->sections[section].room) {
		b->sections[section].room = 2 * (at + count);
		bytes = realloc(bytes, b->sections[section].room * unit);
		if (!bytes)
			abort();
		b->sections[section].bytes = bytes;
	}
	b->sections[section].count += count;
	return memset(bytes + at * unit, 0, count * unit);
}

static void *last(struct builder *b, enum iot_section_kind section)
{
	return b->sections[section].bytes +
	       (b->sections[section].count - 1) * unit_bytes[section];
}

/* Begin a program: no tasks, and the empty string. */
void builder_open(struct builder *b)
{
	*b = (struct builder){};
	memcpy(b->head.magic, IOT_PROGRAM_MAGIC, IOT_PROGRAM_MAGIC_BYTES);
	b->head.major = cpu_to_le16(IOT_PROGRAM_MAJOR);
	b->head.head_bytes = cpu_to_le16(sizeof(b->head));
	b->head.features_compat = cpu_to_le32(IOT_PROGRAM_STATES);
	extend(b, IOT_SECTION_STRINGS, 1);
}

void builder_close(struct builder *b)
{
	size_t i;

	for (i = 0; i < IOT_SECTION_COUNT; i++)
		free(b->sections[i].bytes);
}

struct iot_program_task *builder_task(struct builder *b)
{
	u32 index = (u32)b->sections[IOT_SECTION_TASKS].count;
	struct iot_program_task *task = extend(b, IOT_SECTION_TASKS, 1);

	task->first_op = cpu_to_le64(b->sections[IOT_SECTION_OPS].count);
	task->first_wait = cpu_to_le64(b->sections[IOT_SECTION_WAITS].count);
	task->origin = cpu_to_le32(index + 1);
	task->parent = cpu_to_le32(index);
	task->space = cpu_to_le32(index);
	return task;
}

struct iot_program_op *builder_op(struct builder *b, u16 kind)
{
	struct iot_program_task *task = last(b, IOT_SECTION_TASKS);
	struct iot_program_op *op = extend(b, IOT_SECTION_OPS, 1);

	op->kind = cpu_to_le16(kind);
	op->first_wait = task->wait_count;
	task->op_count = cpu_to_le32(le32_to_cpu(task->op_count) + 1);
	return op;
}

struct iot_program_op *op_on_path(struct builder *b, u16 kind, const char *path, s64 result)
{
	__le32 text = builder_string(b, path);
	struct iot_program_op *op = builder_op(b, kind);

	op->path = text;
	op->result = cpu_to_le64((u64)result);
	return op;
}

struct iot_program_op *op_on_paths(struct builder *b, u16 kind, const char *path, const char *path2, s64 result)
{
	__le32 text = builder_string(b, path2);
	struct iot_program_op *op = op_on_path(b, kind, path, result);

	op->path2 = text;
	return op;
}

struct iot_program_wait *builder_wait(struct builder *b, u32 task, u32 index)
{
	struct iot_program_task *waiter = last(b, IOT_SECTION_TASKS);
	struct iot_program_op *op = last(b, IOT_SECTION_OPS);
	struct iot_program_wait *wait = extend(b, IOT_SECTION_WAITS, 1);

	wait->task = cpu_to_le32(task);
	wait->index = cpu_to_le32(index);
	op->wait_count = cpu_to_le16((u16)(le16_to_cpu(op->wait_count) + 1));
	waiter->wait_count = cpu_to_le32(le32_to_cpu(waiter->wait_count) + 1);
	return wait;
}

struct iot_program_latch *builder_latch(struct builder *b, u32 signals)
{
	struct iot_program_latch *latch = extend(b, IOT_SECTION_LATCHES, 1);

	latch->signals = cpu_to_le32(signals);
	return latch;
}

struct iot_program_object *builder_object(struct builder *b, u64 origin, const char *path)
{
	__le32 text = builder_string(b, path);
	struct iot_program_object *object = extend(b, IOT_SECTION_OBJECTS, 1);

	object->origin = cpu_to_le64(origin);
	object->path = text;
	object->type = cpu_to_le32(IOT_TYPE_file);
	return object;
}

struct iot_program_entry *builder_entry(struct builder *b, const char *path, u32 mode)
{
	__le32 text = builder_string(b, path);
	struct iot_program_entry *entry = extend(b, IOT_SECTION_TREE, 1);

	entry->path = text;
	entry->mode = cpu_to_le32(mode);
	return entry;
}

struct iot_program_fact *builder_fact(struct builder *b, const char *key, const char *value)
{
	__le32 texts[] = { builder_string(b, key), builder_string(b, value) };
	struct iot_program_fact *fact = extend(b, IOT_SECTION_FACTS, 1);

	fact->key = texts[0];
	fact->value = texts[1];
	return fact;
}

struct iot_program_extent *builder_extent(struct builder *b, u32 entry, u64 offset, u64 length)
{
	struct iot_program_extent *extent = extend(b, IOT_SECTION_EXTENTS, 1);

	extent->entry = cpu_to_le32(entry);
	extent->offset_bytes = cpu_to_le64(offset);
	extent->length_bytes = cpu_to_le64(length);
	return extent;
}

struct iot_program_xattr *builder_xattr(struct builder *b, u32 entry, const char *name,
					const char *value)
{
	__le32 texts[] = { builder_string(b, name), builder_string(b, value) };
	struct iot_program_xattr *xattr = extend(b, IOT_SECTION_XATTRS, 1);

	xattr->entry = cpu_to_le32(entry);
	xattr->name = texts[0];
	xattr->value = texts[1];
	xattr->value_bytes = cpu_to_le32((u32)strlen(value));
	return xattr;
}

__le32 builder_string(struct builder *b, const char *text)
{
	size_t at = b->sections[IOT_SECTION_STRINGS].count, bytes = strlen(text) + 1;

	memcpy(extend(b, IOT_SECTION_STRINGS, bytes), text, bytes);
	return cpu_to_le32((u32)at);
}

u8 *builder_bytes(const struct builder *b, size_t *byte_count)
{
	struct iot_program_head head = b->head;
	size_t at = sizeof(head), i;
	u8 *bytes;

	for (i = 0; i < IOT_SECTION_COUNT; i++) {
		head.sections[i].offset_bytes = cpu_to_le64(at);
		head.sections[i].count = cpu_to_le64(b->sections[i].count);
		at += (b->sections[i].count * unit_bytes[i] + 7) & ~(size_t)7;
	}
	bytes = calloc(1, at);
	if (!bytes)
		abort();
	memcpy(bytes, &head, sizeof(head));
	for (i = 0; i < IOT_SECTION_COUNT; i++)
		if (b->sections[i].count)
			memcpy(bytes + le64_to_cpu(head.sections[i].offset_bytes),
			       b->sections[i].bytes, b->sections[i].count * unit_bytes[i]);
	program_seal(bytes, at);
	*byte_count = at;
	return bytes;
}

void program_seal(u8 *bytes, size_t byte_count)
{
	struct iot_program_head *head = (struct iot_program_head *)bytes;
	size_t i;

	if (byte_count < sizeof(*head))
		return;
	for (i = 0; i < IOT_SECTION_COUNT; i++) {
		u64 at = le64_to_cpu(head->sections[i].offset_bytes);
		u64 count = le64_to_cpu(head->sections[i].count);

		if (at <= byte_count && count <= (byte_count - at) / unit_bytes[i])
			head->sections[i].crc =
				cpu_to_le32(iot_crc32c(0, bytes + at, count * unit_bytes[i]));
	}
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_program_head, head_crc)));
}

/* -- a program with all kinds of operations ------------------------------------------------ */

static struct iot_program_op *fill_path(struct builder *b, u16 kind, const char *path)
{
	struct iot_program_op *op = op_on_path(b, kind, path, 0);

	op->object = cpu_to_le32(1);
	return op;
}

static struct iot_program_op *fill_paths(struct builder *b, u16 kind, const char *path, const char *path2)
{
	struct iot_program_op *op = op_on_paths(b, kind, path, path2, 0);

	op->object = cpu_to_le32(1);
	return op;
}

static struct iot_program_op *op_on_slots(struct builder *b, u16 kind, u32 handle, u32 other)
{
	struct iot_program_op *op = builder_op(b, kind);

	op->object = cpu_to_le32(2);
	op->handle = cpu_to_le32(handle);
	op->other = cpu_to_le32(other);
	op->length_bytes = cpu_to_le64(4096);
	return op;
}

/* The value follows the name and its zero byte. */
static void set_value(struct builder *b, const char *path, const char *name, const char *value)
{
	__le32 text = builder_string(b, name);
	struct iot_program_op *op;

	builder_string(b, value);
	op = fill_path(b, IOT_KIND_setxattr, path);
	op->path2 = text;
	op->length_bytes = cpu_to_le64(strlen(value));
	op->extra = cpu_to_le64(1);
}

static void fill_names(struct builder *b)
{
	static const u16 plain[] = { IOT_KIND_lookup, IOT_KIND_mkdir, IOT_KIND_rmdir,
				     IOT_KIND_mknod,  IOT_KIND_unlink, IOT_KIND_readlink,
				     IOT_KIND_follow, IOT_KIND_statfs, IOT_KIND_stat,
				     IOT_KIND_setattr, IOT_KIND_listxattr,
				     IOT_KIND_getfileattr };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plain); i++)
		fill_path(b, plain[i], "d/file");
	fill_paths(b, IOT_KIND_rename, "d/file", "d/other");
	fill_paths(b, IOT_KIND_link, "d/other", "hard");
	fill_paths(b, IOT_KIND_symlink, "l", "/anywhere/../at all");
	fill_paths(b, IOT_KIND_getxattr, "l", "user.a");
	fill_paths(b, IOT_KIND_setxattr, "l", "user.a");
	set_value(b, "l", "system.a", "a value");
	fill_paths(b, IOT_KIND_removexattr, "l", "user.a");
	fill_path(b, IOT_KIND_statfs, ".");
	fill_path(b, IOT_KIND_setfileattr, "d/file")->mode = cpu_to_le32(1);
}

static void fill_files(struct builder *b)
{
	static const u16 plain[] = { IOT_KIND_read, IOT_KIND_write, IOT_KIND_seek, IOT_KIND_fsync,
				     IOT_KIND_readdir, IOT_KIND_fallocate, IOT_KIND_fadvise, IOT_KIND_lock,
				     IOT_KIND_stat, IOT_KIND_setattr, IOT_KIND_listxattr,
				     IOT_KIND_getfileattr };
	size_t i;

	for (i = 1; i <= 2; i++)
		fill_path(b, IOT_KIND_open, "d/file")->handle = cpu_to_le32((u32)i);
	op_on_slots(b, IOT_KIND_submit, 1, 3);
	for (i = 0; i < ARRAY_SIZE(plain); i++)
		op_on_slots(b, plain[i], 1, 0);
	op_on_slots(b, IOT_KIND_copy_range, 1, 2);
	op_on_slots(b, IOT_KIND_remap_range, 1, 2);
	op_on_slots(b, IOT_KIND_map, 1, 1);
	op_on_slots(b, IOT_KIND_touch, 0, 1);
	op_on_slots(b, IOT_KIND_msync, 0, 1);
	op_on_slots(b, IOT_KIND_madvise, 0, 1);
	op_on_slots(b, IOT_KIND_unmap, 0, 1);
	op_on_slots(b, IOT_KIND_flush, 1, 0);
	op_on_slots(b, IOT_KIND_release, 1, 0);
	op_on_slots(b, IOT_KIND_release, 2, 0);
}

/* Two tasks and a request queue: a fork, a barrier through a latch, a message, an asynchronous request. */
void builder_fill(struct builder *b)
{
	struct iot_program_entry *file;
	struct iot_program_task *queue;
	__le32 text;

	builder_open(b);
	b->head.handles = cpu_to_le32(2);
	b->head.maps = cpu_to_le32(1);
	builder_latch(b, 2);
	builder_object(b, 7, "d/file");
	builder_object(b, 8, "d/other");
	builder_entry(b, "d", 040755)->flags = cpu_to_le32(IOT_ENTRY_XATTRS);
	file = builder_entry(b, "d/file", 0100644);
	file->size_bytes = cpu_to_le64(4096);
	file->flags = cpu_to_le32(IOT_ENTRY_EXTENTS | IOT_ENTRY_XATTRS);
	text = builder_string(b, "d/file");
	builder_entry(b, "again", 0)->target = text;
	text = builder_string(b, "../anywhere");
	builder_entry(b, "link", 0120777)->target = text;
	builder_extent(b, 1, 0, 1024);
	builder_extent(b, 1, 2048, 2048);
	builder_xattr(b, 0, "user.a", "value");
	builder_xattr(b, 1, "user.b", "");
	builder_fact(b, "command", "true");

	text = builder_string(b, "sh");
	builder_task(b)->command = text;
	builder_op(b, IOT_PLAY_nop); /* the fork */
	fill_names(b);
	builder_op(b, IOT_PLAY_signal)->handle = cpu_to_le32(1);
	builder_op(b, IOT_PLAY_wait);
	builder_wait(b, IOT_WAIT_LATCH, 0);

	builder_task(b)->flags = cpu_to_le32(IOT_TASK_MAPS);
	builder_op(b, IOT_PLAY_nop);
	builder_wait(b, 0, 0);
	fill_files(b);
	builder_op(b, IOT_PLAY_signal)->handle = cpu_to_le32(1);
	builder_op(b, IOT_PLAY_wait);
	builder_wait(b, IOT_WAIT_LATCH, 0);
	builder_wait(b, 2, 0);

	queue = builder_task(b);
	queue->flags = cpu_to_le32(IOT_TASK_QUEUE);
	queue->parent = cpu_to_le32(1);
	op_on_slots(b, IOT_KIND_complete, 1, 0);
	builder_wait(b, 1, 3);
}
