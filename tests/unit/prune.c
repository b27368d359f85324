// SPDX-License-Identifier: GPL-2.0-only
/*
 * prune.c - the edges that remain imply all that were removed, and none of them is redundant.
 *
 * Random graphs with latches; a simple algorithm computes what each operation has waited for,
 * before and after pruning.
 */
#include "analyse/graph/causal.h"

#include <stdlib.h>

#include "suite.h"
#include "analyse/order/order_passes.h"

#define TASKS  5
#define OPS    30
#define GRAPHS 300

/* For each operation, the number of operations of each task that had certainly ended when it started. */
struct history {
	u32 known[TASKS][OPS][TASKS];
	u32 visited;
	u32 latches[TASKS * OPS][TASKS];
	const struct graph *graph;
	u32 skipped; /* an edge to ignore, GRAPH_NONE if none */
};

static u32 below(u64 *random, u32 limit)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)((*random >> 33) % limit);
}

/* An operation at each time step, of a random task; it lasts for a while. */
static void add_ops(struct graph *graph, u64 *random)
{
	u64 busy_ns[TASKS] = {}, now_ns = 1;
	u32 i, task;

	for (i = 0; i < TASKS; i++)
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
	for (i = 0; i < TASKS * OPS;) {
		struct graph_op *op;

		task = below(random, TASKS);
		now_ns++;
		if (busy_ns[task] >= now_ns || graph->tasks[task].op_count == OPS)
			continue;
		op = graph_op_add(graph, task);
		op->kind = IOT_KIND_stat;
		op->enter_ns = now_ns;
		op->end_ns = busy_ns[task] = now_ns + below(random, 4);
		i++;
	}
}

static struct graph_op *op_at(struct graph *graph, u32 task, u32 index)
{
	return &graph->tasks[task].ops[index];
}

static void add_edges(struct graph *graph, u64 *random)
{
	u32 i;

	for (i = 0; i < 250; i++) {
		u32 from = below(random, TASKS), to = below(random, TASKS);
		u32 index = below(random, OPS), at = below(random, OPS);

		if (op_at(graph, from, index)->end_ns < op_at(graph, to, at)->enter_ns)
			assert_int_equal(graph_edge_add(graph, from, index, op_at(graph, to, at),
							EDGE_name), 0);
	}
}

/* Some tasks signal; later ones may wait. */
static void add_latch(struct graph *graph, u64 *random)
{
	u32 members = 1 + below(random, TASKS), latch, i, j, index[TASKS];
	u64 open_ns = 0;

	for (i = 0; i < members; i++) {
		index[i] = below(random, OPS);
		if (op_at(graph, i, index[i])->handle)
			return; /* it signals another latch */
		if (op_at(graph, i, index[i])->end_ns > open_ns)
			open_ns = op_at(graph, i, index[i])->end_ns;
	}
	assert_int_equal(graph_latch_add(graph, members, &latch), 0);
	for (i = 0; i < members; i++) {
		op_at(graph, i, index[i])->kind = IOT_PLAY_signal;
		op_at(graph, i, index[i])->handle = latch + 1;
	}
	for (i = 0; i < TASKS; i++)
		for (j = 0; j < OPS; j++) {
			if (op_at(graph, i, j)->enter_ns <= open_ns)
				continue;
			if (below(random, 2))
				assert_int_equal(graph_edge_add(graph, GRAPH_NONE, latch,
								op_at(graph, i, j), EDGE_mpi), 0);
			break;
		}
}

static void merge(u32 *known, const u32 *other)
{
	u32 i;

	for (i = 0; i < TASKS; i++)
		if (other[i] > known[i])
			known[i] = other[i];
}

static int visit(void *context, u32 task, u32 index)
{
	struct history *h = context;
	const struct graph_op *op = &h->graph->tasks[task].ops[index];
	u32 *known = h->known[task][index], e;

	h->visited++;
	if (index)
		merge(known, h->known[task][index - 1]);
	known[task] = index;
	for (e = op->edges; e != GRAPH_NONE; e = h->graph->edges[e].next) {
		const struct graph_edge *edge = &h->graph->edges[e];

		if (e == h->skipped)
			continue;
		if (edge->task == GRAPH_NONE) {
			merge(known, h->latches[edge->index]);
			continue;
		}
		merge(known, h->known[edge->task][edge->index]);
		if (known[edge->task] < edge->index + 1)
			known[edge->task] = edge->index + 1;
	}
	if (op->kind == IOT_PLAY_signal) {
		merge(h->latches[op->handle - 1], known);
		if (h->latches[op->handle - 1][task] < index + 1)
			h->latches[op->handle - 1][task] = index + 1;
	}
	return 0;
}

static struct history *history_of(struct graph *graph, u32 skipped)
{
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->graph = graph;
	h->skipped = skipped;
	assert_int_equal(causal_traverse(graph, visit, h), 0);
	assert_int_equal(h->visited, TASKS * OPS);
	return h;
}

/* Every remaining edge is needed; except an edge from a latch that other latches make redundant. */
static void nothing_is_said_twice(struct graph *graph, const struct history *all, u64 *left)
{
	u32 i, j, e;

	for (i = 0; i < TASKS; i++)
		for (j = 0; j < OPS; j++)
			for (e = op_at(graph, i, j)->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
				struct history *h;

				if (graph->edges[e].task == GRAPH_NONE)
					continue;
				h = history_of(graph, e);
				assert_memory_not_equal(h->known, all->known, sizeof(h->known));
				free(h);
				++*left;
			}
}

static void pruned_edges_imply_the_same_order(void **state)
{
	u64 random = 1, left, pruned = 0;
	u32 i, j;

	(void)state;
	for (i = 0; i < GRAPHS; i++) {
		struct history *before, *after;
		struct graph *graph;

		assert_int_equal(graph_open(&graph), 0);
		add_ops(graph, &random);
		for (j = 0; j < 4; j++)
			add_latch(graph, &random);
		add_edges(graph, &random);
		before = history_of(graph, GRAPH_NONE);
		assert_int_equal(graph_pass_prune(graph), 0);
		after = history_of(graph, GRAPH_NONE);
		assert_memory_equal(before->known, after->known, sizeof(after->known));
		left = 0;
		if (i < 10)
			nothing_is_said_twice(graph, after, &left);
		assert_true(i >= 10 || left == graph->edges_by_cause[EDGE_name] -
						       graph->pruned_by_cause[EDGE_name]);
		pruned += graph->pruned_by_cause[EDGE_name];
		free(before);
		free(after);
		graph_close(graph);
	}
	assert_true(pruned > GRAPHS * 10);
}

/* Operations without duration, all at the same time, one of which waits for that of a later task. */
static void edges_take_precedence_over_time(void **state)
{
	struct history h = { .skipped = GRAPH_NONE };
	struct graph *graph;
	u32 i, task;

	(void)state;
	assert_int_equal(graph_open(&graph), 0);
	for (i = 0; i < TASKS; i++) {
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
		graph_op_add(graph, task)->enter_ns = 7;
	}
	for (i = 0; i + 1 < TASKS; i++) /* each waits for the next one */
		assert_int_equal(graph_edge_add(graph, i + 1, 0, op_at(graph, i, 0), EDGE_life), 0);
	h.graph = graph;
	assert_int_equal(causal_traverse(graph, visit, &h), 0);
	assert_int_equal(h.visited, TASKS);
	assert_int_equal(h.known[0][0][TASKS - 1], 1);
	graph_close(graph);
}

SUITE("prune",
      TEST(pruned_edges_imply_the_same_order)
      TEST(edges_take_precedence_over_time))
