// SPDX-License-Identifier: GPL-2.0-only
/*
 * beginning.c - the initial tree of a trace whose operations overlap.
 *
 * Each case is a few operations, each of another task, in the order of their ends, as in a trace; the size
 * of a file identifies it. With all rules of order, the initial tree must be one that explains the results in
 * some order of the operations.
 */
#include <stdlib.h>
#include <unistd.h>

#include "analyse/graph/graph.h"
#include "compile/compile.h"
#include "scratch.h"
#include "suite.h"

#define STEPS_MAX 6
#define IDS_MAX	  32
#define CREATED	  (IOT_OPEN_write | IOT_OPEN_create | IOT_OPEN_created)

/* Paths are components of the root, or of the directory "d"; objects are numbers from 2. */
struct step {
	u16 kind;
	u64 enter_ns;
	u64 end_ns;
	const char *path;
	u64 object;
	const char *path2;
	u64 replaced;
	u32 flags;
	s64 result;
};

struct beginning {
	const char *what;
	struct step steps[STEPS_MAX];
	const char *tree; /* path:object, sorted */
};

static const struct beginning cases[] = {
	{ "a file found by its new name before the rename returned",
	  { { IOT_KIND_stat, 10, 20, "b", 2 }, { IOT_KIND_rename, 5, 30, "a", 2, "b" } },
	  "a:2" },
	{ "a file found by its old name after the rename had begun",
	  { { IOT_KIND_stat, 10, 20, "a", 2 }, { IOT_KIND_rename, 5, 30, "a", 2, "b" } },
	  "a:2" },
	{ "a name found absent before the file was removed",
	  { { IOT_KIND_lookup, 10, 20, "a", .result = -ENOENT }, { IOT_KIND_unlink, 5, 30, "a", 2 } },
	  "a:2" },
	{ "a file created where another one was removed",
	  { { IOT_KIND_open, 10, 20, "a", 3, .flags = CREATED }, { IOT_KIND_unlink, 5, 30, "a", 2 } },
	  "a:2" },
	{ "a file created and removed",
	  { { IOT_KIND_unlink, 10, 20, "a", 2 }, { IOT_KIND_open, 5, 30, "a", 2, .flags = CREATED } },
	  "" },
	{ "a file that replaced another one",
	  { { IOT_KIND_stat, 10, 20, "b", 2 }, { IOT_KIND_rename, 5, 30, "a", 2, "b", 3 } },
	  "a:2 b:3" },
	{ "two renames of one file, the second returned first",
	  { { IOT_KIND_rename, 10, 20, "b", 2, "c" }, { IOT_KIND_rename, 5, 30, "a", 2, "b" } },
	  "a:2" },
	{ "three of them",
	  { { IOT_KIND_rename, 10, 20, "c", 2, "e" }, { IOT_KIND_rename, 8, 25, "b", 2, "c" },
	    { IOT_KIND_rename, 5, 30, "a", 2, "b" } },
	  "a:2" },
	{ "a file renamed to the name of one that had been renamed",
	  { { IOT_KIND_rename, 10, 20, "b", 2, "a" }, { IOT_KIND_rename, 5, 30, "a", 3, "c" } },
	  "a:3 b:2" },
	{ "two files exchanged through a third name",
	  { { IOT_KIND_rename, 12, 18, "t", 2, "b" }, { IOT_KIND_rename, 10, 20, "b", 3, "a" },
	    { IOT_KIND_rename, 5, 30, "a", 2, "t" } },
	  "a:2 b:3" },
	{ "two files exchanged, and found before the exchange returned",
	  { { IOT_KIND_stat, 10, 20, "a", 3 },
	    { IOT_KIND_rename, 5, 30, "a", 2, "b", 3, IOT_RENAME_exchange } },
	  "a:2 b:3" },
	{ "a second name created by a link",
	  { { IOT_KIND_stat, 10, 20, "b", 2 }, { IOT_KIND_link, 5, 30, "a", 2, "b" } },
	  "a:2" },
	{ "a file renamed twice, and its old name reused",
	  { { IOT_KIND_unlink, 12, 18, "b", 2 },
	    { IOT_KIND_open, 11, 19, "a", 4, .flags = CREATED },
	    { IOT_KIND_rename, 5, 30, "a", 2, "b" } },
	  "a:2" },
	{ "a name created, removed, and found absent",
	  { { IOT_KIND_lookup, 10, 15, "a", .result = -ENOENT },
	    { IOT_KIND_open, 12, 20, "a", 2, .flags = CREATED }, { IOT_KIND_unlink, 5, 30, "a", 2 } },
	  "" },
	{ "nothing overlapped",
	  { { IOT_KIND_stat, 10, 20, "a", 2 }, { IOT_KIND_rename, 25, 30, "a", 2, "b" } },
	  "a:2" },
};

