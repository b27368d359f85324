// SPDX-License-Identifier: GPL-2.0-only
/*
 * nameless.c - an open whose name is missing in the trace, and operations on its handle.
 *
 * If another task removed the name in the meantime, the open precedes the removal, with the removed name. Otherwise
 * no replay can open the file. Then all operations that used its handle, or objects created with
 * it, are removed and counted: with an empty handle slot, operations would diverge.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define REQUEST	 9
#define LOST	 7 /* the handle that was opened without a name */
#define KEPT	 8
#define MAP_LOST 20
#define MAP_KEPT 21

/* One operation for each use of a handle or a mapping. */
static void use(struct scribe *s, u64 handle, u64 map, u64 request)
{
	PUT(read, .object = SCRIBE_FILE, .handle = handle, .length_bytes = 1, .result = 1);
	PUT(copy_range, .object = SCRIBE_FILE, .handle = KEPT, .to_object = SCRIBE_FILE, .to_handle = handle,
	    .length_bytes = 1, .to_offset_bytes = 9, .result = 1);
	PUT(lock, .object = SCRIBE_FILE, .handle = handle, .end_bytes = 5, .flags = IOT_LOCK_exclusive);
	PUT(submit, .request = request, .object = SCRIBE_FILE, .handle = handle, .length_bytes = 4,
	    .flags = IOT_RW_direct);
	PUT(complete, .task = 1, .op = s->op, .request = request, .result = 4);
	PUT(map, .object = SCRIBE_FILE, .handle = handle, .map = map, .length_bytes = 4096,
	    .prot = IOT_PROT_read);
	PUT(touch, .object = SCRIBE_FILE, .map = map, .length_bytes = 4096);
	PUT(madvise, .object = SCRIBE_FILE, .handle = handle, .length_bytes = 4096);
	PUT(stat, .object = SCRIBE_FILE); /* a stat of an open file without a name */
	PUT(unmap, .object = SCRIBE_FILE, .map = map, .length_bytes = 4096);
	PUT(flush, .object = SCRIBE_FILE, .handle = handle);
	PUT(release, .object = SCRIBE_FILE, .handle = handle);
}

static void record(void)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = KEPT, .name = 5, .flags = IOT_OPEN_read | IOT_OPEN_write);
	PUT(unlink, .object = SCRIBE_FILE, .name = 5);
	PUT(open, .object = SCRIBE_FILE, .handle = LOST, .flags = IOT_OPEN_read | IOT_OPEN_write);
	use(s, LOST, MAP_LOST, REQUEST);
	use(s, KEPT, MAP_KEPT, REQUEST + 1);
	scribe_finish(s);
}

/* The operations of the program in order: kinds, with the slots of their handles, and mappings or other operands. */
static void describe(const struct iot_program *program, char *text, size_t room)
{
	u64 i;

	for (i = 0; i < program->op_count; i++) {
		const struct iot_program_op *op = &program->ops[i];
		u16 kind = le16_to_cpu(op->kind);

		if (kind == IOT_PLAY_wait)
			continue;
		snprintf(text + strlen(text), room - strlen(text), "%s%s",
			 text[0] ? " " : "", kind < IOT_KIND_END ? iot_kind_info(kind)->name : "nop");
		if (op->handle || op->other)
			snprintf(text + strlen(text), room - strlen(text), "-%u-%u",
				 le32_to_cpu(op->handle), le32_to_cpu(op->other));
	}
}

static void compile(struct compile_summary *summary, struct iot_program *program)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program,
					   .rules = ORDER_DEFAULT };
	struct iot_reject reject;

	assert_int_equal(compile_trace(&options, summary, &reject), 0);
	assert_int_equal(iot_program_load(scratch_program, program, &reject), 0);
}

