// SPDX-License-Identifier: GPL-2.0-only
/*
 * asleep.c - sleep of unknown cause during operations of other tasks.
 */
#include "analyse/graph/graph.h"
#include "analyse/order/order_passes.h"

#include "suite.h"

#define MS 1000000ull

static void add(struct graph *graph, u32 task, u16 kind, u64 enter_ms, u64 end_ms, u64 pause_ms)
{
	struct graph_op *op;

	while (graph->task_count <= task) {
		u32 made;

		assert_int_equal(graph_task_make(graph, 100 + graph->task_count, &made), 0);
	}
	op = graph_op_add(graph, task);
	assert_non_null(op);
	op->kind = kind;
	op->enter_ns = enter_ms * MS;
	op->end_ns = end_ms * MS;
	op->pause_ns = pause_ms * MS;
}

static void gives(struct graph *graph, u64 asleep_ms)
{
	assert_int_equal(graph_sum_asleep(graph), 0);
	assert_int_equal(graph->asleep_ns, asleep_ms * MS);
	graph_close(graph);
}

static struct graph *begin(void)
{
	struct graph *graph;

	assert_int_equal(graph_open(&graph), 0);
	return graph;
}

/* Task 1 sleeps from 10 to 100; others are in operations from 5 to 30, 20 to 40, and 90 to 120. */
static void sleep_counts_while_others_are_in_operations(void **state)
{
	struct graph *graph = begin();

	(void)state;
	add(graph, 0, IOT_KIND_read, 5, 30, 0);
	add(graph, 2, IOT_KIND_fsync, 20, 40, 0);
	add(graph, 0, IOT_KIND_read, 90, 120, 0);
	add(graph, 1, IOT_KIND_write, 100, 101, 90);
	gives(graph, 30 + 10);
}

static void sleep_counts_once_for_each_task_that_sleeps(void **state)
{
	struct graph *graph = begin();

	(void)state;
	add(graph, 0, IOT_KIND_fsync, 10, 20, 0);
	add(graph, 1, IOT_KIND_write, 30, 31, 30);
	add(graph, 2, IOT_KIND_write, 30, 31, 15);
	gives(graph, 10 + 5);
}

static void sleep_while_nobody_is_in_an_operation_does_not_count(void **state)
{
	struct graph *graph = begin();

	(void)state;
	add(graph, 0, IOT_KIND_read, 0, 10, 0);
	add(graph, 0, IOT_KIND_read, 60, 70, 50);
	add(graph, 1, IOT_KIND_read, 60, 61, 30);
	gives(graph, 0);
}

/* Threads that wait for work end with their process; an explained wait is no pause. */
static void sleep_before_an_end_or_a_wait_does_not_count(void **state)
{
	struct graph *graph = begin();

	(void)state;
	add(graph, 0, IOT_KIND_read, 0, 100, 0);
	add(graph, 1, IOT_PLAY_wait, 50, 50, 10);
	add(graph, 1, IOT_KIND_exit, 90, 90, 40);
	gives(graph, 0);
}

SUITE("asleep",
      TEST(sleep_counts_while_others_are_in_operations)
      TEST(sleep_counts_once_for_each_task_that_sleeps)
      TEST(sleep_while_nobody_is_in_an_operation_does_not_count)
      TEST(sleep_before_an_end_or_a_wait_does_not_count))
