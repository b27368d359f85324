// SPDX-License-Identifier: GPL-2.0-only
/*
 * locks.c - waits between operations that result from locks of one file.
 *
 * Each operation belongs to a process of its own, or to the stated one, and has a handle of
 * its process; edges are written USER<USED with the names of the operations.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "suite.h"
#include "analyse/order/order_passes.h"

#define STEPS_MAX 8

struct step {
	char name;
	char what; /* see fill() */
	u64 enter_ns;
	u64 end_ns;
	u32 process;
	u32 flags; /* in addition to the type */
};

static const struct {
	const char *what;
	struct step steps[STEPS_MAX];
	const char *edges;
} cases[] = {
	{ "a lock waits for its release by another, which may return later",
	  { { 'a', 'x', 2, 2, 1 }, { 'b', 'u', 3, 9, 1 }, { 'c', 'x', 2, 5, 2 } }, "c<b" },
	{ "shared locks do not wait for each other",
	  { { 'a', 's', 2, 2, 1 }, { 'b', 's', 3, 3, 2 }, { 'c', 'u', 4, 4, 1 }, { 'd', 's', 5, 5, 3 } },
	  "" },
	{ "an exclusive lock waits for all shared ones",
	  { { 'a', 's', 1, 1, 1 }, { 'b', 's', 2, 2, 2 }, { 'c', 'u', 3, 3, 1 }, { 'd', 'u', 4, 4, 2 },
	    { 'e', 'x', 5, 5, 3 } }, "e<c e<d" },
	{ "a shared lock waits for an exclusive one",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'u', 2, 2, 1 }, { 'c', 's', 3, 3, 2 } }, "c<b" },
	{ "a refused request follows the lock, and precedes its release",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'n', 2, 2, 2 }, { 'c', 'u', 3, 3, 1 } }, "b<a c<b" },
	{ "a wait ended by a signal is a refusal",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'i', 2, 5, 2, IOT_LOCK_wait }, { 'c', 'u', 6, 6, 1 } }, "b<a c<b" },
	{ "such a refusal can be due to a lock that was released before the signal",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'i', 2, 9, 2, IOT_LOCK_wait }, { 'c', 'u', 3, 4, 1 } }, "b<a c<b" },
	{ "a deadlock is a refusal, too",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'd', 2, 3, 2, IOT_LOCK_wait }, { 'c', 'u', 4, 4, 1 } }, "b<a c<b" },
	{ "a test that finds a lock is a refusal, too",
	  { { 'a', 's', 1, 1, 1 }, { 'b', 't', 2, 2, 2 }, { 'c', 'u', 3, 3, 1 } }, "b<a c<b" },
	{ "a test that finds no lock precedes the lock",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'u', 2, 2, 1 }, { 'c', 'f', 3, 3, 2 }, { 'd', 'x', 4, 4, 3 } },
	  "c<b d<b d<c" },
	{ "a refusal during the request for the lock follows that",
	  { { 'a', 'x', 1, 9, 1 }, { 'b', 'n', 2, 3, 2 } }, "b<a" },
	{ "a refusal during the release of the lock precedes that",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'n', 2, 9, 2 }, { 'c', 'u', 3, 4, 1 } }, "b<a c<b" },
	{ "a refusal between two locks is due to one of them",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'u', 2, 2, 1 }, { 'c', 'n', 3, 8, 2 }, { 'd', 'x', 4, 9, 3 } },
	  "c<d d<b" },
	{ "of two concurrent requests, one is refused because of the other",
	  { { 'a', 'x', 1, 9, 1 }, { 'b', 'n', 1, 9, 2 }, { 'c', 'u', 10, 11, 1 }, { 'd', 'x', 12, 13, 2 } },
	  "b<a c<b d<c" },
	{ "a close releases the locks of the process",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'c', 2, 9, 1 }, { 'c', 'x', 3, 3, 2 } }, "c<b" },
	{ "a close by a process without locks does not",
	  { { 'a', 's', 1, 1, 1 }, { 'b', 'c', 2, 2, 2 }, { 'c', 'n', 3, 3, 3 } }, "c<a" },
	{ "a release of a handle does not release locks of a process",
	  { { 'a', 's', 1, 1, 1 }, { 'b', 'r', 2, 2, 1 }, { 'c', 'n', 3, 3, 2 } }, "c<a" },
	{ "a release of a handle releases its own locks, a close does not",
	  { { 'a', 'x', 1, 1, 1, IOT_LOCK_ofd }, { 'b', 'c', 2, 2, 1 }, { 'c', 'r', 3, 9, 1 },
	    { 'd', 'x', 5, 5, 2, IOT_LOCK_ofd } }, "d<c" },
	{ "the same with flock",
	  { { 'a', 'x', 1, 1, 1, IOT_LOCK_flock }, { 'b', 'r', 3, 9, 1 },
	    { 'c', 's', 5, 5, 2, IOT_LOCK_flock } }, "c<b" },
	{ "flock and fcntl locks do not conflict",
	  { { 'a', 'x', 1, 1, 1, IOT_LOCK_flock }, { 'b', 'u', 2, 2, 1, IOT_LOCK_flock },
	    { 'c', 'x', 3, 3, 2 } }, "" },
	{ "disjoint ranges do not conflict",
	  { { 'a', 'l', 1, 1, 1 }, { 'b', 'u', 2, 2, 1 }, { 'c', 'h', 3, 3, 2 } }, "" },
	{ "a part of a lock is released, and then the rest",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'p', 2, 2, 1 }, { 'c', 'l', 3, 3, 2 }, { 'd', 'u', 4, 4, 1 },
	    { 'e', 'h', 5, 5, 3 } }, "c<b e<d" },
	{ "an exclusive lock that is downgraded permits shared locks",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 's', 2, 2, 1 }, { 'c', 's', 3, 3, 2 } }, "c<b" },
	{ "a refused shared lock precedes the downgrade",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'm', 2, 2, 2 }, { 'c', 's', 3, 3, 1 } }, "b<a c<b" },
	{ "a release of a lock that the trace does not have is not ordered",
	  { { 'a', 'x', 1, 1, 1 }, { 'b', 'x', 2, 2, 2 } }, "" },
};

