// SPDX-License-Identifier: GPL-2.0-only
/*
 * programs.c - generates programs for benchmarks of engines and of the sharing of workers.
 *
 *	programs KIND FILE [TASKS [COUNT]]
 *
 *   read     each task reads its own file COUNT times, 4 KiB of 1 MiB in turn
 *   write    each task overwrites its file in the same way
 *   stat     each task stats its file by name, in two directories
 *   open     each task opens and closes its file
 *   paced    as read, each after 10 ms of think time
 *   mixed    of eight operations, four read, two write, one stats by handle, one by name
 *   waits    each task reads; each read waits for the previous one of the preceding task:
 *            nothing runs concurrently, and each operation wakes a task
 *   script   TASKS processes, one after the other, as a shell starts them: each waits for its
 *            parent, looks up two names, reads a file, and ends; COUNT of them run at a time
 *   requests COUNT asynchronous direct reads in one request queue: each waits for the one before
 *   released the same, each with a handle of its own, which is locked before, and released during
 *            the read, which no application can do
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <iotape/schema.h>

#include "tests/unit/builder.h"

#define FILE_BYTES (1u << 20)
#define STEP_BYTES 4096u

static u32 tasks = 1;
static u32 count = 1000;

static struct iot_program_op *on_path(struct builder *b, u16 kind, __le32 path)
{
	struct iot_program_op *op = builder_op(b, kind);

	op->path = path;
	op->object = cpu_to_le32(1);
	return op;
}

static struct iot_program_op *on_handle(struct builder *b, u16 kind, u32 handle, u64 bytes)
{
	struct iot_program_op *op = builder_op(b, kind);

	op->handle = cpu_to_le32(handle);
	op->object = cpu_to_le32(1);
	op->length_bytes = cpu_to_le64(bytes);
	op->result = cpu_to_le64(bytes);
	return op;
}

static void add_open(struct builder *b, __le32 path, u32 handle)
{
	struct iot_program_op *op = on_path(b, IOT_KIND_open, path);

	op->handle = cpu_to_le32(handle);
	op->flags = cpu_to_le32(IOT_OPEN_read | IOT_OPEN_write);
}

static void add_transfer(struct builder *b, u16 kind, u32 handle, u32 number)
{
	on_handle(b, kind, handle, STEP_BYTES)->offset_bytes =
		cpu_to_le64((u64)number * STEP_BYTES % FILE_BYTES);
}

static void add_read(struct builder *b, __le32 path, u32 handle, u32 number)
{
	(void)path;
	add_transfer(b, IOT_KIND_read, handle, number);
}

static void add_paced(struct builder *b, __le32 path, u32 handle, u32 number)
{
	struct iot_program_op *op = on_handle(b, IOT_KIND_read, handle, STEP_BYTES);

	(void)path;
	op->offset_bytes = cpu_to_le64((u64)number * STEP_BYTES % FILE_BYTES);
	op->pause_ns = cpu_to_le64(10000000);
}

static void add_write(struct builder *b, __le32 path, u32 handle, u32 number)
{
	(void)path;
	add_transfer(b, IOT_KIND_write, handle, number);
}

static void add_stat(struct builder *b, __le32 path, u32 handle, u32 number)
{
	(void)handle;
	(void)number;
	on_path(b, IOT_KIND_stat, path);
}

static void add_mixed(struct builder *b, __le32 path, u32 handle, u32 number)
{
	switch (number % 8) {
	case 3:
		on_handle(b, IOT_KIND_stat, handle, 0);
		break;
	case 5:
		add_stat(b, path, handle, number);
		break;
	case 1:
	case 6:
		add_transfer(b, IOT_KIND_write, handle, number);
		break;
	default:
		add_transfer(b, IOT_KIND_read, handle, number);
		break;
	}
}

/* Two operations, of which the caller counts one. */
static void add_opening(struct builder *b, __le32 path, u32 handle, u32 number)
{
	if (number % 2)
		return;
	add_open(b, path, tasks + handle);
	on_handle(b, IOT_KIND_release, tasks + handle, 0);
}

static void add_waiting(struct builder *b, __le32 path, u32 handle, u32 number)
{
	u32 task = handle - 1;

	add_read(b, path, handle, number);
	if (task) /* operation 0 is the open */
		builder_wait(b, task - 1, number + 1);
	else if (number)
		builder_wait(b, tasks - 1, number);
}

typedef void (*add_fn)(struct builder *b, __le32 path, u32 handle, u32 number);

static void make(struct builder *b, add_fn add)
{
	char path[32];
	__le32 text;
	u32 task, i;

	b->head.handles = cpu_to_le32(2 * tasks);
	builder_object(b, 7, "d/e/f0");
	builder_entry(b, "d", S_IFDIR | 0755);
	builder_entry(b, "d/e", S_IFDIR | 0755);
	for (task = 0; task < tasks; task++) {
		snprintf(path, sizeof(path), "d/e/f%u", task);
		builder_entry(b, path, S_IFREG | 0644)->size_bytes = cpu_to_le64(FILE_BYTES);
		builder_task(b);
		text = builder_string(b, path);
		add_open(b, text, task + 1);
		for (i = 0; i < count; i++)
			add(b, text, task + 1, i);
		on_handle(b, IOT_KIND_release, task + 1, 0);
	}
}

#define CHILD_OPS 7

