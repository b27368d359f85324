// SPDX-License-Identifier: GPL-2.0-only
/*
 * around.c - the operations of the dependency view, and their predecessors and successors.
 */
#include "report/around.h"

#include <stdlib.h>

#include "mpi_graph.h"

static const struct around_node *node_of(const struct around *around, u32 task, u32 index)
{
	u32 i;

	for (i = 0; i < around->node_count; i++)
		if (around->nodes[i].task == task && around->nodes[i].index == index)
			return &around->nodes[i];
	fail();
	return NULL;
}

static void link_is(const struct around *around, const struct around_link *link, u32 task, u32 index, u32 cause, u64 waited_ns)
{
	assert_int_equal(around->nodes[link->node].task, task);
	assert_int_equal(around->nodes[link->node].index, index);
	assert_int_equal(link->cause, cause);
	assert_int_equal(link->waited_ns, waited_ns);
}

static void finish(struct graph *graph)
{
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
}

static void close_all(struct graph *graph, struct around *around)
{
	around_free(around);
	graph_close(graph);
}

/* Three ranks in a barrier, which they enter at 100, 200 and 900. */
static struct graph *barrier(void)
{
	struct graph *graph = begin(3);
	u32 i;

	for (i = 0; i < 3; i++)
		graph->tasks[i].begin_ns = 50;
	CALL(mpi_coll, 0, 100, 1000, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 1, 200, 1010, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	CALL(mpi_coll, 2, 900, 1001, .call = IOT_CALL_barrier, .number = 1, .root = -1);
	finish(graph);
	return graph;
}

static void waits_are_for_the_last_rank(void **state)
{
	struct graph *graph = barrier();
	const struct around_node *node;
	struct around around;

	(void)state;
	assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
	assert_int_equal(around.operations, 6);
	assert_int_equal(around.open, 6);
	assert_int_equal(around.waiting, 2);
	node = node_of(&around, 0, 1);
	assert_ptr_equal(node, &around.nodes[around.waits[0]]);
	assert_int_equal(node->begin_ns, 100);
	assert_int_equal(node->duration_ns, 900);
	assert_int_equal(node->waited_ns, 800);
	assert_int_equal(node->before_all, 3);
	link_is(&around, &node->before[0], 0, 0, AROUND_CAUSE_TASK, 0);
	link_is(&around, &node->before[1], 2, 0, EDGE_mpi, 800);
	link_is(&around, &node->before[2], 1, 0, EDGE_mpi, 100);
	node = node_of(&around, 2, 0);
	assert_int_equal(node->after_all, 3);
	link_is(&around, &node->after[0], 2, 1, AROUND_CAUSE_TASK, 0);
	link_is(&around, &node->after[1], 0, 1, EDGE_mpi, 800);
	link_is(&around, &node->after[2], 1, 1, EDGE_mpi, 700);
	assert_int_equal(node_of(&around, 2, 1)->waited_ns, 0);
	close_all(graph, &around);
}

/* From the last end, that of rank 1, to the arrival of rank 2, which is its first operation. */
static void critical_path_crosses_to_the_last_rank(void **state)
{
	struct graph *graph = barrier();
	struct around around;

	(void)state;
	assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
	assert_int_equal(around.path_operations, 2);
	assert_int_equal(around.path_changes, 1);
	assert_int_equal(around.path_count, 2);
	assert_ptr_equal(&around.nodes[around.path[0]], node_of(&around, 2, 0));
	assert_ptr_equal(&around.nodes[around.path[1]], node_of(&around, 1, 1));
	assert_int_equal(around.path_cross_ns, 110);
	assert_int_equal(around.path_op_ns + around.path_gap_ns, 0);
	assert_true(node_of(&around, 2, 0)->is_path);
	assert_false(node_of(&around, 0, 1)->is_path);
	assert_int_equal(node_of(&around, 1, 1)->path_ns, 110);
	close_all(graph, &around);
}

/* Two requests, submitted at 100 and 300 in calls of 10 ns, end at 250 and 900. */
static void critical_path_has_the_time_of_a_request(void **state)
{
	static const u64 submitted_ns[] = { 100, 300 }, ended_ns[] = { 250, 900 };
	struct graph *graph = begin(1);
	struct around around;
	struct graph_op *op;
	u32 queue, i;

	(void)state;
	assert_int_equal(graph_queue_make(graph, 0, &queue), 0);
	for (i = 0; i < 2; i++) {
		op = graph_op_add(graph, 0);
		op->kind = IOT_KIND_submit;
		op->enter_ns = submitted_ns[i];
		op->end_ns = submitted_ns[i] + 10;
		op = graph_op_add(graph, queue);
		op->kind = IOT_KIND_complete;
		op->enter_ns = op->end_ns = ended_ns[i];
		assert_int_equal(graph_edge_add(graph, 0, i, op, EDGE_request), 0);
	}
	assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
	assert_int_equal(around.path_operations, 3);
	assert_int_equal(around.path_changes, 1);
	assert_int_equal(around.path_op_ns, 590 + 10 + 10);
	assert_int_equal(around.path_gap_ns, 190);
	assert_false(node_of(&around, queue, 0)->is_path);
	close_all(graph, &around);
}

/* Clocks of two nodes may differ: the predecessor seems to end after the wait for it. */
static void a_wait_is_no_longer_than_its_operation(void **state)
{
	struct graph *graph = begin(2);
	struct around around;
	struct graph_op *op = graph_op_add(graph, 1);

	(void)state;
	op->kind = IOT_KIND_fsync;
	op->enter_ns = 300;
	op->end_ns = 800;
	op = graph_op_add(graph, 0);
	op->kind = IOT_PLAY_wait;
	op->flags = WAIT_WOKEN;
	op->enter_ns = op->end_ns = 500;
	assert_int_equal(graph_edge_add(graph, 1, 0, op, EDGE_wake), 0);
	graph->tasks[0].begin_ns = 100;
	assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
	assert_int_equal(node_of(&around, 0, 0)->waited_ns, 400);
	link_is(&around, &node_of(&around, 0, 0)->before[0], 1, 0, EDGE_wake, 400);
	link_is(&around, &node_of(&around, 1, 0)->after[0], 0, 0, EDGE_wake, 400);
	close_all(graph, &around);
}

/* -- any graph ------------------------------------------------------------------------------------------ */

#define TASKS 5

static u32 below(u32 *random, u32 limit)
{
	*random = *random * 1664525u + 1013904223u;
	return (u32)((u64)(*random >> 8) * limit >> 24);
}

static bool has_edge(const struct graph *graph, const struct graph_op *op, u32 task, u32 index)
{
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next)
		if (graph->edges[e].task == task && graph->edges[e].index == index)
			return true;
	return false;
}