static void files_that_cannot_be_opened_are_not_used(void **state)
{
	static const u16 dropped[] = { IOT_KIND_open, IOT_KIND_read, IOT_KIND_copy_range, IOT_KIND_lock,
				       IOT_KIND_submit, IOT_KIND_map, IOT_KIND_touch, IOT_KIND_madvise,
				       IOT_KIND_unmap, IOT_KIND_flush, IOT_KIND_release };
	struct compile_summary summary;
	struct iot_program program;
	char text[1024] = "";
	u64 all = 0;
	size_t i;

	(void)state;
	record();
	compile(&summary, &program);
	describe(&program, text, sizeof(text));
	assert_string_equal(text,
			    "open-1-0 unlink nop "
			    "nop nop nop nop nop nop nop stat-1-0 nop nop nop "
			    "read-1-0 copy_range-1-1 lock-1-0 submit-1-2 map-1-1 touch-0-1 madvise-0-1 "
			    "stat-1-0 unmap-0-1 flush-1-0 release-1-0 complete-1-0");
	assert_int_equal(summary.handles, 1);
	assert_int_equal(summary.maps, 1);
	for (i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		assert_row(iot_kind_info(dropped[i])->name, summary.dropped[dropped[i]] == 1);
	for (i = 0; i < IOT_KIND_END; i++)
		all += summary.dropped[i];
	assert_int_equal(all, sizeof(dropped) / sizeof(dropped[0]));
	iot_program_free(&program);
	compile_summary_free(&summary);
}

/* -- names removed after their lookup --------------------------------------------------------------- */

enum what { LOOK, OPEN, UNLINK, REPLACE }; /* the first two by task 1, the others by task 2 */

static const struct {
	const char *what;
	bool is_opened;
	enum what steps[3];
	u64 span_ns[3]; /* each ends 1000 ns after the previous one */
} gone[] = {
	{ "removed before the open began", true, { LOOK, UNLINK, OPEN }, { 500, 800, 500 } },
	{ "one replaced", true, { LOOK, REPLACE, OPEN }, { 500, 800, 500 } },
	{ "removal began before all others", true, { LOOK, UNLINK, OPEN }, { 500, 9000, 500 } },
	{ "removal had not ended", true, { LOOK, OPEN, UNLINK }, { 500, 100, 1500 } },
	{ "removed during the open", true, { LOOK, UNLINK, OPEN }, { 500, 500, 1700 } },
	{ "removed before another operation of the task", false, { UNLINK, LOOK, OPEN }, { 800, 500, 500 } },
};

static void put_gone(struct scribe *s, enum what what, u64 span_ns)
{
	s->task = what == LOOK || what == OPEN ? 1 : 2;
	s->span_ns = span_ns;
	switch (what) {
	case LOOK:
		PUT(stat, .object = 1, .name = 1);
		break;
	case OPEN:
		PUT(open, .object = SCRIBE_FILE, .handle = LOST, .flags = IOT_OPEN_read);
		break;
	case UNLINK:
		PUT(unlink, .object = SCRIBE_FILE, .name = 5);
		break;
	case REPLACE:
		PUT(rename, .object = SCRIBE_FILE + 1, .name = 6, .new_name = 5, .replaced = SCRIBE_FILE);
		break;
	}
}

/* The names "a", which is removed, and "b", which may replace it. */
static void record_gone(const enum what *steps, const u64 *spans_ns)
{
	struct scribe scribe, *s = &scribe;
	u32 i;

	scribe_begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 6, .dir = 1 } }, "b");
	PUT(object, .object = SCRIBE_FILE + 1, .name = 6, .type = IOT_TYPE_file, .mode = S_IFREG | 0644,
	    .ino = 101, .nlink = 1, .size_bytes = 1);
	s->now_ns += 10000;
	for (i = 0; i < 3; i++)
		put_gone(s, steps[i], spans_ns[i]);
	s->task = 1;
	s->span_ns = 500;
	PUT(read, .object = SCRIBE_FILE, .handle = LOST, .length_bytes = 1, .result = 1);
	scribe_finish(s);
}

/* Task 1 looks up, opens and reads; the only operation of task 2 waits for its second. */
static bool is_opened_before(const struct iot_program *program)
{
	const struct iot_program_op *open = &program->ops[1], *removal = &program->ops[3];
	const struct iot_program_wait *wait = program->waits;

	return le16_to_cpu(open->kind) == IOT_KIND_open && open->handle &&
	       !strcmp(iot_program_string(program, open->path), "a") &&
	       le16_to_cpu(program->ops[2].kind) == IOT_KIND_read &&
	       program->ops[2].handle == open->handle && le16_to_cpu(removal->wait_count) == 1 &&
	       !le32_to_cpu(wait->task) && le32_to_cpu(wait->index) == 1;
}

