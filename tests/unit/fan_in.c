// SPDX-License-Identifier: GPL-2.0-only
/*
 * fan_in.c - a wait for a latch has the same meaning as the single waits that it replaces, and there are few edges.
 *
 * Random operations use one resource. A simple algorithm computes what each has waited for, directly or
 * indirectly, with latches and without.
 */
#include "analyse/order/tracker.h"
#include "analyse/graph/causal.h"

#include <stdlib.h>

#include "suite.h"
#include "analyse/order/order_passes.h"

#define TASKS  9
#define OPS    24
#define ROUNDS 8 /* the operations of a round use the resource in the same way, with few exceptions */
#define GRAPHS 400
#define NEVER  1000000

/* For each operation, the number of operations of each task that had certainly ended when it started. */
struct history {
	const struct graph *graph;
	u32 known[TASKS][OPS][TASKS];
	u32 now[TASKS][TASKS]; /* for each task, the current numbers */
	u32 done[TASKS];
	u32 (*latches)[TASKS];
	u32 (*after)[TASKS]; /* for each operation of the graph, including signals */
	u32 first[TASKS];    /* index of the first operation of each task */
};

static u32 below(u64 *random, u32 limit)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)((*random >> 33) % limit);
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
	u32 *known = h->now[task], e;

	for (e = op->edges; e != GRAPH_NONE; e = h->graph->edges[e].next) {
		const struct graph_edge *edge = &h->graph->edges[e];

		merge(known, edge->task == GRAPH_NONE ? h->latches[edge->index] :
							h->after[h->first[edge->task] + edge->index]);
	}
	if (op->kind == IOT_PLAY_signal) {
		merge(h->latches[op->handle - 1], known);
	} else {
		memcpy(h->known[task][h->done[task]], known, sizeof(h->known[0][0]));
		known[task] = ++h->done[task];
	}
	memcpy(h->after[h->first[task] + index], known, sizeof(h->after[0]));
	return 0;
}

static void find_history(struct history *h, struct graph *graph)
{
	u32 ops = 0, i;

	*h = (struct history){ .graph = graph };
	for (i = 0; i < TASKS; i++) {
		h->first[i] = ops;
		ops += graph->tasks[i].op_count;
	}
	h->after = calloc(ops, sizeof(*h->after));
	h->latches = calloc(graph->latch_count + 1ul, sizeof(*h->latches));
	assert_true(h->after && h->latches);
	assert_int_equal(causal_traverse(graph, visit, h), 0);
	for (i = 0; i < TASKS; i++)
		assert_int_equal(h->done[i], OPS);
	free(h->after);
	free(h->latches);
}

/*
 * Each takes less than @length_ns. Some end after others that began up to @late_ns later, like operations that had
 * to wait for others.
 */
static struct graph *make_graph(u64 random, u32 fan_in_min, u32 length_ns, u32 late_ns)
{
	static const enum use uses[] = { USE_LOOK, USE_CHANGE, USE_CHANGE, USE_EXCLUSIVE };
	struct tracker resource = {};
	struct waiter waiter;
	u64 free_ns[TASKS] = {}, now_ns = 10;
	struct graph *graph;
	u32 i, task;

	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(waiter_open(&waiter, graph), 0);
	graph->fan_in_min = fan_in_min;
	for (i = 0; i < TASKS; i++)
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
	for (i = 0; i < TASKS * OPS;) {
		enum use use = i / (TASKS * OPS / ROUNDS) % 2 ? USE_LOOK : USE_CHANGE;
		struct graph_op *op;

		task = below(&random, TASKS);
		now_ns++;
		if (free_ns[task] >= now_ns || graph->tasks[task].op_count == OPS)
			continue;
		op = graph_op_add(graph, task);
		op->kind = IOT_KIND_stat;
		op->enter_ns = now_ns - below(&random, late_ns + 1);
		if (op->enter_ns <= free_ns[task])
			op->enter_ns = now_ns;
		op->end_ns = free_ns[task] = op->enter_ns + below(&random, length_ns);
		waiter.task = task;
		waiter.index = waiter.target = graph->tasks[task].op_count - 1;
		waiter.enter_ns = op->enter_ns;
		if (!below(&random, 20))
			use = uses[below(&random, ARRAY_SIZE(uses))];
		assert_int_equal(tracker_use(&waiter, &resource, use, EDGE_size), 0);
		i++;
	}
	tracker_exit(&resource);
	waiter_close(&waiter);
	assert_int_equal(graph_pass_fan_in(graph), 0);
	return graph;
}

