// SPDX-License-Identifier: GPL-2.0-only
/*
 * attached.c - the trace of a recording that starts when much is open and mapped: COUNT files, each
 * open and mapped once, every second one without a name, COUNT more mappings of the first, and a fork
 * that copies all of these.
 *
 *	attached COUNT FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/iotape.h"

#define PAGE_BYTES 4096
#define ROOT	   1

static struct iot_writer *writer;
static u64 now_ns = 1000000;

static void put(struct iot_record *record, const char *tail)
{
	int err;

	record->tail = (const u8 *)tail;
	record->tail_bytes = (u16)strlen(tail);
	err = iot_writer_record(writer, record);
	if (err < 0) {
		fprintf(stderr, "attached: %s\n", strerror(-err));
		exit(1);
	}
}

static void put_name(u64 name, u64 dir, const char *text)
{
	struct iot_record r = { .kind = IOT_KIND_name };

	r.name.time_ns = ++now_ns;
	r.name.name = name;
	r.name.dir = dir;
	put(&r, text);
}

static void put_object(u64 object, u64 name, u32 type)
{
	struct iot_record r = { .kind = IOT_KIND_object };

	r.object.time_ns = ++now_ns;
	r.object.object = object;
	r.object.name = name;
	r.object.type = type;
	r.object.mode = type << 12 | 0755;
	r.object.ino = object;
	r.object.nlink = name ? 1 : 0;
	r.object.size_bytes = type == IOT_TYPE_file ? PAGE_BYTES : 0;
	put(&r, "");
}

static void put_task(u32 task, u32 parent)
{
	struct iot_record r = { .kind = IOT_KIND_task };

	r.task.time_ns = ++now_ns;
	r.task.task = task;
	r.task.tgid = task;
	r.task.parent = parent;
	r.task.why = parent ? IOT_REASON_fork : IOT_REASON_seen;
	put(&r, "held");
}

static void put_opened(u64 object, u64 name)
{
	struct iot_record r = { .kind = IOT_KIND_opened };

	r.opened.time_ns = ++now_ns;
	r.opened.task = 1;
	r.opened.object = object;
	r.opened.handle = object;
	r.opened.fd = (s32)object;
	r.opened.name = name;
	r.opened.flags = IOT_OPEN_read;
	put(&r, "");
}

static void put_mapped(u64 object, u64 map)
{
	struct iot_record r = { .kind = IOT_KIND_mapped };

	r.mapped.time_ns = ++now_ns;
	r.mapped.task = 1;
	r.mapped.object = object;
	r.mapped.handle = object;
	r.mapped.map = map;
	r.mapped.length_bytes = PAGE_BYTES;
	r.mapped.prot = IOT_PROT_read;
	put(&r, "");
}

static void put_file(u64 object)
{
	char text[32];
	u64 name = object % 2 ? object : 0;

	if (name) {
		snprintf(text, sizeof(text), "file%llu", object);
		put_name(name, ROOT, text);
	}
	put_object(object, name, IOT_TYPE_file);
	put_opened(object, name);
	put_mapped(object, object);
}

static void put_copy(u64 object, u64 map, u32 op)
{
	struct iot_record r = { .kind = IOT_KIND_map };

	r.map.enter_ns = ++now_ns;
	r.map.task = 1;
	r.map.op = op;
	r.map.object = object;
	r.map.handle = object;
	r.map.map = map;
	r.map.length_bytes = PAGE_BYTES;
	r.map.prot = IOT_PROT_read;
	r.map.flags = IOT_MAP_inherited;
	put(&r, "");
}

static void put_fork(u32 op)
{
	struct iot_record r = { .kind = IOT_KIND_fork };

	put_task(2, 1);
	r.fork.time_ns = ++now_ns;
	r.fork.task = 1;
	r.fork.op = op;
	r.fork.child = 2;
	put(&r, "");
}

static void put_stat(u32 task)
{
	struct iot_record r = { .kind = IOT_KIND_stat };

	r.stat.enter_ns = ++now_ns;
	r.stat.task = task;
	r.stat.op = 1000000000;
	r.stat.name = ROOT;
	r.stat.object = ROOT;
	put(&r, "");
}

static void put_all(u64 count)
{
	u64 i;

	put_task(1, 0);
	put_name(ROOT, 0, "");
	put_object(ROOT, ROOT, IOT_TYPE_dir);
	for (i = 0; i < count; i++)
		put_file(ROOT + 2 + i);
	for (i = 0; i < count; i++)
		put_mapped(ROOT + 2, ROOT + 2 + count + i);
	for (i = 0; i < count; i++)
		put_copy(ROOT + 2 + i, ROOT + 2 + 2 * count + i, (u32)i + 1);
	put_fork((u32)count + 1);
	put_stat(1);
	put_stat(2);
}

int main(int argc, char **argv)
{
	static const unsigned char capture[16] = "attached";

	if (argc != 3 || iot_writer_open(argv[2], capture, &writer))
		return 2;
	put_all(strtoull(argv[1], NULL, 10));
	return iot_writer_finish(writer) ? 1 : 0;
}