static void removed_name_is_opened_before_its_removal(void **state)
{
	struct compile_summary summary;
	struct iot_program program;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		record_gone(gone[i].steps, gone[i].span_ns);
		compile(&summary, &program);
		assert_row(gone[i].what, program.op_count == 4 && !summary.unexplained);
		assert_row(gone[i].what, is_opened_before(&program) == gone[i].is_opened);
		assert_row(gone[i].what, summary.dropped[IOT_KIND_open] == !gone[i].is_opened);
		assert_row(gone[i].what, summary.dropped[IOT_KIND_read] == !gone[i].is_opened);
		iot_program_free(&program);
		compile_summary_free(&summary);
	}
}

/* Other operations that find a file by its name, and have a record after the removal. */
static const u16 found_kinds[] = { IOT_KIND_stat, IOT_KIND_setattr, IOT_KIND_readlink, IOT_KIND_follow,
				   IOT_KIND_getxattr, IOT_KIND_setxattr, IOT_KIND_listxattr,
				   IOT_KIND_removexattr };

static void record_found(u16 kind)
{
	const bool has_tail = kind == IOT_KIND_getxattr || kind == IOT_KIND_setxattr || kind == IOT_KIND_removexattr;
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	s->now_ns += 10000;
	put_gone(s, LOOK, 500);
	put_gone(s, UNLINK, 800);
	s->task = 1;
	s->span_ns = 500;
	scribe_put(s, (struct iot_record){ .kind = kind, .stat = { .object = SCRIBE_FILE } }, has_tail ? "user.a" : NULL);
	scribe_finish(s);
}

static void lookup_of_a_removed_name_precedes_its_removal(void **state)
{
	struct compile_summary summary;
	struct iot_program program;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(found_kinds); i++) {
		const char *name = iot_kind_info(found_kinds[i])->name;

		record_found(found_kinds[i]);
		compile(&summary, &program);
		assert_row(name, program.op_count == 3);
		assert_row(name, le16_to_cpu(program.ops[1].kind) == found_kinds[i]);
		assert_row(name, !strcmp(iot_program_string(&program, program.ops[1].path), "a"));
		assert_row(name, le16_to_cpu(program.ops[2].wait_count) == 1 &&
				 !le32_to_cpu(program.waits->task) && le32_to_cpu(program.waits->index) == 1);
		iot_program_free(&program);
		compile_summary_free(&summary);
	}
}

/*
 * A file has the names "a", "b" and "c". Task 2 removes "c" before task 1 looks something up, "b" while task 1
 * opens the file, and "a" at the end.
 */
static void record_links(void)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 6, .dir = 1 } }, "b");
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = 7, .dir = 1 } }, "c");
	s->now_ns += 10000;
	s->task = 2;
	s->span_ns = 500;
	PUT(link, .object = SCRIBE_FILE, .old_name = SCRIBE_NAME, .name = 6);
	PUT(link, .object = SCRIBE_FILE, .old_name = SCRIBE_NAME, .name = 7);
	PUT(unlink, .object = SCRIBE_FILE, .name = 7, .nlink = 2);
	put_gone(s, LOOK, 500);
	s->task = 2;
	PUT(unlink, .object = SCRIBE_FILE, .name = 6, .nlink = 1);
	put_gone(s, OPEN, 1700);
	put_gone(s, UNLINK, 500);
	scribe_finish(s);
}

static void last_removed_link_is_used(void **state)
{
	struct compile_summary summary;
	struct iot_program program;
	u64 i, opens = 0;

	(void)state;
	record_links();
	compile(&summary, &program);
	for (i = 0; i < program.op_count; i++) {
		if (le16_to_cpu(program.ops[i].kind) != IOT_KIND_open)
			continue;
		assert_string_equal(iot_program_string(&program, program.ops[i].path), "b");
		opens++;
	}
	assert_int_equal(opens, 1);
	assert_int_equal(summary.unexplained, 0);
	iot_program_free(&program);
	compile_summary_free(&summary);
}

/*
 * Task 2, which also has the file open, removes the name while task 1 opens the file by it. When task 2 has closed it,
 * the file is accessed through the handle of task 1.
 */
static void record_only_handle(void)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	s->now_ns += 10000;
	put_gone(s, LOOK, 500);
	s->task = 2;
	PUT(open, .object = SCRIBE_FILE, .handle = KEPT, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	put_gone(s, UNLINK, 500);
	put_gone(s, OPEN, 1700);
	s->task = 2;
	s->span_ns = 500;
	PUT(release, .object = SCRIBE_FILE, .handle = KEPT);
	PUT(stat, .object = SCRIBE_FILE);
	scribe_finish(s);
}