static void fill(struct graph_op *op, const struct step *step)
{
	op->enter_ns = step->enter_ns;
	op->end_ns = step->end_ns;
	op->file = 1;
	op->handle = step->process;
	op->edges = GRAPH_NONE;
	op->kind = step->what == 'c' ? IOT_KIND_flush : step->what == 'r' ? IOT_KIND_release :
									     IOT_KIND_lock;
	op->flags = step->flags;
	op->extra = INT64_MAX;
	switch (step->what) {
	case 'n': /* refused */
		op->result = -EAGAIN;
		/* fall through */
	case 'x':
		op->flags |= IOT_LOCK_exclusive;
		break;
	case 'm': /* refused a shared one */
		op->result = -EAGAIN;
		/* fall through */
	case 's':
		op->flags |= IOT_LOCK_shared;
		break;
	case 'i': /* interrupted */
	case 'd': /* a deadlock */
		op->result = step->what == 'i' ? -EINTR : -EDEADLK;
		op->flags |= IOT_LOCK_exclusive;
		break;
	case 't': /* a test finds one */
		op->mode = IOT_LOCK_shared;
		/* fall through */
	case 'f': /* a test finds none */
		op->flags |= IOT_LOCK_test | IOT_LOCK_exclusive;
		break;
	case 'l': /* low addresses */
		op->flags |= IOT_LOCK_exclusive;
		/* fall through */
	case 'p': /* low addresses, released */
		op->extra = 100;
		break;
	case 'h': /* high addresses */
		op->flags |= IOT_LOCK_exclusive;
		op->offset_bytes = 101;
		break;
	}
}

