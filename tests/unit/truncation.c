// SPDX-License-Identifier: GPL-2.0-only
/*
 * truncation.c - an open that truncates lasts until the truncation, which has a record of its own, has ended;
 * the size seen by a write may be from before a truncation for which the write waited.
 */
#include "analyse/graph/graph_load.h"
#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"
#include "waits.h"

#define HANDLE 7
#define OTHER  8
#define SPENT_NS 100 /* of CPU time, by each operation */

/* As the kernel records it: the open, the query of capabilities, and the truncation, whose number skips @skipped. */
static void record_with_gap(u64 handle, u32 attrs, u32 skipped)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .runtime_ns = 1000,
	    .oncpu_ns = SPENT_NS, .flags = IOT_OPEN_write | IOT_OPEN_trunc);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_getxattr,
					   .getxattr = { .object = SCRIBE_FILE, .name = SCRIBE_NAME,
							 .result = -ENODATA } }, "security.capability");
	s->op += skipped;
	PUT(setattr, .object = SCRIBE_FILE, .handle = handle, .name = SCRIBE_NAME, .runtime_ns = 1500,
	    .oncpu_ns = SPENT_NS, .attrs = attrs);
	PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .runtime_ns = 9000);
	scribe_finish(s);
}

static void record(u64 handle, u32 attrs)
{
	record_with_gap(handle, attrs, 0);
}

/* Return: the first operation; the number of them in @count. */
static struct graph_op load(u32 *count)
{
	struct iot_reject reject;
	struct graph *graph;
	struct graph_op op;
	struct tree *tree;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, tree, NULL, &reject), 0);
	*count = graph->tasks[0].op_count;
	op = graph->tasks[0].ops[0];
	tree_close(tree);
	graph_close(graph);
	return op;
}

static void an_open_ends_with_its_truncation(void **state)
{
	const u32 attrs = IOT_ATTR_size | IOT_ATTR_by_open;
	static const struct {
		const char *what;
		u64 handle;
		u64 lasts_ns;
		u64 oncpu_ns;
	} rows[] = {
		{ "its own", HANDLE, 2500, 500 + SPENT_NS },
		{ "another one", OTHER, 500, SPENT_NS },
	};
	struct graph_op op;
	u32 count;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		record(rows[i].handle, attrs);
		op = load(&count);
		assert_row(rows[i].what, count == 2 && op.kind == IOT_KIND_open);
		assert_row(rows[i].what, op.end_ns - op.enter_ns == rows[i].lasts_ns);
		assert_row(rows[i].what, op.oncpu_ns == rows[i].oncpu_ns);
	}
}

/* Missing record numbers do not separate the query from the truncation. */
static void query_may_have_an_earlier_number(void **state)
{
	struct graph_op op;
	u32 count;

	(void)state;
	record_with_gap(HANDLE, IOT_ATTR_size | IOT_ATTR_by_open, 3);
	op = load(&count);
	assert_int_equal(count, 2);
	assert_int_equal(op.end_ns - op.enter_ns, 2500);
}

/* A query by the program itself is an operation. */
static void other_truncations_are_operations(void **state)
{
	struct graph_op op;
	u32 count;

	(void)state;
	record(HANDLE, IOT_ATTR_size);
	op = load(&count);
	assert_int_equal(count, 4);
	assert_int_equal(op.end_ns - op.enter_ns, 500);
}

/*
 * Task 1 begins to write at the end of a file, by one operation or a request; task 2 truncates the file. Then the
 * write extends it, and task 2 reads the part before.
 */
static void record_write(bool is_request)
{
	struct scribe scribe, *s = &scribe;
	u32 op;

	scribe_begin(s);
	s->now_ns += 10000;
	s->span_ns = 500;
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME,
	    .flags = IOT_OPEN_read | IOT_OPEN_write);
	if (is_request)
		PUT(submit, .request = 3, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = 4000,
		    .length_bytes = 1000, .flags = IOT_RW_write, .old_size_bytes = 8192);
	op = s->op;
	s->task = 2;
	PUT(setattr, .object = SCRIBE_FILE, .handle = HANDLE, .attrs = IOT_ATTR_size, .size_bytes = 100,
	    .old_size_bytes = 8192);
	s->task = 1;
	s->span_ns = 1700; /* began before the truncation ended */
	if (is_request)
		PUT(complete, .task = 1, .op = op, .request = 3, .result = 1000);
	else
		PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = 4000, .length_bytes = 1000,
		    .old_size_bytes = 8192, .result = 1000);
	s->task = 2;
	s->span_ns = 500;
	PUT(read, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = 1000, .length_bytes = 100, .result = 100);
	scribe_finish(s);
}

static void write_that_waited_extended_the_file(void **state)
{
	static const struct {
		const char *what;
		bool is_request;
		u16 kind;
	} rows[] = {
		{ "a write", false, IOT_KIND_write },
		{ "a request", true, IOT_KIND_complete },
	};
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program,
					   .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		record_write(rows[i].is_request);
		assert_int_equal(compile_trace(&options, &summary, &reject), 0);
		assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
		assert_row(rows[i].what, last_task_waits(&program, 1, IOT_KIND_read, rows[i].kind));
		iot_program_free(&program);
		compile_summary_free(&summary);
	}
}

SUITE("truncation",
      WITH_SCRATCH(an_open_ends_with_its_truncation)
      WITH_SCRATCH(query_may_have_an_earlier_number)
      WITH_SCRATCH(other_truncations_are_operations)
      WITH_SCRATCH(write_that_waited_extended_the_file))
