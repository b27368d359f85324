// SPDX-License-Identifier: GPL-2.0-only
/*
 * sizes.c - each operation that changes the length of a file explains the size that another task finds, and that
 * task waits for it; the cost of finding it grows with the trace, not with its square.
 */
#include <stdlib.h>
#include <time.h>

#include "analyse/graph/graph.h"
#include "compile/compile.h"
#include "scratch.h"
#include "scribe.h"
#include "suite.h"
#include "waits.h"
#include "analyse/order/order_passes.h"

#define HANDLE	  7
#define OLD_BYTES 8192
#define REQUEST	  3

/* Time of the stat: except for the first case, the two overlap. */
enum when {
	AFTER,
	ENDS_LATER,
	ENDS_SOONER,
};

static const struct row {
	const char *what;
	u16 kind;
	u32 flags;
	u64 offset_bytes;
	u64 length_bytes;
	u64 size_bytes; /* found by the stat */
} rows[] = {
	{ "write", IOT_KIND_write, 0, 8000, 1000, 9000 },
	{ "copy_range", IOT_KIND_copy_range, 0, 8000, 1000, 9000 },
	{ "copy_range inside", IOT_KIND_copy_range, 0, 0, 1000, OLD_BYTES },
	{ "clone", IOT_KIND_remap_range, 0, 8192, 4096, 12288 },
	{ "clone of an import", IOT_KIND_remap_range, 0, 0, 0, 20000 },
	{ "deduplication", IOT_KIND_remap_range, 1, 8192, 4096, OLD_BYTES },
	{ "request", IOT_KIND_complete, IOT_RW_write, 8000, 1000, 9000 },
	{ "appending request", IOT_KIND_complete, IOT_RW_write | IOT_RW_append, 0, 1000, OLD_BYTES + 1000 },
	{ "request that reads", IOT_KIND_complete, 0, 8000, 1000, OLD_BYTES },
	{ "allocation", IOT_KIND_fallocate, 0, 8000, 1000, 9000 },
	{ "allocation beyond the end", IOT_KIND_fallocate, IOT_FALLOC_keep_size, 8000, 1000, OLD_BYTES },
	{ "hole", IOT_KIND_fallocate, IOT_FALLOC_keep_size | IOT_FALLOC_punch_hole, 8000, 1000, OLD_BYTES },
	{ "unsharing", IOT_KIND_fallocate, IOT_FALLOC_unshare_range, 8000, 1000, 9000 },
	{ "collapse", IOT_KIND_fallocate, IOT_FALLOC_collapse_range, 0, 4096, 4096 },
	{ "insertion", IOT_KIND_fallocate, IOT_FALLOC_insert_range, 4096, 4096, 12288 },
};

static void put_change(struct scribe *s, const struct row *row)
{
	struct iot_rec_copy_range copy = {
		.object = SCRIBE_FILE, .handle = HANDLE, .to_object = SCRIBE_FILE, .to_handle = HANDLE,
		.to_offset_bytes = (s64)row->offset_bytes, .length_bytes = row->length_bytes,
		.old_size_bytes = OLD_BYTES, .result = (s64)row->length_bytes,
	};
	struct iot_record clone = { .kind = IOT_KIND_remap_range, .copy_range = copy };

	switch (row->kind) {
	case IOT_KIND_write:
		PUT(write, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = (s64)row->offset_bytes,
		    .length_bytes = row->length_bytes, .old_size_bytes = OLD_BYTES,
		    .result = (s64)row->length_bytes);
		break;
	case IOT_KIND_copy_range:
		scribe_put(s, (struct iot_record){ .kind = IOT_KIND_copy_range, .copy_range = copy }, NULL);
		break;
	case IOT_KIND_remap_range: /* has the same first fields */
		clone.remap_range.flags = row->flags;
		scribe_put(s, clone, NULL);
		break;
	case IOT_KIND_fallocate:
		PUT(fallocate, .object = SCRIBE_FILE, .handle = HANDLE, .offset_bytes = (s64)row->offset_bytes,
		    .length_bytes = row->length_bytes, .flags = row->flags, .old_size_bytes = OLD_BYTES);
		break;
	case IOT_KIND_complete:
		PUT(complete, .task = 1, .op = s->op, .request = REQUEST, .result = (s64)row->length_bytes);
		break;
	}
}

static void put_stat(struct scribe *s, u64 size_bytes)
{
	s->task = 2;
	PUT(stat, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .size_bytes = size_bytes);
}