static void open_file_with_a_removed_name_is_used(void **state)
{
	struct compile_summary summary;
	struct iot_program program;
	char text[256] = "";

	(void)state;
	record_only_handle();
	compile(&summary, &program);
	describe(&program, text, sizeof(text));
	assert_string_equal(text, "stat open-1-0 open-2-0 unlink release-2-0 stat-1-0");
	iot_program_free(&program);
	compile_summary_free(&summary);
}

#define NAMES 300

/* Task 1 looks the directory up and then opens a file whose name task 2 has just removed. */
static void record_many(void)
{
	struct scribe scribe, *s = &scribe;
	char name[16];
	u32 i;

	scribe_begin(s);
	for (i = 0; i < NAMES; i++) {
		u64 id = 10 + i, handle = 100 + i;

		snprintf(name, sizeof(name), "n%u", i);
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = id, .dir = 1 } }, name);
		PUT(object, .object = id, .name = id, .type = IOT_TYPE_file, .mode = S_IFREG | 0644,
		    .ino = 200 + i, .nlink = 1, .size_bytes = 1);
		put_gone(s, LOOK, 500);
		s->task = 2;
		s->span_ns = 1900; /* began before the lookup */
		PUT(unlink, .object = id, .name = id);
		s->task = 1;
		s->span_ns = 500;
		PUT(open, .object = id, .handle = handle, .flags = IOT_OPEN_read);
		PUT(release, .object = id, .handle = handle);
	}
	scribe_finish(s);
}

static void many_removed_names_are_opened(void **state)
{
	struct compile_summary summary;
	struct iot_program program;
	u64 i, opens = 0;

	(void)state;
	record_many();
	compile(&summary, &program);
	assert_int_equal(summary.dropped[IOT_KIND_open], 0);
	assert_int_equal(summary.unexplained, 0);
	for (i = 0; i < program.op_count; i++) {
		const struct iot_program_op *op = &program.ops[i];

		if (le16_to_cpu(op->kind) != IOT_KIND_open)
			continue;
		assert_int_equal(le16_to_cpu(program.ops[i - 1].kind), IOT_KIND_stat);
		assert_int_equal(strtoul(iot_program_string(&program, op->path) + 1, NULL, 10), opens);
		opens++;
	}
	assert_int_equal(opens, NAMES);
	iot_program_free(&program);
	compile_summary_free(&summary);
}

#define UNNAMED 9 /* a file that gets its first name by a link */
#define LINKED	6 /* this name */

/* The file is linked through its descriptor, so the link record has no old name. */
static void record_linked(void)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name,
					   .name = { .name = LINKED, .dir = SCRIBE_DIR } }, "b");
	PUT(object, .object = UNNAMED, .type = IOT_TYPE_file, .mode = S_IFREG | 0600, .ino = 101);
	PUT(open, .object = UNNAMED, .handle = KEPT, .name = SCRIBE_DIR,
	    .flags = IOT_OPEN_write | IOT_OPEN_tmpfile | IOT_OPEN_created);
	PUT(link, .object = UNNAMED, .name = LINKED);
	PUT(release, .object = UNNAMED, .handle = KEPT);
	PUT(stat, .object = UNNAMED, .name = LINKED);
	scribe_finish(s);
}

static void a_link_to_an_open_file_explains_its_name(void **state)
{
	struct compile_summary summary;
	struct iot_program program;

	(void)state;
	record_linked();
	compile(&summary, &program);
	assert_int_equal(summary.dropped[IOT_KIND_link], 0);
	assert_int_equal(summary.unexplained, 0);
	iot_program_free(&program);
	compile_summary_free(&summary);
}

SUITE("nameless",
      WITH_SCRATCH(files_that_cannot_be_opened_are_not_used)
      WITH_SCRATCH(removed_name_is_opened_before_its_removal)
      WITH_SCRATCH(lookup_of_a_removed_name_precedes_its_removal)
      WITH_SCRATCH(last_removed_link_is_used)
      WITH_SCRATCH(open_file_with_a_removed_name_is_used)
      WITH_SCRATCH(many_removed_names_are_opened)
      WITH_SCRATCH(a_link_to_an_open_file_explains_its_name))
