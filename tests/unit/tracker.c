// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracker.c - waits between operations that use one resource, depending on the kind and time of their uses.
 *
 * Each operation belongs to a task of its own, or to the stated one, and uses the resource
 * for some time; edges are written USER<USED with the names of the operations.
 */
#include "analyse/order/tracker.h"

#include <stdlib.h>

#include "suite.h"

struct step {
	char name;
	char how; /* exclusive, change, look */
	u64 enter_ns;
	u64 end_ns;
	u32 task;
};

#define STEPS_MAX 8

static const struct {
	const char *what;
	struct step steps[STEPS_MAX];
	const char *edges;
} cases[] = {
	{ "looks do not wait for looks", { { 'a', 'l', 1, 2 }, { 'b', 'l', 3, 4 } }, "" },
	{ "changes do not wait for changes", { { 'a', 'c', 1, 2 }, { 'b', 'c', 3, 4 } }, "" },
	{ "a look waits for a change", { { 'a', 'c', 1, 2 }, { 'b', 'l', 3, 4 } }, "b<a" },
	{ "a change waits for a look", { { 'a', 'l', 1, 2 }, { 'b', 'c', 3, 4 } }, "b<a" },
	{ "all uses wait for an exclusive use",
	  { { 'a', 'x', 1, 2 }, { 'b', 'l', 3, 4 }, { 'c', 'c', 3, 4 } }, "b<a c<a" },
	{ "an exclusive use waits for all others",
	  { { 'a', 'l', 1, 2 }, { 'b', 'c', 1, 2 }, { 'c', 'x', 3, 4 } }, "c<a c<b" },
	{ "exclusive uses form a chain",
	  { { 'a', 'x', 1, 2 }, { 'b', 'x', 3, 4 }, { 'c', 'x', 5, 6 } }, "b<a c<b" },
	{ "overlapping uses do not wait", { { 'a', 'x', 1, 5 }, { 'b', 'x', 3, 8 } }, "" },
	{ "a use that ends as the other begins does not wait either",
	  { { 'a', 'x', 1, 3 }, { 'b', 'x', 3, 8 } }, "" },
	{ "a later use waits for both of two overlapping ones",
	  { { 'a', 'x', 1, 100 }, { 'b', 'x', 50, 60 }, { 'c', 'x', 70, 80 }, { 'd', 'l', 110, 120 } },
	  "c<b d<c d<a" },
	{ "during an exclusive use, others wait for the uses before it",
	  { { 'a', 'l', 1, 10 }, { 'b', 'x', 20, 100 }, { 'c', 'x', 50, 60 } }, "b<a c<a" },
	{ "during a use of a task, others wait for the task's previous use",
	  { { 'a', 'l', 1, 10, 1 }, { 'b', 'l', 20, 100, 1 }, { 'c', 'x', 50, 60, 2 } }, "c<a" },
	{ "a task does not wait for itself",
	  { { 'a', 'x', 1, 2, 1 }, { 'b', 'x', 3, 4, 1 } }, "" },
	{ "a use that follows others is waited for in their place",
	  { { 'a', 'l', 1, 2, 1 }, { 'b', 'c', 3, 4, 1 }, { 'c', 'l', 5, 6, 2 }, { 'd', 'c', 7, 8, 2 },
	    { 'e', 'l', 9, 10, 3 }, { 'f', 'c', 11, 12, 3 } }, "c<b e<d" },
	{ "but not during that use",
	  { { 'a', 'l', 1, 2, 1 }, { 'b', 'c', 3, 4, 1 }, { 'c', 'l', 5, 6, 2 }, { 'd', 'c', 7, 100, 2 },
	    { 'e', 'l', 50, 60, 3 }, { 'f', 'l', 110, 120, 4 } }, "c<b e<b f<d" },
	{ "a use that follows only some of the others is not waited for in their place",
	  { { 'a', 'c', 1, 20, 1 }, { 'b', 'c', 2, 3, 2 }, { 'c', 'l', 5, 6, 3 }, { 'd', 'c', 7, 8, 3 },
	    { 'e', 'l', 30, 31, 4 } }, "c<b e<d e<b e<a" },
	{ "there are no duplicate waits",
	  { { 'a', 'x', 1, 2, 1 }, { 'b', 'l', 3, 4, 2 }, { 'c', 'l', 5, 6, 2 } }, "b<a" },
};

static enum use use_of(char how)
{
	return how == 'x' ? USE_EXCLUSIVE : how == 'c' ? USE_CHANGE : USE_LOOK;
}

static char name_at(const struct step *steps, const u32 *tasks, const u32 *indices, u32 task,
		    u32 index)
{
	u32 i;

	for (i = 0; steps[i].name; i++)
		if (tasks[i] == task && indices[i] == index)
			return steps[i].name;
	return '?';
}

static void uses_create_edges(void **state)
{
	size_t c;

	(void)state;
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct step *steps = cases[c].steps;
		u32 tasks[STEPS_MAX], indices[STEPS_MAX], i, e;
		struct tracker tracker = {};
		struct waiter waiter;
		struct graph *graph;
		char edges[64] = "";

		assert_int_equal(graph_open(&graph), 0);
		assert_int_equal(waiter_open(&waiter, graph), 0);
		for (i = 0; steps[i].name; i++) {
			struct graph_op *op;

			assert_int_equal(graph_task_make(graph, steps[i].task ?: 10 + i, &tasks[i]), 0);
			indices[i] = graph->tasks[tasks[i]].op_count;
			op = graph_op_add(graph, tasks[i]);
			op->enter_ns = steps[i].enter_ns;
			op->end_ns = steps[i].end_ns;
			waiter.task = tasks[i];
			waiter.enter_ns = op->enter_ns;
			waiter.index = waiter.target = indices[i];
			assert_int_equal(tracker_use(&waiter, &tracker, use_of(steps[i].how),
						      EDGE_name), 0);
			op = &graph->tasks[tasks[i]].ops[indices[i]];
			for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next)
				snprintf(edges + strlen(edges), sizeof(edges) - strlen(edges), "%s%c<%c",
					 edges[0] ? " " : "", steps[i].name,
					 name_at(steps, tasks, indices, graph->edges[e].task,
						 graph->edges[e].index));
		}
		if (strcmp(edges, cases[c].edges) != 0)
			fail_msg("%s: %s, not %s", cases[c].what, edges, cases[c].edges);
		tracker_exit(&tracker);
		waiter_close(&waiter);
		graph_close(graph);
	}
}

static void names_of_rules_are_parsed(void **state)
{
	unsigned int rules;

	(void)state;
	assert_null(order_rules_parse("iotape", &rules));
	assert_int_equal(rules, ORDER_DEFAULT);
	assert_null(order_rules_parse("unconstrained", &rules));
	assert_int_equal(rules, 0);
	assert_null(order_rules_parse("file_seq,path_stage+", &rules));
	assert_int_equal(rules, ORDER_BIT(file_seq) | ORDER_BIT(path_stage) | ORDER_WAITS);
	assert_string_equal(order_rules_parse("file_seq,path", &rules), "path");
	assert_string_equal(order_rules_parse("", &rules), "");
	assert_string_equal(order_rules_parse("artc,file_seq", &rules), "artc,file_seq");
	assert_string_equal(order_rules_parse("fd_seq,", &rules), "");
}

SUITE("tracker",
      TEST(uses_create_edges)
      TEST(names_of_rules_are_parsed))
