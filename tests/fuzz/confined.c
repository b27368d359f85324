// SPDX-License-Identifier: GPL-2.0-only
/*
 * confined.c - programs with operations that a replay must refuse; the expected results are those of
 * the refusals.
 *
 *	confined NAME FILE
 *
 *   devices  device nodes are created, and opened by their names and through links
 *   dots     the target itself is created, removed, renamed
 *   types    nodes of types that mknod(2) does not support, and of invalid ones
 *   pieces   a mapping, a part of whose last page was unmapped, and another one at that address
 *   owners   a handle with locks of two owners in a program of many tasks is released
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <iotape/schema.h>

#include "tests/unit/builder.h"

#define PAGE_BYTES 4096
#define PAGES	   16
#define MANY_TASKS (1 << 12)

static void op_mknod(struct builder *b, const char *path, u32 mode, u64 rdev, s64 result)
{
	struct iot_program_op *op = op_on_path(b, IOT_KIND_mknod, path, result);

	op->mode = cpu_to_le32(mode);
	op->extra = cpu_to_le64(rdev);
}

static void op_open(struct builder *b, const char *path, u32 handle, u32 flags, s64 result)
{
	struct iot_program_op *op = op_on_path(b, IOT_KIND_open, path, result);

	op->handle = cpu_to_le32(handle);
	op->flags = cpu_to_le32(flags | IOT_OPEN_read | IOT_OPEN_write);
	op->mode = cpu_to_le32(0600);
}

static struct iot_program_op *op_on_handle(struct builder *b, u16 kind, u32 handle, u64 length_bytes)
{
	struct iot_program_op *op = builder_op(b, kind);

	op->handle = cpu_to_le32(handle);
	op->length_bytes = cpu_to_le64(length_bytes);
	return op;
}

static void make_devices(struct builder *b)
{
	static const struct {
		const char *name, *link;
		u32 mode;
	} devices[] = { { "zero", "to-zero", S_IFCHR | 0600 }, { "disk", "to-disk", S_IFBLK | 0600 } };
	size_t i;

	builder_task(b);
	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		op_mknod(b, devices[i].name, devices[i].mode, 0x105, 0);
		op_on_paths(b, IOT_KIND_symlink, devices[i].link, devices[i].name, 0);
		op_open(b, devices[i].name, 0, 0, -EACCES);
		op_open(b, devices[i].link, 0, 0, -EACCES);
	}
}

static void make_dots(struct builder *b)
{
	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_create, 0);
	op_on_path(b, IOT_KIND_lookup, ".", -EEXIST)->flags =
		cpu_to_le32(IOT_INTENT_create | IOT_INTENT_excl);
	op_on_path(b, IOT_KIND_mkdir, ".", -EEXIST);
	op_mknod(b, ".", S_IFREG | 0600, 0, -EEXIST);
	op_on_paths(b, IOT_KIND_symlink, ".", "f", -EEXIST);
	op_on_paths(b, IOT_KIND_link, "f", ".", -EEXIST);
	op_on_path(b, IOT_KIND_rmdir, ".", -EINVAL);
	op_on_path(b, IOT_KIND_unlink, ".", -EISDIR);
	op_on_paths(b, IOT_KIND_rename, ".", "g", -EBUSY);
	op_on_paths(b, IOT_KIND_rename, "f", ".", -EBUSY);
}

static void make_types(struct builder *b)
{
	builder_task(b);
	op_mknod(b, "directory", S_IFDIR | 0700, 0, -EPERM);
	op_mknod(b, "link", S_IFLNK | 0700, 0, -EINVAL);
	op_mknod(b, "anything", S_IFMT | 0700, 0, -EINVAL);
	op_mknod(b, "none", 0600, 0x105, 0);
	op_open(b, "none", 1, 0, 0);
	op_on_handle(b, IOT_KIND_write, 1, 10)->result = cpu_to_le64(10);
	op_mknod(b, "pipe", S_IFIFO | 0600, 0x105, 0);
}

static void op_map(struct builder *b, u32 handle, u32 map, u64 length_bytes)
{
	struct iot_program_op *op = op_on_handle(b, IOT_KIND_map, handle, length_bytes);

	op->other = cpu_to_le32(map);
	op->flags = cpu_to_le32(IOT_MAP_shared);
	op->mode = cpu_to_le32(IOT_PROT_read | IOT_PROT_write);
}

static void op_on_map(struct builder *b, u16 kind, u64 offset_bytes, u64 length_bytes, s64 result)
{
	struct iot_program_op *op = builder_op(b, kind);

	op->other = cpu_to_le32(1);
	op->offset_bytes = cpu_to_le64(offset_bytes);
	op->length_bytes = cpu_to_le64(length_bytes);
	op->result = cpu_to_le64((u64)result);
}

/* The second file is mapped at the former end of the first: it must not be accessible through the first. */
static void make_pieces(struct builder *b)
{
	struct iot_program_op *op;

	builder_task(b)->flags = cpu_to_le32(IOT_TASK_MAPS);
	op_open(b, "first", 1, IOT_OPEN_create, 0);
	op = op_on_handle(b, IOT_KIND_setattr, 1, PAGES * PAGE_BYTES);
	op->flags = cpu_to_le32(IOT_ATTR_size | IOT_ATTR_by_handle);
	op_map(b, 1, 1, PAGES * PAGE_BYTES - 1);
	op_on_map(b, IOT_KIND_unmap, 0, (PAGES - 1) * PAGE_BYTES - 1, 0);
	op_open(b, "second", 2, IOT_OPEN_create, 0);
	op = op_on_handle(b, IOT_KIND_setattr, 2, (PAGES - 1) * PAGE_BYTES);
	op->flags = cpu_to_le32(IOT_ATTR_size | IOT_ATTR_by_handle);
	op_map(b, 2, 2, (PAGES - 1) * PAGE_BYTES);
	op_on_map(b, IOT_KIND_touch, (PAGES - 1) * PAGE_BYTES - 1, 0, -EFAULT);
	op_on_map(b, IOT_KIND_touch, (PAGES - 1) * PAGE_BYTES, 0, 0);
	op_on_map(b, IOT_KIND_unmap, (PAGES - 1) * PAGE_BYTES, ~0ull, -EFAULT);
	op_on_map(b, IOT_KIND_unmap, (PAGES - 1) * PAGE_BYTES, 1, 0);
	op_on_map(b, IOT_KIND_touch, (PAGES - 1) * PAGE_BYTES, 0, -EFAULT);
}

