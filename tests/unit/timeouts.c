// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeouts.c - a wait that a timer ended becomes a timed wait of the program, until the next wake-up out of the same system call.
 */
#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define CALL   203
#define HANDLE 3

/* Task 2 reads, reaches a time limit, reads, is woken by task 1, and reads again. */
static void write_trace(u32 call)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	s->task = 2;
	s->op = 0;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	PUT(timeout, .task = 2, .op = 1, .call = CALL);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	PUT(wake, .task = 1, .op = 1, .woken = 2, .woken_op = 2, .woken_call = call);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	scribe_finish(s);
}

/* The program has these operations in its second task. */
static void gives(u32 without, const u16 *kinds, u32 count)
{
	const struct compile_options options = { .trace = scratch_trace, .program = scratch_program, .rules = ORDER_DEFAULT,
						 .without = without };
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject;
	const struct iot_program_op *ops;
	u32 i;

	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	compile_summary_free(&summary);
	assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
	assert_int_equal(le32_to_cpu(program.tasks[1].op_count), count);
	ops = program.ops + le64_to_cpu(program.tasks[1].first_op);
	for (i = 0; i < count; i++) {
		const struct iot_program_wait *wait = program.waits + le64_to_cpu(program.tasks[1].first_wait) + le32_to_cpu(ops[i].first_wait);

		assert_int_equal(le16_to_cpu(ops[i].kind), kinds[i]);
		if (kinds[i] != IOT_PLAY_timed)
			continue;
		assert_int_equal(le16_to_cpu(ops[i].wait_count), 1);
		assert_int_equal(le32_to_cpu(wait->task), 0);
		assert_int_equal(le32_to_cpu(wait->index), 1); /* behind the open */
		assert_int_equal(le64_to_cpu(ops[i].pause_ns) + le64_to_cpu(ops[i].compute_ns), 1000);
	}
	iot_program_free(&program);
}

static void limit_becomes_a_timed_wait(void **state)
{
	const u16 kinds[] = { IOT_KIND_read, IOT_PLAY_timed, IOT_KIND_read, IOT_PLAY_wait, IOT_KIND_read };

	(void)state;
	write_trace(CALL);
	gives(0, kinds, ARRAY_SIZE(kinds));
}

static void limit_of_another_call_is_no_wait(void **state)
{
	const u16 kinds[] = { IOT_KIND_read, IOT_KIND_read, IOT_PLAY_wait, IOT_KIND_read };

	(void)state;
	write_trace(CALL + 1);
	gives(0, kinds, ARRAY_SIZE(kinds));
}

static void limit_is_left_out_with_wake_ups(void **state)
{
	const u16 kinds[] = { IOT_KIND_read, IOT_KIND_read, IOT_KIND_read };

	(void)state;
	write_trace(CALL);
	gives(1u << EDGE_wake, kinds, ARRAY_SIZE(kinds));
}

SUITE("timeouts",
      WITH_SCRATCH(limit_becomes_a_timed_wait)
      WITH_SCRATCH(limit_of_another_call_is_no_wait)
      WITH_SCRATCH(limit_is_left_out_with_wake_ups))
