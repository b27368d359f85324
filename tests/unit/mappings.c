// SPDX-License-Identifier: GPL-2.0-only
/*
 * mappings.c - a mapping keeps its file open: the release of a handle comes after the unmaps of all processes.
 */
#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"
#include "waits.h"

#define HANDLE 7
#define FIRST  20
#define SECOND 21

static void put_map(struct scribe *s, u32 task, u64 map)
{
	s->task = task;
	PUT(map, .object = SCRIBE_FILE, .handle = HANDLE, .map = map, .length_bytes = 4096, .prot = IOT_PROT_read,
	    .flags = IOT_MAP_shared);
}

static void put_unmap(struct scribe *s, u32 task, u64 map)
{
	s->task = task;
	PUT(unmap, .object = SCRIBE_FILE, .map = map, .length_bytes = 4096);
}

/* Two processes map a file; the second one unmaps it last, which releases the handle. */
static void release_waits_for_the_unmap_of_another_process(void **state)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program,
					   .rules = ORDER_DEFAULT };
	struct scribe scribe, *s = &scribe;
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject;

	(void)state;
	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	put_map(s, 1, FIRST);
	PUT(flush, .object = SCRIBE_FILE, .handle = HANDLE);
	put_map(s, 2, SECOND);
	put_unmap(s, 1, FIRST);
	put_unmap(s, 2, SECOND);
	PUT(release, .object = SCRIBE_FILE, .handle = HANDLE);
	scribe_finish(s);
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
	assert_true(last_task_waits(&program, 2, IOT_KIND_release, IOT_KIND_unmap));
	iot_program_free(&program);
	compile_summary_free(&summary);
}

SUITE("mappings", WITH_SCRATCH(release_waits_for_the_unmap_of_another_process))