static const char *const trace = scratch_trace, *const program = scratch_program;

/* -- a trace ---------------------------------------------------------------------------------- */

struct writing {
	struct iot_writer *writer;
	const char *names[IDS_MAX];
	u32 name_count;
	bool is_stated[IDS_MAX];
};

static void put(struct writing *w, struct iot_record *r, const char *tail)
{
	r->tail = (const u8 *)(tail ? tail : "");
	r->tail_bytes = (u16)strlen((const char *)r->tail);
	assert_int_equal(iot_writer_record(w->writer, r), 0);
}

static u64 name_of(struct writing *w, const char *component, u64 ns)
{
	struct iot_record r = { .kind = IOT_KIND_name };
	u32 i;

	for (i = 0; i < w->name_count; i++)
		if (!strcmp(w->names[i], component))
			return i + 1;
	assert_true(i < IDS_MAX);
	w->names[w->name_count++] = component;
	r.name.time_ns = ns;
	r.name.name = i + 1;
	r.name.dir = component[0] ? 1 : 0;
	put(w, &r, component);
	return i + 1;
}

static u64 tell(struct writing *w, u64 object, u64 name, u64 ns)
{
	struct iot_record r = { .kind = IOT_KIND_object };
	u32 type = object == 1 ? IOT_TYPE_dir : IOT_TYPE_file;

	if (!object || w->is_stated[object])
		return object;
	w->is_stated[object] = true;
	r.object.time_ns = ns;
	r.object.object = object;
	r.object.name = name;
	r.object.type = type;
	r.object.mode = type << 12 | 0755;
	r.object.ino = object + 100;
	r.object.size_bytes = object == 1 ? 0 : object;
	put(w, &r, NULL);
	return object;
}

static void put_task(struct writing *w, u32 task)
{
	struct iot_record r = { .kind = IOT_KIND_task };

	r.task.time_ns = 1;
	r.task.task = task;
	r.task.tgid = task;
	r.task.why = IOT_REASON_adopt;
	put(w, &r, "app");
}

static void put_step(struct writing *w, const struct step *step, u32 task)
{
	struct iot_record r = { .kind = step->kind };
	u64 name = name_of(w, step->path, step->enter_ns);
	u64 name2 = step->path2 ? name_of(w, step->path2, step->enter_ns) : 0;
	u64 object = tell(w, step->object, name, step->enter_ns);
	u64 replaced = tell(w, step->replaced, name2, step->enter_ns);

	r.op.enter_ns = step->enter_ns;
	r.op.duration_ns = step->end_ns - step->enter_ns;
	r.op.task = task;
	r.op.op = 1;
	r.op.result = step->result;
	switch (step->kind) {
	case IOT_KIND_rename:
		r.rename.name = name;
		r.rename.object = object;
		r.rename.new_name = name2;
		r.rename.replaced = replaced;
		r.rename.flags = step->flags;
		break;
	case IOT_KIND_link:
		r.link.old_name = name;
		r.link.name = name2;
		r.link.object = object;
		break;
	default: /* these records have the same first fields */
		r.stat.name = name;
		r.stat.object = object;
	}
	if (step->kind == IOT_KIND_open)
		r.open.flags = step->flags;
	put(w, &r, NULL);
}

static void record(const struct beginning *c)
{
	static const unsigned char capture[16] = "beginning";
	struct writing w = {};
	u32 i;

	assert_int_equal(iot_writer_open(trace, capture, &w.writer), 0);
	tell(&w, 1, name_of(&w, "", 1), 1);
	for (i = 0; i < STEPS_MAX && c->steps[i].kind; i++)
		put_task(&w, i + 1);
	for (i = 0; i < STEPS_MAX && c->steps[i].kind; i++)
		put_step(&w, &c->steps[i], i + 1);
	assert_int_equal(iot_writer_finish(w.writer), 0);
	iot_writer_close(w.writer);
}

