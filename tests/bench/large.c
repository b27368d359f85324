// SPDX-License-Identifier: GPL-2.0-only
/*
 * large.c - a generated trace of any size: many tasks that create, write,
 * read, rename and remove files of their own, share directories, append to a common log,
 * and write interleaved blocks of a common file.
 *
 *	large OPERATIONS TASKS FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/iotape.h"

#define DIR_TASKS   32	 /* tasks that share a directory */
#define BLOCK_BYTES 4096
#define FILES	    64 /* names that a task reuses */

/* The state of a task: its file, and the current step on it. */
struct worker {
	u32 op;
	u32 file;
	u32 step;
	u64 object;
	u64 handle;
	u64 name;
	u64 new_name;
	u64 block;
	u64 data; /* handle of the common file */
	u64 log;
	u64 names[FILES];
};

static struct iot_writer *writer;
static u64 now_ns = 1000000, last_id = 1000, operations;
static u32 task_count;
static u64 data_bytes, log_bytes;

enum { ROOT = 1, SHARED, DATA, LOG }; /* objects, and their names */

static void put(const struct iot_record *record)
{
	int err = iot_writer_record(writer, record);

	if (err < 0) {
		fprintf(stderr, "large: %s\n", strerror(-err));
		exit(1);
	}
}

static u64 make_name(u64 dir, const char *text)
{
	struct iot_record r = { .kind = IOT_KIND_name };

	r.name.time_ns = now_ns;
	r.name.name = dir ? ++last_id : ROOT;
	r.name.dir = dir;
	r.tail = (const u8 *)text;
	r.tail_bytes = (u16)strlen(text);
	put(&r);
	return r.name.name;
}

static u64 make_object(u64 id, u64 name, u32 type, u64 size_bytes)
{
	struct iot_record r = { .kind = IOT_KIND_object };

	r.object.time_ns = now_ns;
	r.object.object = id ? id : ++last_id;
	r.object.name = name;
	r.object.type = type;
	r.object.mode = type << 12 | 0755;
	r.object.ino = r.object.object;
	r.object.size_bytes = size_bytes;
	put(&r);
	return r.object.object;
}

/* Operations follow each other; only operations of one step begin before the previous one has ended. */
static struct iot_record begin(struct worker *w, u32 task, u16 kind, s64 result)
{
	struct iot_record r = { .kind = kind };

	now_ns += 100;
	operations++;
	r.op.enter_ns = now_ns - 2000;
	r.op.duration_ns = 2000;
	r.op.task = task + 1;
	r.op.op = ++w->op;
	r.op.result = result;
	return r;
}

static u64 open_file(struct worker *w, u32 task, u64 name, u64 object, u32 flags)
{
	struct iot_record r = begin(w, task, IOT_KIND_open, 0);

	r.open.name = name;
	r.open.object = object;
	r.open.handle = ++last_id;
	r.open.flags = flags;
	put(&r);
	return r.open.handle;
}

static void transfer(struct worker *w, u32 task, u16 kind, u64 object, u64 handle, u64 offset_bytes,
		     u64 old_size_bytes, u32 flags)
{
	struct iot_record r = begin(w, task, kind, BLOCK_BYTES);

	r.write.object = object; /* the fields of a read are the first ones of a write */
	r.write.handle = handle;
	r.write.offset_bytes = (s64)offset_bytes;
	r.write.length_bytes = BLOCK_BYTES;
	r.write.flags = flags;
	if (kind == IOT_KIND_write)
		r.write.old_size_bytes = old_size_bytes;
	put(&r);
}

static void on_handle(struct worker *w, u32 task, u16 kind, u64 object, u64 handle)
{
	struct iot_record r = begin(w, task, kind, 0);

	r.flush.object = object;
	r.flush.handle = handle;
	put(&r);
}

static void on_name(struct worker *w, u32 task, u16 kind, u64 name, u64 object, u64 new_name)
{
	struct iot_record r = begin(w, task, kind, 0);

	r.stat.name = name;
	if (kind == IOT_KIND_rename) {
		r.rename.new_name = new_name;
		r.rename.object = object;
	} else {
		r.stat.object = object;
	}
	put(&r);
}

static void map_file(struct worker *w, u32 task)
{
	struct iot_record r = begin(w, task, IOT_KIND_map, 0);
	u64 map = ++last_id;

	r.map.object = w->object;
	r.map.handle = w->handle;
	r.map.map = map;
	r.map.length_bytes = BLOCK_BYTES;
	put(&r);
	r = begin(w, task, IOT_KIND_touch, 0);
	r.touch.object = w->object;
	r.touch.map = map;
	r.touch.length_bytes = BLOCK_BYTES;
	put(&r);
	r = begin(w, task, IOT_KIND_unmap, 0);
	r.unmap.object = w->object;
	r.unmap.map = map;
	r.unmap.length_bytes = BLOCK_BYTES;
	put(&r);
}

static u64 dir_of(u32 task)
{
	return 100 + task / DIR_TASKS;
}

/* A new file; three of four have a name that was used before. */
static void make_file(struct worker *w, u32 task)
{
	char text[64];
	u32 slot = w->file % FILES;

	snprintf(text, sizeof(text), "task%u.file%u", task, w->file % 4 ? slot : w->file);
	if (w->file % 4 == 0 || !w->names[slot])
		w->names[slot] = make_name(dir_of(task), text);
	w->name = w->names[slot];
	w->object = make_object(0, w->name, IOT_TYPE_file, 0);
	w->handle = open_file(w, task, w->name, w->object,
			      IOT_OPEN_read | IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_created);
}