static void add_child(struct builder *b, u32 task, __le32 path)
{
	builder_task(b)->parent = 0;
	builder_op(b, IOT_PLAY_wait);
	builder_wait(b, 0, task - 1);
	on_path(b, IOT_KIND_lookup, path);
	on_path(b, IOT_KIND_stat, path);
	add_open(b, path, task);
	on_handle(b, IOT_KIND_read, task, STEP_BYTES);
	on_handle(b, IOT_KIND_flush, task, 0);
	on_handle(b, IOT_KIND_release, task, 0);
}

/* The parent: a fork of each; when COUNT children run, it waits for the oldest before the next. */
static void make_script(struct builder *b)
{
	__le32 path = builder_string(b, "f");
	u32 task;

	b->head.handles = cpu_to_le32(tasks);
	builder_object(b, 7, "f");
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(FILE_BYTES);
	builder_task(b);
	for (task = 1; task <= tasks; task++) {
		builder_op(b, IOT_PLAY_nop);
		if (task > count)
			builder_wait(b, task - count, CHILD_OPS - 1);
	}
	for (task = 1; task <= tasks; task++)
		add_child(b, task, path);
}

/* @at: index of its submit in the task */
static void add_request(struct builder *b, u16 kind, u32 handle, u32 number, u32 at)
{
	struct iot_program_op *op = on_handle(b, kind, handle, STEP_BYTES);

	op->offset_bytes = cpu_to_le64((u64)number * STEP_BYTES % FILE_BYTES);
	op->flags = cpu_to_le32(IOT_RW_direct);
	op->origin_op = cpu_to_le32(number + 2);
	if (kind == IOT_KIND_submit) {
		op->other = cpu_to_le32(2); /* the request queue is task 1 */
		op->result = 0;
	} else {
		builder_wait(b, 0, at);
	}
}

static void add_queue(struct builder *b)
{
	struct iot_program_task *queue = builder_task(b);

	queue->flags = cpu_to_le32(IOT_TASK_QUEUE);
	queue->origin = cpu_to_le32(1);
	queue->parent = 0;
}

static void make_requests(struct builder *b)
{
	u32 i;

	b->head.handles = cpu_to_le32(1);
	builder_object(b, 7, "f");
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(FILE_BYTES);
	builder_task(b);
	add_open(b, builder_string(b, "f"), 1);
	for (i = 0; i < count; i++)
		add_request(b, IOT_KIND_submit, 1, i, 0);
	add_queue(b);
	for (i = 0; i < count; i++)
		add_request(b, IOT_KIND_complete, 1, i, i + 1);
}

static void add_lock(struct builder *b, u32 handle)
{
	struct iot_program_op *op = on_handle(b, IOT_KIND_lock, handle, 0);

	op->flags = cpu_to_le32(IOT_LOCK_exclusive);
	op->mode = cpu_to_le32(1);
	op->extra = cpu_to_le64(FILE_BYTES);
}

static void make_released(struct builder *b)
{
	__le32 path = builder_string(b, "f");
	u32 i;

	b->head.handles = cpu_to_le32(count);
	builder_object(b, 7, "f");
	builder_entry(b, "f", S_IFREG | 0644)->size_bytes = cpu_to_le64(FILE_BYTES);
	builder_task(b);
	for (i = 0; i < count; i++) {
		add_open(b, path, i + 1);
		add_lock(b, i + 1);
		add_request(b, IOT_KIND_submit, i + 1, i, 0);
		on_handle(b, IOT_KIND_release, i + 1, 0);
	}
	add_queue(b);
	for (i = 0; i < count; i++)
		add_request(b, IOT_KIND_complete, i + 1, i, 4 * i + 2);
}

static int build(struct builder *b, const char *kind)
{
	static const struct {
		const char *kind;
		add_fn add;
	} kinds[] = {
		{ "read", add_read },   { "write", add_write },    { "stat", add_stat },
		{ "mixed", add_mixed }, { "open", add_opening },   { "waits", add_waiting },
		{ "paced", add_paced },
	};
	size_t i;

	if (!strcmp(kind, "script")) {
		make_script(b);
		return 0;
	}
	if (!strcmp(kind, "requests")) {
		make_requests(b);
		return 0;
	}
	if (!strcmp(kind, "released")) {
		make_released(b);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].kind, kind))
			continue;
		make(b, kinds[i].add);
		return 0;
	}
	fprintf(stderr, "usage: programs KIND FILE [TASKS [COUNT]]\n");
	return 2;
}

static int save(const struct builder *b, const char *path)
{
	size_t byte_count;
	u8 *bytes = builder_bytes(b, &byte_count);
	FILE *out = fopen(path, "we");
	bool is_written = out && fwrite(bytes, byte_count, 1, out) == 1;

	is_written = out && !fclose(out) && is_written;
	if (!is_written)
		perror(path);
	free(bytes);
	return !is_written;
}

int main(int argc, char **argv)
{
	struct builder b;
	int code;

	if (argc > 3)
		tasks = (u32)strtoul(argv[3], NULL, 10);
	if (argc > 4)
		count = (u32)strtoul(argv[4], NULL, 10);
	builder_open(&b);
	code = build(&b, argc > 2 ? argv[1] : "");
	if (!code)
		code = save(&b, argv[2]);
	builder_close(&b);
	return code;
}