static void op_lock(struct builder *b, u32 handle, u64 offset_bytes, u32 owner)
{
	struct iot_program_op *op = builder_op(b, IOT_KIND_lock);

	op->handle = cpu_to_le32(handle);
	op->mode = cpu_to_le32(owner);
	op->flags = cpu_to_le32(IOT_LOCK_exclusive);
	op->offset_bytes = op->extra = cpu_to_le64(offset_bytes);
}

static void make_owners(struct builder *b)
{
	u32 i;

	builder_task(b);
	op_open(b, "f", 1, IOT_OPEN_create, 0);
	op_open(b, "f", 2, 0, 0);
	op_lock(b, 1, 0, 1);
	op_lock(b, 1, 1, MANY_TASKS);
	op_on_handle(b, IOT_KIND_release, 1, 0);
	/* The locks have no owner any more. */
	op_lock(b, 2, 0, 2);
	op_lock(b, 2, 1, 3);
	for (i = 1; i < MANY_TASKS; i++)
		builder_task(b)->space = 0;
}

static const struct {
	const char *name;
	void (*make)(struct builder *b);
} programs[] = {
	{ "devices", make_devices }, { "dots", make_dots },	{ "types", make_types },
	{ "pieces", make_pieces },   { "owners", make_owners },
};

int main(int argc, char **argv)
{
	FILE *out = argc == 3 ? fopen(argv[2], "we") : NULL;
	struct builder b;
	bool is_known = false;
	size_t count, i;
	u8 *bytes;

	if (!out)
		return 1;
	builder_open(&b);
	b.head.handles = cpu_to_le32(2);
	b.head.maps = cpu_to_le32(2);
	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		if (strcmp(programs[i].name, argv[1]))
			continue;
		programs[i].make(&b);
		is_known = true;
	}
	bytes = builder_bytes(&b, &count);
	is_known = fwrite(bytes, count, 1, out) == 1 && is_known;
	is_known = !fclose(out) && is_known;
	free(bytes);
	builder_close(&b);
	return !is_known;
}
