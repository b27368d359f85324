// SPDX-License-Identifier: GPL-2.0-only
/*
 * data.c - in a file that is overwritten in many pieces, the cost of a write does not depend on the number of pieces.
 */
#include "analyse/order/tracker_data.h"

#include <stdlib.h>
#include <time.h>

#include "suite.h"

#define FEW	    4000
#define MANY	    (8 * FEW)
#define PIECE_BYTES 100

/* Pieces that do not touch, each before the existing ones. Return: seconds of CPU time. */
static double writes(u32 count)
{
	struct data_tracker data = {};
	struct waiter waiter;
	struct graph *graph;
	clock_t begun;
	double taken;
	u32 i;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(waiter_open(&waiter, graph), 0);
	assert_int_equal(graph_task_make(graph, 1, &waiter.task), 0);
	for (i = 0; i < count; i++) {
		struct graph_op *op = graph_op_add(graph, waiter.task);

		assert_non_null(op);
		op->enter_ns = 10 * i;
		op->end_ns = op->enter_ns + 5;
	}
	begun = clock();
	for (i = 0; i < count; i++) {
		u64 offset_bytes = (count - i) * 2ull * PIECE_BYTES;

		waiter.index = waiter.target = i;
		waiter.enter_ns = 10 * i;
		assert_int_equal(data_tracker_use(&waiter, &data, offset_bytes, offset_bytes + PIECE_BYTES, true), 0);
	}
	taken = (double)(clock() - begun) / CLOCKS_PER_SEC;
	assert_int_equal(data.count, count);
	data_tracker_exit(&data);
	waiter_close(&waiter);
	graph_close(graph);
	return taken;
}

static void time_grows_with_the_writes(void **state)
{
	double few, many;

	(void)state;
	few = writes(FEW);
	many = writes(MANY);
	if (getenv("IOTAPE_TEST_VERBOSE"))
		print_message("%u writes: %.3f s, %u: %.3f s\n", FEW, few, MANY, many);
	assert_true(many < 24 * few); /* for 8 times as many; quadratic cost would be 64 times */
}

SUITE("data", TEST(time_grows_with_the_writes))