/* Waits for one of the last operations of another task, if it does not yet. */
static void wait_for_any(struct graph *graph, u32 task, struct graph_op *op, u32 *random)
{
	u32 other = (task + 1 + below(random, TASKS - 1)) % TASKS, count = graph->tasks[other].op_count, index;

	if (!count)
		return;
	index = count - 1 - below(random, count < 9 ? count : 9);
	if (!has_edge(graph, op, other, index))
		assert_int_equal(graph_edge_add(graph, other, index, op, (enum edge_cause)below(random, EDGE_CAUSE_COUNT)), 0);
}

/*
 * Operations in the order of time, of which each may wait for earlier ones of other tasks. Some of the first third signal a
 * latch, for which some of the others wait.
 */
static struct graph *any(u32 ops, u32 *random)
{
	struct graph *graph = begin(TASKS);
	u32 latch, edges, i;

	assert_int_equal(graph_latch_add(graph, 0, &latch), 0);
	for (i = 0; i < ops; i++) {
		u32 task = below(random, TASKS);
		struct graph_op *op = graph_op_add(graph, task);

		op->kind = below(random, 3) ? IOT_KIND_read : IOT_PLAY_wait;
		op->flags = op->kind == IOT_PLAY_wait ? WAIT_WOKEN : 0;
		op->enter_ns = 1000 + 100 * i;
		op->end_ns = op->enter_ns + (op->kind == IOT_KIND_read) * below(random, 100);
		op->edges = GRAPH_NONE;
		if (i < ops / 3 && !below(random, 20)) {
			op->kind = IOT_PLAY_signal;
			op->latch = 1;
		}
		for (edges = below(random, 4) ? 0 : 1 + below(random, 3); edges; edges--)
			wait_for_any(graph, task, op, random);
		if (i > ops / 3 && !below(random, 20))
			assert_int_equal(graph_edge_add(graph, GRAPH_NONE, latch, op, EDGE_mpi), 0);
	}
	return graph;
}

/* The number of links to a node, in one direction. */
static u32 links_to(const struct around_link *links, u32 count, u32 node, u32 cause, u64 waited_ns)
{
	u32 i, found = 0;

	for (i = 0; i < count; i++)
		found += links[i].node == node && links[i].cause == cause && links[i].waited_ns == waited_ns;
	return found;
}

/* Signals of other tasks. */
static u32 signals_for(const struct graph *graph, u32 waiter)
{
	u32 task, i, count = 0;

	for (task = 0; task < graph->task_count; task++)
		for (i = 0; i < graph->tasks[task].op_count; i++)
			count += task != waiter && graph->tasks[task].ops[i].kind == IOT_PLAY_signal;
	return count;
}

/* Return: the number of predecessors of an operation in the graph. */
static u32 predecessors_of(const struct graph *graph, const struct around_node *node)
{
	u32 e, count = node->index > 0;

	for (e = graph->tasks[node->task].ops[node->index].edges; e != GRAPH_NONE; e = graph->edges[e].next)
		count += graph->edges[e].task == GRAPH_NONE ? signals_for(graph, node->task) : 1;
	return count;
}