/* -- its tree --------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void compile(const char *order, char *tree, size_t room)
{
	struct compile_options options = { .trace = trace, .program = program, .order = order };
	char entries[STEPS_MAX * 2][32];
	struct compile_summary summary;
	struct iot_program loaded;
	struct iot_reject reject;
	u32 count = 0, i;

	assert_null(order_rules_parse(order, &options.rules));
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(program, &loaded, &reject), 0);
	for (i = 0; i < loaded.entry_count; i++) {
		const char *path = iot_program_string(&loaded, loaded.tree[i].path);

		if (strcmp(path, ".") && count < STEPS_MAX * 2)
			snprintf(entries[count++], sizeof(entries[0]), "%.16s:%u", path,
				 (u32)le64_to_cpu(loaded.tree[i].size_bytes));
	}
	iot_program_free(&loaded);
	qsort(entries, count, sizeof(entries[0]), compare_texts);
	tree[0] = 0;
	for (i = 0; i < count; i++)
		snprintf(tree + strlen(tree), room - strlen(tree), "%s%s", i ? " " : "", entries[i]);
}

static void existing_names_are_in_the_initial_tree(void **state)
{
	static const char *const orders[] = { "iotape", "artc", "temporal", "single",
					      "unconstrained" };
	char tree[256], row[512];
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		record(&cases[i]);
		for (j = 0; j < sizeof(orders) / sizeof(orders[0]); j++) {
			compile(orders[j], tree, sizeof(tree));
			snprintf(row, sizeof(row), "%s, order %s: \"%s\"", cases[i].what, orders[j],
				 tree);
			assert_row(row, !strcmp(tree, cases[i].tree));
		}
	}
}

/* The inodes of a directory that the trace created, and of a file in it, were evicted and came back with other object ids. */
static void renamed_back_objects_are_not_new(void **state)
{
	static const unsigned char capture[16] = "beginning";
	struct writing w = {};
	struct iot_record r = { .kind = IOT_KIND_mkdir };
	char tree[256];
	u64 ns = 10, object;

	(void)state;
	assert_int_equal(iot_writer_open(trace, capture, &w.writer), 0);
	put_task(&w, 1);
	tell(&w, 1, name_of(&w, "", 1), 1);
	for (object = 2; object < 4; object++, ns += 10) { /* the ids of the directory */
		struct iot_record is = { .kind = IOT_KIND_object };
		u64 dir_name = name_of(&w, "d", ns);

		is.object = (struct iot_rec_object){ .time_ns = ns, .object = object * 2,
						     .name = dir_name, .type = IOT_TYPE_dir,
						     .mode = IOT_TYPE_dir << 12 | 0755, .ino = 500,
						     .generation = 7 };
		put(&w, &is, NULL);
		r.kind = object == 2 ? IOT_KIND_mkdir : IOT_KIND_stat;
		r.mkdir = (struct iot_rec_mkdir){ .enter_ns = ns, .duration_ns = 1, .task = 1,
						  .op = (u32)ns, .name = dir_name,
						  .object = object * 2 };
		put(&w, &r, NULL);
		is.kind = IOT_KIND_name;
		is.name = (struct iot_rec_name){ .time_ns = ns + 2, .name = 20 + object,
						 .dir = object * 2 };
		put(&w, &is, "f");
		is.kind = IOT_KIND_object;
		is.object = (struct iot_rec_object){ .time_ns = ns + 2, .object = object * 2 + 1,
						     .name = 20 + object, .type = IOT_TYPE_file,
						     .mode = IOT_TYPE_file << 12 | 0755, .ino = 501,
						     .generation = 8 };
		put(&w, &is, NULL);
		r.kind = object == 2 ? IOT_KIND_mknod : IOT_KIND_stat;
		r.mkdir.enter_ns = ns + 3;
		r.mkdir.op = (u32)ns + 1;
		r.mkdir.name = 20 + object;
		r.mkdir.object = object * 2 + 1;
		put(&w, &r, NULL);
	}
	assert_int_equal(iot_writer_finish(w.writer), 0);
	iot_writer_close(w.writer);
	compile("iotape", tree, sizeof(tree));
	assert_string_equal(tree, "");
}

