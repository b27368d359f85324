// SPDX-License-Identifier: GPL-2.0-only
/*
 * backpressure.c - the time that a task waited for the collector is not part of its own time.
 */
#include "analyse/graph/graph_load.h"
#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"
#include "analyse/order/order_passes.h"

#define HANDLE	7
#define HELD_NS 50000000
#define RAN_NS	200 /* CPU time between two operations, which are 600 ns apart */

/* A wait from the end of the last record plus @late_ns. */
static void put_backpressure(struct scribe *s, u64 late_ns)
{
	struct iot_record r = { .kind = IOT_KIND_backpressure };

	r.backpressure = (struct iot_rec_backpressure){ .time_ns = s->now_ns + late_ns, .duration_ns = HELD_NS,
						  .task = s->task, .op = s->op };
	s->now_ns += late_ns + HELD_NS;
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
}

/* The same, of a delay. */
static void put_delayed(struct scribe *s, u64 late_ns)
{
	struct iot_record r = { .kind = IOT_KIND_delayed };

	r.delayed = (struct iot_rec_delayed){ .time_ns = s->now_ns + late_ns, .duration_ns = HELD_NS,
					      .task = s->task, .op = s->op };
	s->now_ns += late_ns + HELD_NS;
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
}

/* A file was removed, and its space is freed. */
static void put_freed(struct scribe *s, u64 late_ns)
{
	struct iot_record r = { .kind = IOT_KIND_freed };

	r.freed = (struct iot_rec_freed){ .time_ns = s->now_ns + late_ns, .duration_ns = HELD_NS,
					  .task = s->task, .op = s->op };
	s->now_ns += late_ns + HELD_NS;
	assert_int_equal(iot_writer_record(s->writer, &r), 0);
}

static void put_read(struct scribe *s, u64 runtime_ns)
{
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .length_bytes = 10, .result = 10,
	    .runtime_ns = runtime_ns);
}

static void begin(struct scribe *s)
{
	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .flags = IOT_OPEN_read);
}

/* The think time of the last operation. */
static void gives(u64 compute_ns, u64 pause_ns)
{
	const struct graph_op *op;
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	op = &graph->tasks[0].ops[graph->tasks[0].op_count - 1];
	assert_int_equal(op->kind, IOT_KIND_read);
	assert_int_equal(op->compute_ns, compute_ns);
	assert_int_equal(op->pause_ns, pause_ns);
	tree_close(tree);
	graph_close(graph);
}

static void wait_for_the_collector_is_not_think_time(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_backpressure(s, 100);
	put_read(s, RAN_NS);
	scribe_finish(s);
	gives(RAN_NS, 600 - RAN_NS);
}

static void delay_is_not_think_time(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_delayed(s, 100);
	put_read(s, RAN_NS);
	scribe_finish(s);
	gives(RAN_NS, 600 - RAN_NS);
}

static void freeing_space_is_not_think_time(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_freed(s, 100);
	put_read(s, HELD_NS); /* it used a CPU */
	scribe_finish(s);
	gives(600, 0);
}

static void two_waits_for_the_collector_are_not_think_time(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_backpressure(s, 50);
	put_backpressure(s, 50);
	put_read(s, RAN_NS);
	scribe_finish(s);
	gives(RAN_NS, 600 - RAN_NS);
}

static void wait_in_another_gap_or_task_does_not_count(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_backpressure(s, 0);
	s->task = 2;
	put_backpressure(s, 0);
	s->task = 1;
	put_read(s, 0);
	put_read(s, RAN_NS);
	scribe_finish(s);
	gives(RAN_NS, 500 - RAN_NS);
}

/* A kernel thread waits at the place where it runs its next operation, whose duration includes the wait. */
static void wait_during_an_operation_does_not_count(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_backpressure(s, 100);
	s->span_ns = HELD_NS + 900;
	put_read(s, 0);
	s->span_ns = 500;
	put_read(s, RAN_NS);
	scribe_finish(s);
	gives(RAN_NS, 500 - RAN_NS);
}

/* A kernel would not record this, but a trace might contain it. */
static void overlapping_waits_count_once(void **state)
{
	struct scribe scribe, *s = &scribe;

	(void)state;
	begin(s);
	put_backpressure(s, 100);
	s->now_ns -= HELD_NS;
	put_backpressure(s, 0);
	put_read(s, RAN_NS);
	scribe_finish(s);
	gives(RAN_NS, 600 - RAN_NS);
}

static void summary_counts_waits_for_the_collector(void **state)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program,
					   .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct scribe scribe, *s = &scribe;
	struct iot_reject reject;

	(void)state;
	begin(s);
	put_backpressure(s, 50);
	s->task = 2;
	put_backpressure(s, 50);
	scribe_finish(s);
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	assert_int_equal(summary.backpressure_waits, 2);
	assert_int_equal(summary.backpressure_ns, 2 * HELD_NS);
	compile_summary_free(&summary);
}

SUITE("backpressure",
      WITH_SCRATCH(wait_for_the_collector_is_not_think_time)
      WITH_SCRATCH(delay_is_not_think_time)
      WITH_SCRATCH(freeing_space_is_not_think_time)
      WITH_SCRATCH(two_waits_for_the_collector_are_not_think_time)
      WITH_SCRATCH(wait_in_another_gap_or_task_does_not_count)
      WITH_SCRATCH(wait_during_an_operation_does_not_count)
      WITH_SCRATCH(overlapping_waits_count_once)
      WITH_SCRATCH(summary_counts_waits_for_the_collector))