static struct graph *graph_of(const struct step *steps, u32 *tasks, u32 *indices)
{
	struct graph *graph;
	u32 i;

	assert_int_equal(graph_open(&graph), 0);
	graph->rules = ORDER_BIT(found);
	graph->file_count = 1;
	for (i = 0; steps[i].name; i++) {
		struct graph_task *task;

		assert_int_equal(graph_task_make(graph, steps[i].process, &tasks[i]), 0);
		task = &graph->tasks[tasks[i]];
		task->tgid = steps[i].process;
		task->space = steps[i].process;
		task->has_io = true;
		indices[i] = task->op_count;
		fill(graph_op_add(graph, tasks[i]), &steps[i]);
	}
	return graph;
}

static void locks_create_edges(void **state)
{
	size_t c;

	(void)state;
	for (c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct step *steps = cases[c].steps;
		u32 tasks[STEPS_MAX], indices[STEPS_MAX], i, e, from;
		struct graph *graph = graph_of(steps, tasks, indices);
		char edges[64] = "";

		assert_int_equal(graph_pass_linear(graph, NULL), 0);
		for (i = 0; steps[i].name; i++)
			for (from = 0; steps[from].name; from++)
				for (e = graph->tasks[tasks[i]].ops[indices[i]].edges; e != GRAPH_NONE;
				     e = graph->edges[e].next)
					if (graph->edges[e].cause == EDGE_lock &&
					    graph->edges[e].task == tasks[from] &&
					    graph->edges[e].index == indices[from])
						snprintf(edges + strlen(edges),
							 sizeof(edges) - strlen(edges), "%s%c<%c",
							 edges[0] ? " " : "", steps[i].name,
							 steps[from].name);
		if (strcmp(edges, cases[c].edges) != 0)
			fail_msg("%s: %s, not %s", cases[c].what, edges, cases[c].edges);
		graph_close(graph);
	}
}

static void add_range(struct graph *graph, u32 task, u64 ns, u64 byte, u32 flags)
{
	struct graph_op *op = graph_op_add(graph, task);

	op->kind = IOT_KIND_lock;
	op->enter_ns = ns;
	op->end_ns = ns;
	op->file = 1;
	op->offset_bytes = byte;
	op->extra = byte;
	op->flags = flags;
}

/* More ranges than are tracked separately: the order is coarser, but still exists. */
static void many_ranges_keep_their_order(void **state)
{
	const u32 ranges = 20000;
	const struct graph_op *last;
	struct graph *graph;
	u32 one, two, i;

	(void)state;
	assert_int_equal(graph_open(&graph), 0);
	graph->rules = ORDER_BIT(found);
	graph->file_count = 1;
	assert_int_equal(graph_task_make(graph, 1, &one), 0);
	assert_int_equal(graph_task_make(graph, 2, &two), 0);
	graph->tasks[one].has_io = graph->tasks[two].has_io = true;
	graph->tasks[one].tgid = 1;
	graph->tasks[two].tgid = 2;
	for (i = 0; i < ranges; i++) {
		add_range(graph, one, 10 + 10 * i, i, IOT_LOCK_exclusive);
		add_range(graph, one, 15 + 10 * i, i, 0);
	}
	add_range(graph, two, 20 + 10 * ranges, 17, IOT_LOCK_exclusive);
	assert_int_equal(graph_pass_linear(graph, NULL), 0);
	last = &graph->tasks[two].ops[0];
	assert_int_not_equal(last->edges, GRAPH_NONE);
	assert_int_equal(graph->edges[last->edges].task, one);
	assert_true(graph->edges[last->edges].index >= 2 * 17 + 1);
	graph_close(graph);
}

SUITE("locks",
      TEST(locks_create_edges)
      TEST(many_ranges_keep_their_order))