static void record(const struct row *row, enum when when)
{
	struct scribe scribe, *s = &scribe;

	scribe_begin(s);
	PUT(open, .object = SCRIBE_FILE, .handle = HANDLE, .name = SCRIBE_NAME,
	    .flags = IOT_OPEN_read | IOT_OPEN_write);
	PUT(setattr, .object = SCRIBE_FILE, .handle = HANDLE, .attrs = IOT_ATTR_size, .size_bytes = OLD_BYTES,
	    .old_size_bytes = OLD_BYTES - 1); /* announces the size */
	if (row->kind == IOT_KIND_complete)
		PUT(submit, .request = REQUEST, .object = SCRIBE_FILE, .handle = HANDLE,
		    .offset_bytes = (s64)row->offset_bytes, .length_bytes = row->length_bytes,
		    .flags = row->flags, .old_size_bytes = OLD_BYTES);
	if (when == ENDS_SOONER) {
		put_stat(s, row->size_bytes);
		s->task = 1;
		s->span_ns = 1700;
	}
	put_change(s, row);
	s->span_ns = when == ENDS_LATER ? 1200 : 500;
	if (when != ENDS_SOONER)
		put_stat(s, row->size_bytes);
	s->span_ns = 500;
	put_stat(s, row->size_bytes);
	scribe_finish(s);
}

static void compile(const struct row *row, enum when when, u64 *unexplained, bool *waited)
{
	struct compile_options options = { .trace = scratch_trace, .program = scratch_program,
					   .rules = ORDER_DEFAULT };
	struct compile_summary summary;
	struct iot_program program;
	struct iot_reject reject;

	record(row, when);
	assert_int_equal(compile_trace(&options, &summary, &reject), 0);
	assert_int_equal(iot_program_load(scratch_program, &program, &reject), 0);
	*unexplained = summary.unexplained;
	*waited = last_task_waits(&program, 0, IOT_KIND_stat, row->kind);
	iot_program_free(&program);
	compile_summary_free(&summary);
}

static void results_that_depend_on_size_are_ordered(void **state)
{
	static const enum when whens[] = { AFTER, ENDS_LATER, ENDS_SOONER };
	u64 unexplained;
	char what[64];
	bool waited;
	size_t i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (j = 0; j < ARRAY_SIZE(whens); j++) {
			compile(&rows[i], whens[j], &unexplained, &waited);
			snprintf(what, sizeof(what), "%s, %zu: %llu unexplained, %s", rows[i].what, j,
				 unexplained, waited ? "waited" : "not waited");
			assert_row(what, !unexplained);
			/* a request has a separate end; nothing is known of a clone without a length */
			if (whens[j] == AFTER || rows[i].size_bytes == OLD_BYTES || !rows[i].length_bytes)
				continue;
			assert_row(what, waited == (rows[i].kind != IOT_KIND_complete || whens[j] == ENDS_LATER));
		}
}

/* -- time ------------------------------------------------------------------------------------------- */

#define TASKS	 8
#define FEW_OPS	 2000 /* of each task */
#define MANY_OPS (8 * FEW_OPS)

static void add_op(struct graph *graph, u32 task, u32 number)
{
	struct graph_op *op = graph_op_add(graph, task);
	bool is_write = (number + task) % 2;

	op->enter_ns = 1000 + number * 100 + task * 10;
	op->end_ns = op->enter_ns + 95; /* so that others always overlap */
	op->kind = is_write ? IOT_KIND_write : IOT_KIND_read;
	op->number = number;
	op->file = 1;
	op->old_size_bytes = 4096;
	op->length_bytes = 4096;
	op->result = 4096;
	if (!task && number == 1)
		op->old_size_bytes = 0;
}

/* Return: seconds of CPU time. */
static double passes_after(u32 ops)
{
	struct graph *graph;
	u32 task, number;
	clock_t begun;
	double taken;

	assert_int_equal(graph_open(&graph), 0);
	graph->rules = ORDER_DEFAULT;
	graph->file_count = 1;
	graph->operations = TASKS * ops;
	for (task = 0; task < TASKS; task++) {
		u32 index;

		assert_int_equal(graph_task_make(graph, 1 + task, &index), 0);
		graph->tasks[index].has_io = true;
		for (number = 1; number <= ops; number++)
			add_op(graph, index, number);
	}
	begun = clock();
	assert_int_equal(graph_pass_linear(graph, NULL), 0);
	taken = (double)(clock() - begun) / CLOCKS_PER_SEC;
	assert_int_equal(graph->unexplained, 0);
	graph_close(graph);
	return taken;
}

/* Tasks that read and write one file concurrently, and never all pause at once. */
static void time_grows_with_the_trace(void **state)
{
	double few, many;

	(void)state;
	few = passes_after(FEW_OPS);
	many = passes_after(MANY_OPS);
	if (getenv("IOTAPE_TEST_VERBOSE"))
		print_message("%u operations: %.3f s, %u: %.3f s\n", TASKS * FEW_OPS, few, TASKS * MANY_OPS, many);
	assert_true(many < 24 * few); /* for 8 times as many; quadratic cost would be 64 times */
}

SUITE("sizes",
      WITH_SCRATCH(results_that_depend_on_size_are_ordered)
      TEST(time_grows_with_the_trace))
