// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests.c - the request that a submission waits for, inferred from its memory.
 *
 * Tests write the request queue of each request, from 0, in the order of submission; "<" is followed by the request
 * that it waits for, if there is one.
 */
#include "analyse/graph/graph.h"

#include "suite.h"
#include "analyse/order/order_passes.h"

#define HANDLE 7

static struct graph *graph;
static u32 count;

static void begin(void)
{
	struct graph_op *op;
	u32 task;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(graph_task_make(graph, 1, &task), 0);
	op = graph_op_add(graph, 0);
	assert_non_null(op);
	op->kind = IOT_KIND_open;
	op->handle = HANDLE;
	graph->tasks[0].has_io = true;
	count = 0;
}

/* A request from one time to another. */
static void request(u32 memory, u64 submit_ns, u64 end_ns)
{
	const struct graph_request ended = { .id = ++count, .end_ns = end_ns, .result = 4096, .queue = GRAPH_NONE };
	struct graph_op *op = graph_op_add(graph, 0);

	assert_non_null(op);
	op->kind = IOT_KIND_submit;
	op->handle = HANDLE;
	op->other = count;
	op->mode = memory;
	op->enter_ns = submit_ns;
	op->end_ns = submit_ns + 1;
	assert_int_equal(graph_request_add(graph, &ended), 0);
}

/* The number of the request to which an operation of a request queue belongs. */
static u32 request_at(u32 queue, u32 index)
{
	u32 i;

	for (i = 0; i < graph->request_count; i++)
		if (graph->requests[i].queue == queue && graph->requests[i].index == index)
			return i;
	return GRAPH_NONE;
}

/* Ends the graph. */
static void gives(const char *expected)
{
	char text[512] = "";
	size_t used = 0;
	u32 i;

	assert_int_equal(graph_pass_queues(graph), 0);
	for (i = 0; i < count; i++) {
		const struct graph_op *op = &graph->tasks[0].ops[i + 1];

		assert_int_equal(op->mode, 0);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "", op->event - 1);
		if (op->edges != GRAPH_NONE)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "<%u",
						 request_at(graph->edges[op->edges].task,
							    graph->edges[op->edges].index));
	}
	assert_string_equal(text, expected);
	graph_close(graph);
}

/* Fast storage completes each request before the next one. */
static void few_buffers_limit_the_queue_depth(void **state)
{
	u32 i;

	(void)state;
	begin();
	for (i = 0; i < 12; i++)
		request(100 + i % 3, 10 * i + 10, 10 * i + 15);
	gives("0 1 2 0<0 1<1 2<2 0<3 1<4 2<5 0<6 1<7 2<8");
}

/* The program does not use the third buffer before the fifth request. */
static void memory_is_counted_from_its_first_use(void **state)
{
	static const u32 memory[] = { 1, 2, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 };
	u32 i;

	(void)state;
	begin();
	for (i = 0; i < 12; i++)
		request(memory[i], 10 * i + 10, 10 * i + 15);
	gives("0 1 0<0 1<1 2 0<2 1<3 2<4 0<5 1<6 2<7 0<8");
}

/* In the trace the oldest request ends late: the submission did not wait for it. */
static void no_task_waits_for_an_operation_in_progress(void **state)
{
	u32 i;

	(void)state;
	begin();
	for (i = 0; i < 8; i++)
		request(1 + i % 2, 10 * i + 10, i ? 10 * i + 15 : 35);
	gives("0 1 1<1 0<0 1<2 0<3 1<4 0<5");
}

static void unknown_memory_has_no_effect(void **state)
{
	u32 i;

	(void)state;
	begin();
	for (i = 0; i < 6; i++)
		request(0, 10 * i + 10, 10 * i + 15);
	gives("0 0<0 0<1 0<2 0<3 0<4");
}

static void rarely_reused_memory_has_no_effect(void **state)
{
	u32 i;

	(void)state;
	begin();
	for (i = 0; i < 6; i++)
		request(1 + i % 3, 10 * i + 10, 10 * i + 15);
	gives("0 0<0 0<1 0<2 0<3 0<4");
}

SUITE("requests",
      TEST(few_buffers_limit_the_queue_depth)
      TEST(memory_is_counted_from_its_first_use)
      TEST(no_task_waits_for_an_operation_in_progress)
      TEST(unknown_memory_has_no_effect)
      TEST(rarely_reused_memory_has_no_effect))
