// SPDX-License-Identifier: GPL-2.0-only
/*
 * analysis.c - a trace is loaded once, passes run in portions, and programs are compiled from the one graph.
 */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"
#include "scratch.h"

static const char *const traces[] = {
	"operations", "tree", "requests", "wakes", "lists", "attached", "privileges", "mpi", "mpi-files", "mpi-windows",
};

struct bytes {
	char *bytes;
	size_t count;
};

static struct bytes read_program(void)
{
	struct bytes image = {};
	FILE *file = fopen(scratch_program, "r");
	long count;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	count = ftell(file);
	assert_true(count > 0);
	rewind(file);
	image.bytes = malloc((size_t)count);
	image.count = fread(image.bytes, 1, (size_t)count, file);
	assert_int_equal(image.count, count);
	fclose(file);
	unlink(scratch_program);
	return image;
}

static void assert_same(const char *trace, struct bytes *image, const struct bytes *expected)
{
	assert_row(trace, image->count == expected->count);
	assert_row(trace, !memcmp(image->bytes, expected->bytes, expected->count));
	free(image->bytes);
}

static struct bytes compile_whole(const char *path, u32 rules)
{
	struct compile_options options = { .trace = path, .program = scratch_program, .rules = rules };
	struct compile_summary summary;
	struct iot_reject reject;

	assert_row(path, !compile_trace(&options, &summary, &reject));
	compile_summary_free(&summary);
	return read_program();
}

static struct bytes compile_from(const struct analysis *analysis)
{
	struct compile_options options = { .program = scratch_program };
	struct compile_summary summary;
	struct iot_reject reject;

	assert_int_equal(compile_analysis(analysis, &options, &summary, &reject), 0);
	compile_summary_free(&summary);
	return read_program();
}

/* Load once; read after some passes; run the other passes; compile twice; read again. */
static void compile_twice(const char *path, u32 rules)
{
	const struct analysis_options options = { .rules = rules };
	struct bytes expected = compile_whole(path, rules), image;
	struct iot_reject reject = {};
	struct analysis *analysis;
	u32 tasks, ops = 0, i;

	assert_row(path, !analysis_load(&analysis, path, &options, &reject));
	assert_row(path, !analysis_run(analysis, PASS_BIT(mpi)));
	assert_row(path, analysis_passes(analysis) == (PASS_BIT(life) | PASS_BIT(queues) | PASS_BIT(mpi)));
	tasks = analysis_graph(analysis)->task_count;
	assert_row(path, tasks > 0);
	assert_row(path, !analysis_run(analysis, PASSES_ALL));
	for (i = 0; i < tasks; i++)
		ops += analysis_graph(analysis)->tasks[i].op_count;
	image = compile_from(analysis);
	assert_same(path, &image, &expected);
	image = compile_from(analysis);
	assert_same(path, &image, &expected);
	for (i = 0; i < tasks; i++)
		ops -= analysis_graph(analysis)->tasks[i].op_count;
	assert_row(path, !ops);
	analysis_close(analysis);
	free(expected.bytes);
}

static void compiles_twice_from_one_graph(void **state)
{
	static const u32 rules[] = {
		ORDER_DEFAULT, ORDER_BIT(temporal) | ORDER_WAITS, ORDER_BIT(program_seq) | ORDER_WAITS, 0,
	};
	char path[64];
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		snprintf(path, sizeof(path), "tests/golden/%s.iot", traces[i]);
		for (j = 0; j < sizeof(rules) / sizeof(rules[0]); j++)
			compile_twice(path, rules[j]);
	}
}

static void passes_run_in_the_order_of_the_table(void **state)
{
	const struct analysis_options options = { .rules = ORDER_DEFAULT };
	struct compile_options compile = { .program = scratch_program };
	struct compile_summary summary;
	struct iot_reject reject = {};
	struct analysis *analysis;
	u32 i;

	(void)state;
	for (i = 0; i < PASS_COUNT; i++)
		assert_int_equal(graph_passes_needed(1u << i) >> i, 1); /* needs no later pass */
	assert_int_equal(analysis_load(&analysis, "tests/golden/operations.iot", &options, &reject), 0);
	assert_int_equal(compile_analysis(analysis, &compile, &summary, &reject), -EINVAL);
	assert_int_equal(analysis_run(analysis, PASS_BIT(wakes)), 0);
	assert_int_equal(analysis_run(analysis, PASS_BIT(queues)), -EINVAL); /* would renumber operations that wakes has read */
	assert_int_equal(analysis_passes(analysis), PASS_BIT(life) | PASS_BIT(wakes));
	assert_int_equal(compile_analysis(analysis, &compile, &summary, &reject), -EINVAL);
	assert_int_not_equal(access(scratch_program, F_OK), 0);
	analysis_close(analysis);
}

SUITE("analysis", WITH_SCRATCH(compiles_twice_from_one_graph) WITH_SCRATCH(passes_run_in_the_order_of_the_table))
