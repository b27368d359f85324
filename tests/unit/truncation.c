// SPDX-License-Identifier: GPL-2.0-only
/*
 * truncation.c - an open that truncates lasts until the truncation, which has a record of its own, has ended.
 */
#include "analyse/load.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define HANDLE 7
#define OTHER  8
#define SPENT_NS 100 /* of CPU time, by each operation */

/* As the kernel tells it: the open, the question for capabilities, the truncation. */
static void record(u64 handle, u32 attrs)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME, .runtime_ns = 1000,
	    .oncpu_ns = SPENT_NS, .flags = IOT_OPEN_write | IOT_OPEN_trunc);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_getxattr,
					   .getxattr = { .object = SCRIBE_FILE, .name = SCRIBE_NAME,
							 .result = -ENODATA } }, "security.capability");
	PUT(setattr, .object = SCRIBE_FILE, .handle = handle, .name = SCRIBE_NAME, .runtime_ns = 1500,
	    .oncpu_ns = SPENT_NS, .attrs = attrs);
	PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .runtime_ns = 9000);
	scribe_finish(s);
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

/* One that the program asked for itself is an operation. */
static void others_are_by_themselves(void **state)
{
	struct graph_op op;
	u32 count;

	(void)state;
	record(HANDLE, IOT_ATTR_size);
	op = load(&count);
	assert_int_equal(count, 4);
	assert_int_equal(op.end_ns - op.enter_ns, 500);
}

SUITE("truncation",
      WITH_SCRATCH(an_open_ends_with_its_truncation)
      WITH_SCRATCH(others_are_by_themselves))
