// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfork.c - in an imported log, the parent of a child of vfork waits for the operations of the child until its exec or its end. This
 * wait is not think time.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/graph/graph_load.h"
#include "analyse/order/order_passes.h"
#include "import/import.h"
#include "scratch.h"
#include "suite.h"

/* The parent writes to /r/a 10 us after its call, the child opens /r/b during the call. */
#define BEFORE "1 1700000000.000000 open(\"/r/a\", O_WRONLY) = 3 <0.000010>\n"
#define CHILD  "2 1700000000.010000 open(\"/r/b\", O_WRONLY) = 4 <0.010000>\n"
#define AFTER  "1 1700000000.050010 write(3, \"a\", 1) = 1 <0.000010>\n"

static const char *const released_by_exec[] = {
	BEFORE,
	"1 1700000000.000010 vfork( <unfinished ...>\n",
	CHILD,
	"2 1700000000.030000 execve(\"/bin/true\", [\"true\"], 0x7f0) = 0 <0.019000>\n",
	"1 1700000000.050000 <... vfork resumed>) = 2 <0.049990>\n",
	"2 1700000000.050000 open(\"/r/c\", O_WRONLY) = 5 <0.000020>\n",
	AFTER, NULL
};

/* The call of the parent returns before that of the child. */
static const char *const released_before_exec_returns[] = {
	BEFORE,
	"1 1700000000.000010 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f0, stack_size=0x9000}, 88 <unfinished ...>\n",
	CHILD,
	"2 1700000000.030000 execve(\"/bin/true\", [\"true\"], 0x7f0 <unfinished ...>\n",
	"1 1700000000.050000 <... clone3 resumed>) = 2 <0.049990>\n",
	AFTER,
	"2 1700000000.050030 <... execve resumed>) = 0 <0.020030>\n",
	"2 1700000000.050040 open(\"/r/c\", O_WRONLY) = 5 <0.000020>\n",
	NULL
};

static const char *const released_by_exit[] = {
	BEFORE,
	"1 1700000000.000010 vfork( <unfinished ...>\n",
	CHILD,
	"2 1700000000.030000 exit(0) = ?\n",
	"2 1700000000.049000 +++ exited with 0 +++\n",
	"1 1700000000.050000 <... vfork resumed>) = 2 <0.049990>\n",
	AFTER, NULL
};

static void import(const char *const *lines)
{
	char *logs[] = { scratch_program }, *roots[] = { "/r" };
	const struct import_options options = { .logs = logs, .log_count = 1, .trace = scratch_trace,
						.roots = roots, .root_count = 1 };
	struct import_summary summary;
	FILE *log = fopen(scratch_program, "we");

	assert_non_null(log);
	for (; *lines; lines++)
		fputs(*lines, log);
	fclose(log);
	assert_int_equal(import_logs(&options, &summary), 0);
	import_summary_free(&summary);
}

static u32 find_write(const struct graph_task *t)
{
	u32 i;

	for (i = 0; i < t->op_count && t->ops[i].kind != IOT_KIND_write; i++)
		;
	assert_true(i < t->op_count);
	return i;
}

/* The wait before the write is for a wake-up by the child, after its open of /r/b, and before any other operation. */
static void waits_for_the_child(const struct graph *graph)
{
	const struct graph_task *t = &graph->tasks[0], *child;
	u32 i = find_write(t), j, edge = GRAPH_NONE;
	const struct graph_edge *e;

	while (edge == GRAPH_NONE && i-- > 0)
		if (t->ops[i].kind == IOT_PLAY_wait && t->ops[i].flags == WAIT_WOKEN)
			edge = t->ops[i].edges;
	assert_int_not_equal(edge, GRAPH_NONE);
	e = &graph->edges[edge];
	assert_int_equal(e->cause, EDGE_wake);
	child = &graph->tasks[e->task];
	for (j = 0; j < e->index && child->ops[j].kind != IOT_KIND_open; j++)
		;
	assert_true(j < e->index);
	assert_string_equal(child->ops[j].path, "b");
	for (j++; j < e->index; j++)
		assert_false(graph_is_io(&child->ops[j]));
}

static void parent_waits(const char *const *lines)
{
	struct iot_reject reject;
	struct graph *graph;
	struct tree *tree;
	const struct graph_op *op;

	import(lines);
	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(tree_open(&tree), 0);
	assert_int_equal(load_trace(scratch_trace, graph, tree, NULL, &reject), 0);
	assert_int_equal(graph_pass_life(graph), 0);
	assert_int_equal(graph_pass_wakes(graph), 0);
	assert_int_equal(graph_pass_think(graph), 0);
	op = &graph->tasks[0].ops[find_write(&graph->tasks[0])];
	assert_true(op->compute_ns + op->pause_ns <= 1010000); /* from the end of the child's part, 49 ms at the earliest */
	waits_for_the_child(graph);
	tree_close(tree);
	graph_close(graph);
}

static void parent_waits_until_the_exec(void **state)
{
	(void)state;
	parent_waits(released_by_exec);
}

static void parent_returns_before_the_exec(void **state)
{
	(void)state;
	parent_waits(released_before_exec_returns);
}

static void parent_waits_until_the_exit(void **state)
{
	(void)state;
	parent_waits(released_by_exit);
}

SUITE("vfork",
      WITH_SCRATCH(parent_waits_until_the_exec)
      WITH_SCRATCH(parent_returns_before_the_exec)
      WITH_SCRATCH(parent_waits_until_the_exit))
