// SPDX-License-Identifier: GPL-2.0-only
/*
 * order.c - the scheduler: the wait that blocks an operation, and the time at which it ends.
 */
#include "core/replay/order.h"

#include <stdlib.h>

#include "builder.h"
#include "suite.h"

struct fixture {
	u8 *bytes;
	struct iot_program program;
	struct iot_order order;
	u32 progress[3];
	u32 pending[2];
};

/* Task 2's second operation waits for both latches, then for two operations of task 0. */
static void fixture_open(struct fixture *f)
{
	struct iot_reject reject;
	struct builder b;
	size_t byte_count;

	builder_open(&b);
	builder_latch(&b, 2);
	builder_latch(&b, 1);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_nop);
	builder_op(&b, IOT_PLAY_nop);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_nop);
	builder_wait(&b, 0, 0);
	builder_task(&b);
	builder_op(&b, IOT_PLAY_nop);
	builder_op(&b, IOT_PLAY_wait);
	builder_wait(&b, IOT_WAIT_LATCH, 0);
	builder_wait(&b, 0, 0);
	builder_wait(&b, IOT_WAIT_LATCH, 1);
	builder_wait(&b, 0, 1);
	f->bytes = builder_bytes(&b, &byte_count);
	builder_close(&b);
	assert_int_equal(iot_program_open(&f->program, f->bytes, byte_count, &reject), 0);
	memset(f->progress, 0xee, sizeof(f->progress));
	memset(f->pending, 0xee, sizeof(f->pending));
	iot_order_init(&f->order, &f->program, f->progress, 1, f->pending);
}

static const struct iot_program_op *op_of(const struct fixture *f, u32 task, u32 op)
{
	return f->program.ops + le64_to_cpu(f->program.tasks[task].first_op) + op;
}

static void order_begins_empty(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f);
	assert_int_equal(f.progress[0] | f.progress[1] | f.progress[2], 0);
	assert_int_equal(f.pending[0], 2);
	assert_int_equal(f.pending[1], 1);
	free(f.bytes);
}

static void wait_on_a_task_holds_when_the_operation_has_ended(void **state)
{
	static const struct {
		u32 index, progress;
		bool holds;
	} rows[] = {
		{ 0, 0, false }, { 0, 1, true },  { 0, 5, true },
		{ 4, 4, false }, { 4, 5, true },  { 0xfffffffe, 0xfffffffe, false },
		{ 0xfffffffe, 0xffffffff, true },
	};
	struct fixture f;
	size_t i;

	(void)state;
	fixture_open(&f);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iot_program_wait wait = { cpu_to_le32(1), cpu_to_le32(rows[i].index) };

		f.progress[1] = rows[i].progress;
		assert_int_equal(iot_order_holds(&f.order, &wait), rows[i].holds);
	}
	free(f.bytes);
}

static void wait_on_a_latch_holds_when_all_have_signalled(void **state)
{
	struct iot_program_wait wait = { cpu_to_le32(IOT_WAIT_LATCH), cpu_to_le32(1) };
	struct fixture f;

	(void)state;
	fixture_open(&f);
	f.pending[0] = 0;
	assert_false(iot_order_holds(&f.order, &wait));
	f.pending[1] = 0;
	assert_true(iot_order_holds(&f.order, &wait));
	free(f.bytes);
}

static void operation_without_waits_may_start(void **state)
{
	struct fixture f;
	u32 next = 0;

	(void)state;
	fixture_open(&f);
	assert_null(iot_order_blocker(&f.order, 0, op_of(&f, 0, 0), &next));
	assert_null(iot_order_blocker(&f.order, 2, op_of(&f, 2, 0), &next));
	assert_int_equal(next, 0);
	free(f.bytes);
}

static void blocker_is_the_first_wait_that_does_not_hold(void **state)
{
	struct fixture f;
	const struct iot_program_wait *waits;
	u32 next = 0;

	(void)state;
	fixture_open(&f);
	waits = f.program.waits + 1; /* the first wait is task 1's */
	assert_ptr_equal(iot_order_blocker(&f.order, 2, op_of(&f, 2, 1), &next), &waits[0]);
	assert_int_equal(next, 0);
	f.pending[0] = 0;
	assert_ptr_equal(iot_order_blocker(&f.order, 2, op_of(&f, 2, 1), &next), &waits[1]);
	f.pending[1] = 0;
	f.progress[0] = 1;
	assert_ptr_equal(iot_order_blocker(&f.order, 2, op_of(&f, 2, 1), &next), &waits[3]);
	assert_int_equal(next, 3);
	f.progress[0] = 2;
	assert_null(iot_order_blocker(&f.order, 2, op_of(&f, 2, 1), &next));
	assert_int_equal(next, 4);
	assert_null(iot_order_blocker(&f.order, 2, op_of(&f, 2, 1), &next));
	free(f.bytes);
}

static void timed_wait_blocks_nothing(void **state)
{
	struct iot_program_op op;
	struct fixture f;
	u32 next = 0;

	(void)state;
	fixture_open(&f);
	op = *op_of(&f, 2, 1);
	op.kind = cpu_to_le16(IOT_PLAY_timed);
	assert_null(iot_order_blocker(&f.order, 2, &op, &next));
	free(f.bytes);
}

static void fulfilled_waits_are_not_examined_again(void **state)
{
	struct fixture f;
	u32 next = 3;

	(void)state;
	fixture_open(&f);
	f.progress[0] = 2; /* the latches are not open, but the caller claims that they were */
	assert_null(iot_order_blocker(&f.order, 2, op_of(&f, 2, 1), &next));
	free(f.bytes);
}

SUITE("order",
      TEST(order_begins_empty)
      TEST(wait_on_a_task_holds_when_the_operation_has_ended)
      TEST(wait_on_a_latch_holds_when_all_have_signalled)
      TEST(operation_without_waits_may_start)
      TEST(blocker_is_the_first_wait_that_does_not_hold)
      TEST(timed_wait_blocks_nothing)
      TEST(fulfilled_waits_are_not_examined_again))