/* -- directories ------------------------------------------------------------------------------ */

#define DIR_ID	2 /* "d", and its name */
#define FILE_ID 3 /* "d/x", and its name */

static void put_name(struct writing *w, u64 name, u64 dir, const char *component)
{
	struct iot_record r = { .kind = IOT_KIND_name, .name = { .time_ns = 2, .name = name, .dir = dir } };

	put(w, &r, component);
}

static void put_object(struct writing *w, u64 object, u64 name, u32 type)
{
	struct iot_record r = { .kind = IOT_KIND_object };

	r.object = (struct iot_rec_object){ .time_ns = 2, .object = object, .name = name, .type = type,
					    .mode = type << 12 | 0755, .ino = object + 100,
					    .size_bytes = type == IOT_TYPE_file ? 5 : 0 };
	put(w, &r, NULL);
}

static void begin_in_directory(struct writing *w)
{
	static const unsigned char capture[16] = "beginning";

	*w = (struct writing){};
	assert_int_equal(iot_writer_open(trace, capture, &w->writer), 0);
	put_task(w, 1);
	tell(w, 1, name_of(w, "", 1), 1);
	put_name(w, DIR_ID, 1, "d");
}

static void put_open(struct writing *w, u64 ns, u64 name, u64 object, u32 flags)
{
	struct iot_record r = { .kind = IOT_KIND_open };

	r.open = (struct iot_rec_open){ .enter_ns = ns, .duration_ns = 1, .task = 1, .op = (u32)ns,
					.name = name, .object = object, .handle = ns, .flags = flags };
	put(w, &r, NULL);
}

static void gives_tree(struct writing *w, const char *expected)
{
	char tree[256];

	assert_int_equal(iot_writer_finish(w->writer), 0);
	iot_writer_close(w->writer);
	compile("iotape", tree, sizeof(tree));
	assert_string_equal(tree, expected);
}

/* The open states the name of the directory, and created a file. */
static void unnamed_file_is_created_in_an_existing_directory(void **state)
{
	static const struct {
		bool is_stated, is_used;
		const char *tree;
	} rows[] = { { false, false, "d:0" }, { true, false, "d:0" }, { true, true, "d/x:5 d:0" } };
	const u32 flags = IOT_OPEN_write | IOT_OPEN_directory | IOT_OPEN_tmpfile | IOT_OPEN_created;
	struct writing w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_in_directory(&w);
		if (rows[i].is_stated)
			put_object(&w, DIR_ID, DIR_ID, IOT_TYPE_dir);
		put_object(&w, 9, 0, IOT_TYPE_file);
		put_open(&w, 10, DIR_ID, 9, flags);
		if (rows[i].is_used) {
			put_name(&w, FILE_ID, DIR_ID, "x");
			put_object(&w, FILE_ID, FILE_ID, IOT_TYPE_file);
			put_open(&w, 20, FILE_ID, FILE_ID, IOT_OPEN_read);
		}
		gives_tree(&w, rows[i].tree);
	}
}

/* The mkdir record was lost: without the directory, the file could not have been created. */
static void directory_exists_for_its_entries(void **state)
{
	struct iot_record r = { .kind = IOT_KIND_lookup };
	struct writing w;

	(void)state;
	begin_in_directory(&w);
	r.lookup = (struct iot_rec_lookup){ .enter_ns = 10, .duration_ns = 1, .task = 1, .op = 1,
					    .name = DIR_ID, .result = -ENOENT };
	put(&w, &r, NULL);
	put_object(&w, DIR_ID, DIR_ID, IOT_TYPE_dir);
	put_name(&w, FILE_ID, DIR_ID, "x");
	put_object(&w, FILE_ID, FILE_ID, IOT_TYPE_file);
	put_open(&w, 20, FILE_ID, FILE_ID, IOT_OPEN_read);
	gives_tree(&w, "d/x:5 d:0");
}

SUITE("beginning",
      WITH_SCRATCH(existing_names_are_in_the_initial_tree)
      WITH_SCRATCH(renamed_back_objects_are_not_new)
      WITH_SCRATCH(unnamed_file_is_created_in_an_existing_directory)
      WITH_SCRATCH(directory_exists_for_its_entries))
