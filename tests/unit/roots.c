// SPDX-License-Identifier: GPL-2.0-only
/*
 * roots.c - traces of several recorded directories become one tree.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/iotape.h"
#include "scratch.h"
#include "suite.h"

#define MOUNTS_MAX 4

static struct iot_writer *writer;
static u64 now_ns;

static void put(struct iot_record record, const char *tail)
{
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)strlen(tail);
	iot_field_set(&record, iot_kind_info(record.kind)->fields, ++now_ns);
	assert_int_equal(iot_writer_record(writer, &record), 0);
}

static void put_name(u64 name, u64 dir, const char *component)
{
	put((struct iot_record){ .kind = IOT_KIND_name, .name = { .name = name, .dir = dir } }, component);
}

static void put_object(u64 object, u64 name, u32 type)
{
	put((struct iot_record){ .kind = IOT_KIND_object,
				 .object = { .object = object, .name = name, .type = type, .uid = 7 } }, "");
}

static void put_fact(const char *key, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "%s=%s", key, value);
	put((struct iot_record){ .kind = IOT_KIND_fact }, text);
}

static void begin(void)
{
	const unsigned char capture[16] = { 1 };

	now_ns = 1000;
	assert_int_equal(iot_writer_open(scratch_trace, capture, &writer), 0);
}

static void finish(void)
{
	put((struct iot_record){ .kind = IOT_KIND_end }, "");
	assert_int_equal(iot_writer_finish(writer), 0);
	iot_writer_close(writer);
}

/* In each directory i, the file `a` is object 20 + i with name 20 + i. */
static void put_mounts(const char *const *mounts, bool is_told_late)
{
	u32 i;

	for (i = 0; i < MOUNTS_MAX && mounts[i]; i++)
		put_fact("mount", mounts[i]);
	for (i = 0; i < MOUNTS_MAX && mounts[i]; i++) {
		put_name(1 + i, 0, "");
		put_object(1 + i, 1 + i, IOT_TYPE_dir);
		if (!is_told_late)
			put((struct iot_record){ .kind = IOT_KIND_mount, .mount.object = 1 + i }, mounts[i]);
		put_name(20 + i, 1 + i, "a");
		put_object(20 + i, 20 + i, IOT_TYPE_file);
		put((struct iot_record){ .kind = IOT_KIND_stat, .stat = { .name = 20 + i, .object = 20 + i } }, "");
	}
	for (i = 0; i < MOUNTS_MAX && mounts[i] && is_told_late; i++)
		put((struct iot_record){ .kind = IOT_KIND_mount, .mount.object = 1 + i }, mounts[i]);
}

/* The view of a reader: paths of stats, and facts `root.`, each followed by a space. */
static int see(void *context, struct iot_names *names, const struct iot_record *record)
{
	char *text = context;
	size_t at = strlen(text);

	if (record->kind == IOT_KIND_stat)
		snprintf(text + at, 1024 - at, "%s ", iot_names_of_record(names, record).path);
	else if (record->kind == IOT_KIND_fact && !strncmp((const char *)record->tail, "root.", 5))
		snprintf(text + at, 1024 - at, "%.*s ", record->tail_bytes, (const char *)record->tail);
	return 0;
}

static void assert_seen(const char *expected)
{
	struct iot_reject reject;
	char text[1024] = "";

	assert_int_equal(iot_trace_walk(scratch_trace, see, text, NULL, &reject), 0);
	assert_string_equal(text, expected);
}

static const struct {
	const char *mounts[MOUNTS_MAX];
	const char *seen;
} cases[] = {
	{ { "/run/m1" }, "a " },
	{ { "/run/m1", "/run/m2" }, "root.m1=/run/m1 root.m2=/run/m2 m1/a m2/a " },
	{ { "/scratch", "/home" }, "root.scratch=/scratch root.home=/home scratch/a home/a " },
	{ { "/x/m", "/y/m", "/y/n" }, "root.x/m=/x/m root.y/m=/y/m root.y/n=/y/n x/m/a y/m/a y/n/a " },
	{ { "/run/m", "/run/mm" }, "root.m=/run/m root.mm=/run/mm m/a mm/a " },
	{ { "/run/a/b", "/run/ab" }, "root.a/b=/run/a/b root.ab=/run/ab a/b/a ab/a " },
	{ { "/run", "/run/m" }, "root.m=/run/m a m/a " },
	{ { "/run/m", "/run" }, "root.m=/run/m m/a a " },
	{ { "/", "/run" }, "root.run=/run a run/a " },
	{ { "/run/../etc", "/run/m" }, "a a " }, /* not a path of the kernel: ignored */
};

static void roots_have_paths_below_the_common_parent(void **state)
{
	size_t i;
	int is_late;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (is_late = 0; is_late < 2; is_late++) {
			begin();
			put_mounts(cases[i].mounts, is_late);
			finish();
			assert_seen(cases[i].seen);
		}
}

/* A merged trace, in which the directories of nodes are below a common root. */
static void shared_directories_are_beside_nodes(void **state)
{
	(void)state;
	begin();
	put_fact("nodes", "2");
	put_fact("shared", "/net/m1");
	put_fact("shared", "/net/m2");
	put_name(100, 0, "");
	put_object(100, 100, IOT_TYPE_dir);
	put_fact("mount", "/tmp");
	put_mounts((const char *const[MOUNTS_MAX]){ "/net/m1", "/net/m2" }, false);
	put_name(101, 100, "node1");
	put_object(101, 101, IOT_TYPE_dir);
	put((struct iot_record){ .kind = IOT_KIND_mount, .mount.object = 101 }, "/tmp");
	put((struct iot_record){ .kind = IOT_KIND_stat, .stat = { .name = 101, .object = 101 } }, "");
	finish();
	assert_seen("root.m1=/net/m1 root.m2=/net/m2 m1/a m2/a node1 ");
}

static void common_parent_belongs_to_the_owner_of_a_root(void **state)
{
	const struct iot_record *records;
	struct iot_roots *roots;
	struct iot_reject reject;
	u32 count, i, objects = 0;

	(void)state;
	begin();
	put_mounts((const char *const[MOUNTS_MAX]){ "/x/m", "/y/m" }, false);
	finish();
	assert_int_equal(iot_roots_open(scratch_trace, &roots, &reject), 0);
	records = iot_roots_records(roots, &count);
	for (i = 0; i < count; i++)
		if (records[i].kind == IOT_KIND_object) {
			assert_int_equal(records[i].object.uid, 7);
			objects++;
		}
	assert_int_equal(objects, 3); /* the common root, x, y */
	iot_roots_close(roots);
}

SUITE("roots", WITH_SCRATCH(roots_have_paths_below_the_common_parent)
		       WITH_SCRATCH(shared_directories_are_beside_nodes)
		       WITH_SCRATCH(common_parent_belongs_to_the_owner_of_a_root))