/* An operation waits only for operations that had ended when it began; @graph: without latches. */
static void assert_true_history(const struct history *h, const struct graph *graph)
{
	u32 task, index, other, known;

	for (task = 0; task < TASKS; task++)
		for (index = 0; index < OPS; index++)
			for (other = 0; other < TASKS; other++) {
				known = h->known[task][index][other];
				assert_true(!known || graph->tasks[other].ops[known - 1].end_ns <
							      graph->tasks[task].ops[index].enter_ns);
			}
}

static void assert_no_less(const struct history *h, const struct history *than)
{
	const u32 *known = h->known[0][0], *least = than->known[0][0];
	u32 i;

	for (i = 0; i < TASKS * OPS * TASKS; i++)
		assert_true(known[i] >= least[i]);
}

/* Return: number of operations that wait for latches. */
static u32 count_waits(const struct graph *graph)
{
	u32 count = 0, i, j, e;

	for (i = 0; i < TASKS; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			for (e = graph->tasks[i].ops[j].edges; e != GRAPH_NONE; e = graph->edges[e].next)
				count += graph->edges[e].task == GRAPH_NONE;
	return count;
}

/* Totals over all graphs: waits for latches before and after pruning. */
struct waits {
	u32 all;
	u32 left;
};

static void compare(u32 number, u32 late_ns, struct waits *waits)
{
	static struct history one_by_one, by_latches, pruned;
	u32 length_ns = number % 4 ? 1 + number % 20 : 1;
	struct graph *without = make_graph(number, NEVER, length_ns, late_ns);
	struct graph *with = make_graph(number, 2 + number % 3, length_ns, late_ns);

	find_history(&one_by_one, without);
	find_history(&by_latches, with);
	assert_int_equal(without->latch_count, 0);
	assert_true_history(&by_latches, without);
	if (late_ns) /* a task that is not counted, because others are, may have signalled the latch */
		assert_no_less(&by_latches, &one_by_one);
	else
		assert_memory_equal(one_by_one.known, by_latches.known, sizeof(by_latches.known));
	waits->all += count_waits(with);
	assert_int_equal(graph_pass_prune(with), 0);
	waits->left += count_waits(with);
	find_history(&pruned, with);
	assert_memory_equal(by_latches.known, pruned.known, sizeof(pruned.known));
	graph_close(without);
	graph_close(with);
}

static void compare_all(u32 late_ns)
{
	struct waits waits = {};
	u32 i;

	for (i = 0; i < GRAPHS; i++)
		compare(i, late_ns, &waits);
	assert_true(waits.left > GRAPHS);
	assert_true(waits.all > waits.left + GRAPHS);
}

static void latch_implies_the_order_of_its_edges(void **state)
{
	(void)state;
	compare_all(0);
}

static void latch_implies_no_other_order(void **state)
{
	(void)state;
	compare_all(3);
}

/* All tasks query the size of a file, then all extend it, and so on. */
static void edges_grow_with_the_tasks(void **state)
{
	const u32 tasks = 1000, rounds = 4;
	struct tracker resource = {};
	struct waiter waiter;
	struct graph *graph;
	u32 round, i, task;

	(void)state;
	assert_int_equal(graph_open(&graph), 0);
	assert_int_equal(waiter_open(&waiter, graph), 0);
	for (i = 0; i < tasks; i++)
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < tasks; i++) {
			struct graph_op *op = graph_op_add(graph, i);

			op->enter_ns = round * tasks + i + 1;
			op->end_ns = op->enter_ns;
			waiter.task = i;
			waiter.index = waiter.target = round;
			waiter.enter_ns = op->enter_ns;
			assert_int_equal(tracker_use(&waiter, &resource, round % 2 ? USE_CHANGE : USE_LOOK,
						      EDGE_size), 0);
		}
	assert_int_equal(graph->latch_count, rounds - 1);
	assert_int_equal(graph->signal_count, tasks * (rounds - 1));
	assert_true(graph->edge_count < 20 * tasks * (rounds - 1));
	tracker_exit(&resource);
	waiter_close(&waiter);
	graph_close(graph);
}

SUITE("fan_in", TEST(latch_implies_the_order_of_its_edges) TEST(latch_implies_no_other_order) TEST(edges_grow_with_the_tasks))