static void write_shared(struct worker *w, u32 task)
{
	u64 offset_bytes = (w->block++ * task_count + task) * BLOCK_BYTES;

	if (!w->data)
		w->data = open_file(w, task, DATA, DATA, IOT_OPEN_write | IOT_OPEN_read);
	transfer(w, task, IOT_KIND_write, DATA, w->data, offset_bytes, data_bytes, 0);
	if (offset_bytes + BLOCK_BYTES > data_bytes)
		data_bytes = offset_bytes + BLOCK_BYTES;
}

static void append_log(struct worker *w, u32 task)
{
	if (!w->log)
		w->log = open_file(w, task, LOG, LOG, IOT_OPEN_write | IOT_OPEN_append);
	transfer(w, task, IOT_KIND_write, LOG, w->log, log_bytes, log_bytes, IOT_RW_append);
	log_bytes += BLOCK_BYTES;
}

static void list_directory(struct worker *w, u32 task)
{
	struct iot_record r;
	u64 dir = dir_of(task), handle = open_file(w, task, dir, dir, IOT_OPEN_directory);

	r = begin(w, task, IOT_KIND_readdir, 0);
	r.readdir.object = dir;
	r.readdir.handle = handle;
	put(&r);
	on_handle(w, task, IOT_KIND_flush, dir, handle);
	on_handle(w, task, IOT_KIND_release, dir, handle);
}

static void rename_file(struct worker *w, u32 task)
{
	char text[64];

	if (!w->new_name) {
		snprintf(text, sizeof(text), "task%u.new", task);
		w->new_name = make_name(dir_of(task), text);
	}
	on_name(w, task, IOT_KIND_rename, w->name, w->object, w->new_name);
	w->name = w->new_name;
}

static void work(struct worker *w, u32 task)
{
	u32 step = w->step++;

	if (step == 0)
		make_file(w, task);
	else if (step <= 10)
		transfer(w, task, IOT_KIND_write, w->object, w->handle, (step - 1) * BLOCK_BYTES,
			 (step - 1) * BLOCK_BYTES, 0);
	else if (step <= 15)
		transfer(w, task, IOT_KIND_read, w->object, w->handle, (step - 11) * BLOCK_BYTES, 0, 0);
	else if (step == 16 && w->file % 16 == 0)
		map_file(w, task);
	else if (step <= 18)
		write_shared(w, task);
	else if (step == 19 && data_bytes)
		transfer(w, task, IOT_KIND_read, DATA, w->data,
			 data_bytes / 2 / BLOCK_BYTES * BLOCK_BYTES, 0, 0);
	else if (step == 20 && w->file % 8 == 0)
		append_log(w, task);
	else if (step == 21 && w->file % 32 == 0)
		list_directory(w, task);
	else if (step == 22)
		on_handle(w, task, IOT_KIND_flush, w->object, w->handle);
	else if (step == 23)
		on_handle(w, task, IOT_KIND_release, w->object, w->handle);
	else if (step == 24)
		on_name(w, task, IOT_KIND_stat, w->name, w->object, 0);
	else if (step == 25 && w->file % 2)
		rename_file(w, task);
	else if (step == 26)
		on_name(w, task, IOT_KIND_unlink, w->name, w->object, 0);
	if (step == 26) {
		w->file++;
		w->step = 0;
	}
}

static void begin_tasks(void)
{
	struct iot_record r;
	char text[32];
	u32 i;

	make_name(0, "");
	make_object(ROOT, ROOT, IOT_TYPE_dir, 0);
	for (i = SHARED; i <= LOG; i++) { /* names have the numbers of their objects */
		last_id = i - 1;
		make_name(i == SHARED ? ROOT : SHARED, i == SHARED ? "shared" : i == DATA ? "data" : "log");
		make_object(i, i, i == SHARED ? IOT_TYPE_dir : IOT_TYPE_file, 0);
	}
	for (i = 0; i <= (task_count - 1) / DIR_TASKS; i++) {
		last_id = 100 + i - 1;
		snprintf(text, sizeof(text), "dir%u", i);
		make_name(ROOT, text);
		make_object(100 + i, 100 + i, IOT_TYPE_dir, 0);
	}
	last_id += 1000;
	for (i = 0; i < task_count; i++) {
		now_ns += 5000;
		r = (struct iot_record){ .kind = IOT_KIND_task };
		r.task.time_ns = now_ns;
		r.task.task = i + 1;
		r.task.parent = i ? (i - 1) / 8 + 1 : 0;
		r.task.tgid = i + 1;
		r.task.why = i ? IOT_REASON_fork : IOT_REASON_adopt;
		r.tail = (const u8 *)"worker";
		r.tail_bytes = 6;
		put(&r);
		if (!i)
			continue;
		r = (struct iot_record){ .kind = IOT_KIND_fork };
		r.fork.time_ns = now_ns;
		r.fork.task = (i - 1) / 8 + 1;
		r.fork.child = i + 1;
		put(&r);
	}
}

int main(int argc, char **argv)
{
	static const unsigned char capture[16] = "large";
	u64 wanted = argc == 4 ? strtoull(argv[1], NULL, 10) : 0, random = 1;
	struct worker *workers;

	task_count = argc == 4 ? (u32)strtoul(argv[2], NULL, 10) : 0;
	workers = calloc(task_count + 1, sizeof(*workers));
	if (!wanted || !task_count || !workers || iot_writer_open(argv[3], capture, &writer) < 0) {
		fprintf(stderr, "usage: large OPERATIONS TASKS FILE\n");
		return 2;
	}
	begin_tasks();
	while (operations < wanted) {
		u32 task;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		task = (u32)((random >> 33) % task_count);
		now_ns += 2000;
		work(&workers[task], task);
	}
	if (iot_writer_finish(writer) < 0)
		return 1;
	iot_writer_close(writer);
	free(workers);
	return 0;
}