/* Each of @links of node @index is at the other end, too, unless that one has too many. Return: the number of those seen. */
static u32 links_are_mutual(const struct around *around, u32 index, bool is_before)
{
	const struct around_node *node = &around->nodes[index];
	const struct around_link *links = is_before ? node->before : node->after;
	u32 k, count = is_before ? node->before_count : node->after_count, seen = 0;

	for (k = 0; k < count; k++) {
		const struct around_node *other = &around->nodes[links[k].node];
		const struct around_link *back = is_before ? other->after : other->before;
		u32 back_count = is_before ? other->after_count : other->before_count;

		if ((is_before ? other->after_all : other->before_all) > AROUND_LINKS_MAX)
			continue;
		seen++;
		assert_int_equal(links_to(back, back_count, index, links[k].cause, links[k].waited_ns), 1);
	}
	return seen;
}

static void each_link_is_there_in_both_directions(void **state)
{
	u32 random = 5, round, i, links = 0;

	(void)state;
	for (round = 0; round < 30; round++) {
		struct graph *graph = any(60, &random);
		struct around around;

		assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
		assert_int_equal(around.open, 60);
		for (i = 0; i < around.node_count; i++) {
			assert_int_equal(around.nodes[i].before_all, predecessors_of(graph, &around.nodes[i]));
			links += links_are_mutual(&around, i, true) + links_are_mutual(&around, i, false);
		}
		close_all(graph, &around);
	}
	assert_true(links > 2000);
}

static int compare_descending(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/* The waits of the graph, as graph_op_wait() would sum them up without pauses: from the end of the operation before. */
static u32 list_waits(const struct graph *graph, u64 *waits)
{
	u32 task, i, count = 0;

	for (task = 0; task < graph->task_count; task++) {
		const struct graph_task *t = &graph->tasks[task];
		u64 since_ns = 0;

		for (i = 0; i < t->op_count; i++) {
			if (t->ops[i].kind == IOT_PLAY_wait && t->ops[i].edges != GRAPH_NONE && t->ops[i].enter_ns > since_ns)
				waits[count++] = t->ops[i].enter_ns - since_ns;
			since_ns = t->ops[i].end_ns > since_ns ? t->ops[i].end_ns : since_ns;
		}
	}
	qsort(waits, count, sizeof(*waits), compare_descending);
	return count;
}

static void a_large_graph_is_kept_in_part(void **state)
{
	u64 *waits = calloc(20000, sizeof(*waits));
	u32 random = 9, i, k, count;
	struct graph *graph = any(20000, &random);
	struct around around;

	(void)state;
	assert_int_equal(around_make(&around, graph, 500), 0);
	count = list_waits(graph, waits);
	assert_int_equal(around.operations, 20000);
	assert_int_equal(around.waiting, count);
	assert_true(around.node_count <= 500 && around.node_count > 450);
	assert_true(around.open && around.open < around.node_count);
	assert_true(around.wait_count > 20 && around.wait_count <= AROUND_WAITS_MAX && around.path_count > 20);
	for (i = 0; i < around.wait_count; i++)
		assert_int_equal(around.nodes[around.waits[i]].waited_ns, waits[i]);
	for (i = 1; i < around.path_count; i++) {
		const struct around_node *a = &around.nodes[around.path[i - 1]], *b = &around.nodes[around.path[i]];

		assert_true(a->is_path && a->begin_ns + a->duration_ns <= b->begin_ns + b->duration_ns);
	}
	for (i = 0; i < around.node_count; i++)
		for (k = 0; k < around.nodes[i].before_count; k++)
			assert_true(around.nodes[i].before[k].node < around.node_count);
	free(waits);
	close_all(graph, &around);
}

/* The parts of the path add up to the time from the start of its first operation to the end of the last one. */
static void parts_of_the_path_add_up(void **state)
{
	u32 random = 11, round, i;

	(void)state;
	for (round = 0; round < 30; round++) {
		struct graph *graph = any(200, &random);
		struct around around;
		u64 first_ns = UINT64_MAX, last_ns = 0;

		assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
		assert_int_equal(around.open, 200);
		for (i = 0; i < around.node_count; i++) {
			const struct graph_op *op = &graph->tasks[around.nodes[i].task].ops[around.nodes[i].index];

			if (around.nodes[i].is_path && op->enter_ns < first_ns)
				first_ns = op->enter_ns;
			if (op->end_ns > last_ns)
				last_ns = op->end_ns;
		}
		assert_int_equal(around.path_op_ns + around.path_gap_ns + around.path_cross_ns, last_ns - first_ns);
		close_all(graph, &around);
	}
}

static void an_empty_graph_has_no_nodes(void **state)
{
	struct graph *graph = begin(2);
	struct around around;

	(void)state;
	assert_int_equal(around_make(&around, graph, AROUND_NODES_MAX), 0);
	assert_int_equal(around.node_count, 0);
	close_all(graph, &around);
}

SUITE("around",
      TEST(waits_are_for_the_last_rank)
      TEST(critical_path_crosses_to_the_last_rank)
      TEST(critical_path_has_the_time_of_a_request)
      TEST(a_wait_is_no_longer_than_its_operation)
      TEST(each_link_is_there_in_both_directions)
      TEST(a_large_graph_is_kept_in_part)
      TEST(parts_of_the_path_add_up)
      TEST(an_empty_graph_has_no_nodes))
