// SPDX-License-Identifier: GPL-2.0-only
/*
 * costs.c - the cost of recording is not part of the think time between two operations.
 */
#include <stdlib.h>

#include "analyse/graph/graph_load.h"
#include "analyse/order/order_passes.h"
#include "analyse/stats/times.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE	7
#define GAP_NS	500 /* between two operations of a scribe */

/* A trace of an open and two reads, with or without the fact. */
static void write_trace(const char *fact, u64 runtime_ns)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	if (fact)
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_fact }, fact);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10);
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10, .runtime_ns = runtime_ns);
	scribe_finish(s);
}

/* The think time of the last operation, and the number of gaps shorter than the cost. */
static void gives(u64 compute_ns, u64 pause_ns, u64 cut)
{
	struct process_times *times;
	const struct graph_op *op;
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;
	u32 count;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	op = &graph->tasks[0].ops[graph->tasks[0].op_count - 1];
	assert_int_equal(op->kind, IOT_KIND_read);
	assert_int_equal(op->compute_ns, compute_ns);
	assert_int_equal(op->pause_ns, pause_ns);
	assert_int_equal(op->recorder_ns, GAP_NS - compute_ns - pause_ns);
	assert_int_equal(graph->recorder_cut, cut);
	assert_int_equal(graph_times(graph, &times, &count), 0);
	assert_int_equal(times[0].io_ns + times[0].compute_ns + times[0].mpi_ns + times[0].wait_ns +
				 times[0].unexplained_ns, times[0].elapsed_ns);
	free(times);
	tree_close(tree);
	graph_close(graph);
}

static void nothing_is_subtracted_without_the_fact(void **state)
{
	(void)state;
	write_trace(NULL, GAP_NS);
	gives(GAP_NS, 0, 0);
}

static void costs_before_and_after_a_record_are_subtracted(void **state)
{
	(void)state;
	write_trace("recorder.costs=open:1:2 read:100:50", GAP_NS);
	gives(GAP_NS - 150, 0, 0);
}

/* The cost is time on a CPU. */
static void pause_is_not_shortened(void **state)
{
	(void)state;
	write_trace("recorder.costs=open:1:2 read:100:50", 200);
	gives(50, GAP_NS - 200, 0);
}

static void think_time_is_never_below_zero(void **state)
{
	(void)state;
	write_trace("recorder.costs=read:400:300", GAP_NS);
	gives(0, 0, 1);
}

static void invalid_costs_are_ignored(void **state)
{
	(void)state;
	write_trace("recorder.costs=nothing:1:2 read:9999999:5 seek:1", GAP_NS);
	gives(GAP_NS, 0, 0);
}

SUITE("costs",
      WITH_SCRATCH(nothing_is_subtracted_without_the_fact)
      WITH_SCRATCH(costs_before_and_after_a_record_are_subtracted)
      WITH_SCRATCH(pause_is_not_shortened)
      WITH_SCRATCH(think_time_is_never_below_zero)
      WITH_SCRATCH(invalid_costs_are_ignored))
