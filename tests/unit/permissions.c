// SPDX-License-Identifier: GPL-2.0-only
/*
 * permissions.c - operations that a mode or an owner permits or refuses follow the operation that set it.
 *
 * Task 1 changes the permissions of a file or directory, and task 2 uses it, before and afterwards.
 * Waits are written TASK.OP<TASK.OP, where the first waits for the second; both count from 0.
 */
#include <sys/stat.h>

#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define DIR_ID	  20 /* "d", and its name */
#define INSIDE_ID 21 /* "d/x", and its name */

static void put_entry(struct scribe *s, u64 id, u64 dir, const char *component, u32 type, u32 mode)
{
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = id, .dir = dir } },
		   component);
	PUT(object, .object = id, .name = id, .type = type, .mode = mode, .ino = 100 + id, .nlink = 1);
}

static void begin(struct scribe *s)
{
	scribe_begin(s);
	put_entry(s, DIR_ID, SCRIBE_DIR, "d", IOT_TYPE_dir, S_IFDIR | 0755);
	put_entry(s, INSIDE_ID, DIR_ID, "x", IOT_TYPE_file, S_IFREG | 0644);
}

static void put_setattr(struct scribe *s, u64 id, u32 attrs, s64 result)
{
	s->task = 1;
	PUT(setattr, .object = id, .name = id == SCRIBE_FILE ? SCRIBE_NAME : id, .attrs = attrs,
	    .result = result);
	s->task = 2;
}

static void gives(struct scribe *s, const char *expected)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program,
					   .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct iot_program p;
	struct iot_reject reject;
	char text[256] = "";
	size_t used = 0;
	u32 i, j, k;

	scribe_finish(s);
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(scratch_program, &p, &reject), 0);
	for (i = 0; i < p.task_count; i++)
		for (j = 0; j < le32_to_cpu(p.tasks[i].op_count); j++) {
			const struct iot_program_op *op = &p.ops[le64_to_cpu(p.tasks[i].first_op) + j];
			const struct iot_program_wait *wait =
				&p.waits[le64_to_cpu(p.tasks[i].first_wait) + le32_to_cpu(op->first_wait)];

			for (k = 0; k < le16_to_cpu(op->wait_count); k++)
				used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u.%u<%u.%u",
							 used ? " " : "", i, j, le32_to_cpu(wait[k].task),
							 le32_to_cpu(wait[k].index));
		}
	iot_program_free(&p);
	assert_string_equal(text, expected);
}

static void permission_results_follow_the_change_of_mode(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_setattr(s, SCRIBE_FILE, IOT_ATTR_mode, 0);
	PUT(denied, .object = SCRIBE_FILE, .prot = IOT_PROT_read, .result = -EACCES);
	put_setattr(s, SCRIBE_FILE, IOT_ATTR_mode, 0);
	PUT(open, .object = SCRIBE_FILE, .handle = 7, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	gives(s, "0.1<1.0 1.0<0.0 1.1<0.1");
}

static void names_need_search_permission_of_the_directory(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_setattr(s, DIR_ID, IOT_ATTR_uid | IOT_ATTR_gid, 0);
	PUT(unlink, .object = INSIDE_ID, .name = INSIDE_ID, .result = -EPERM);
	put_setattr(s, DIR_ID, IOT_ATTR_mode, 0);
	PUT(unlink, .object = INSIDE_ID, .name = INSIDE_ID);
	gives(s, "0.1<1.0 1.0<0.0 1.1<0.1");
}

/* Changes of times, refused changes, and permissions of objects that no operation sets. */
static void nothing_else_is_ordered(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_setattr(s, SCRIBE_FILE, IOT_ATTR_mtime, 0);
	put_setattr(s, SCRIBE_FILE, IOT_ATTR_mode, -EPERM);
	put_setattr(s, DIR_ID, IOT_ATTR_mode, 0);
	PUT(open, .object = SCRIBE_FILE, .handle = 7, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	PUT(read, .object = INSIDE_ID, .handle = 7, .length_bytes = 1);
	gives(s, "");
}

SUITE("permissions",
      WITH_SCRATCH(permission_results_follow_the_change_of_mode)
      WITH_SCRATCH(names_need_search_permission_of_the_directory)
      WITH_SCRATCH(nothing_else_is_ordered))
