// SPDX-License-Identifier: GPL-2.0-only
/*
 * think.c - time between operations: compute, pause, and explained waits.
 *
 * Between two operations on files a task may fork, or be in MPI calls, so the time
 * between them is a row of gaps. The task's CPU time between the two operations is
 * known. A gap that ends with a wait is explained by it: the replay waits, too. The CPU time of a
 * task is assigned to the other gaps, as early as it fits. A task that was woken may have computed
 * before it waited: its CPU time up to then is known, and so is the time for which it was runnable, but other tasks
 * had the CPUs. The latter is a pause; the wait begins after both. Of each pause it is known for how long the
 * task waited for a CPU in it: a replay that computes on CPUs waits for them, too.
 *
 * A thread that exits wakes the one that joins it. Before that it may have slept until that one
 * asked it to end, which the trace does not show: its pause lasts only as long as the other one
 * waited for its end. MPI_Finalize ends and joins threads of the library: a task that slept in this
 * call before a join has slept for the other ranks or for the launcher, since these threads end as soon as they are asked to.
 *
 * Just before and just after a record the kernel walks to the file and makes the record. The recorder has measured
 * how long that takes (costs.h). It is not think time: a replay walks to the file itself, and does not record. A gap
 * that is shorter than that has no think time.
 *
 * Inside a waiting MPI call it spins, which is waiting: until the message was sent, or the last
 * has come. The rest of the call, to transfer data or to set up a library, is not a wait; it is
 * part of the gap that follows.
 */
#include <stdlib.h>

#include "analyse/graph/graph.h"
#include "costs.h"
#include "order_passes.h"

static bool is_explained(const struct graph_op *op)
{
	return op->kind == IOT_PLAY_wait && op->edges != GRAPH_NONE;
}

/* A wait of which it is known how long the task had run before it, too. */
static bool is_woken(const struct graph_op *op)
{
	return is_explained(op) && op->flags == WAIT_WOKEN;
}

static bool is_before_exit(const struct graph_task *t, u32 nop)
{
	u32 i = nop + 1;

	while (i < t->op_count && graph_is_wake(&t->ops[i]))
		i++;
	return i < t->op_count && t->ops[i].kind == IOT_KIND_exit;
}

/* A wait for the end of a thread, within an MPI call. */
static bool is_join_in_call(const struct graph *graph, const struct graph_op *op, u64 call_end_ns)
{
	const struct graph_edge *edge = &graph->edges[op->edges];

	return op->end_ns < call_end_ns && edge->task != GRAPH_NONE &&
	       is_before_exit(&graph->tasks[edge->task], edge->index);
}

/**
 * graph_op_free_ns() - the time from which a task runs on its own again, after an operation and its waits
 * @graph: of the operation
 * @op: the operation
 * @opened_ns: of the latches
 *
 * Return: the end of the operation; for a wait in an MPI call, the end of the wait. The wait for a
 * lock that the task did not get is a pause of the task, because the signal that ended it is in no
 * trace: the result is the start of the operation then.
 */
u64 graph_op_free_ns(const struct graph *graph, const struct graph_op *op, const u64 *opened_ns)
{
	u64 ns = 0;
	u32 e;

	if (op->kind == IOT_KIND_lock && iot_is_wait_in_vain(op->flags, op->result))
		return op->enter_ns;
	if (!is_explained(op) || op->flags != WAIT_MPI)
		return op->end_ns;
	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		u64 end_ns = graph_edge_ends(graph, &graph->edges[e], opened_ns);

		if (end_ns > ns)
			ns = end_ns;
	}
	return ns < op->end_ns ? ns : op->end_ns;
}

/* But for waits for the collector, which are none of the program's. */
static u64 gap_before(const struct graph_task *t, const struct graph_op *op, u64 since_ns)
{
	if (op->enter_ns <= since_ns)
		return 0;
	return op->enter_ns - since_ns - graph_backpressure_ns(t, since_ns, op->enter_ns);
}

/* The context of the computation of think times. */
struct thinking {
	struct graph *graph;
	u64 *opened_ns; /* when the last arrived at each latch */
	u64 call_end_ns; /* of the last MPI call in which the current task waited */
	struct costs costs;
};

static void cut(struct thinking *k, struct graph_op *op, u64 gap_ns, u32 cost_ns)
{
	u64 left_ns = gap_ns - op->recorder_ns;

	if (cost_ns > left_ns) {
		k->graph->recorder_cut++;
		cost_ns = (u32)left_ns;
	}
	op->recorder_ns += cost_ns;
	k->graph->recorder_ns += cost_ns;
}

/*
 * Subtracts the cost of recording from a row of gaps: the cost after operation @first - 1 from the first, the cost before
 * @last off the last one. A task that has just begun, or wakes up, returns from no record. Return: the cost.
 */
static u64 take_costs(struct thinking *k, struct graph_task *t, u32 first, u32 last, u64 since_ns)
{
	struct graph_op *begin = &t->ops[first], *end = &t->ops[last];
	u64 cost_ns;

	if (first && graph_is_io(begin - 1))
		cut(k, begin, gap_before(t, begin, since_ns), costs_after_ns(&k->costs, begin - 1));
	if (first < last && end[-1].end_ns > since_ns)
		since_ns = end[-1].end_ns;
	if (graph_is_io(end))
		cut(k, end, gap_before(t, end, since_ns), costs_before_ns(&k->costs, end));
	cost_ns = begin->recorder_ns;
	return first < last ? cost_ns + end->recorder_ns : cost_ns;
}

static u64 lesser(u64 x, u64 y)
{
	return x < y ? x : y;
}

/**
 * struct spent - time of a task in consecutive gaps, apart from sleep
 * @run_ns: time on a CPU
 * @delay_ns: of gaps that end with a wait out of which the task was woken: time of waits for a CPU; 0 if unknown
 * @cpu_wait_ns: time of waits for a CPU, if it is at least as long as the recorder states
 */
struct spent {
	u64 run_ns;
	u64 delay_ns;
	u64 cpu_wait_ns;
};

static u64 mpi_waits_ns(const struct thinking *k, const struct graph_task *t, u32 first, u32 last, u64 since_ns)
{
	u64 sum_ns = 0;
	u32 i;

	for (i = first; i <= last; i++) {
		const struct graph_op *op = &t->ops[i];
		u64 ns = graph_op_free_ns(k->graph, op, k->opened_ns);

		if (ns <= since_ns)
			continue;
		if (is_explained(op) && op->flags == WAIT_MPI)
			sum_ns += ns - since_ns;
		since_ns = ns;
	}
	return sum_ns;
}

/* The share of a task that polls is that of the whole time in which it ran or waited for a CPU. */
static u64 polled_ns(const struct spent *spent, u64 waits_ns)
{
	u64 both_ns = spent->run_ns + spent->cpu_wait_ns;

	return both_ns <= waits_ns ? spent->run_ns : (u64)((double)spent->run_ns / (double)both_ns * (double)waits_ns);
}

/*
 * Subtracts the time that the task spent in waits of MPI calls. A library that polls runs for all of that time, or waits
 * for a CPU. If the sum of both is known, and is less than half of that time, the library has slept, as MPI_Finalize of
 * Open MPI does: then the task spent it in the gaps.
 */
static void take_polling(struct spent *spent, u64 waits_ns)
{
	u64 ran_ns = polled_ns(spent, waits_ns);

	if (spent->delay_ns && spent->run_ns + spent->delay_ns < waits_ns / 2)
		return;
	spent->run_ns -= ran_ns;
	spent->delay_ns -= lesser(waits_ns - ran_ns, spent->delay_ns);
	spent->cpu_wait_ns -= lesser(waits_ns - ran_ns, spent->cpu_wait_ns);
}

/* Operations @first to @last are a row of gaps. */
static void share(struct thinking *k, struct graph_task *t, u32 first, u32 last, u64 since_ns, struct spent spent)
{
	u64 cost_ns = take_costs(k, t, first, last, since_ns);
	u32 i;

	spent.run_ns -= lesser(cost_ns, spent.run_ns);
	take_polling(&spent, mpi_waits_ns(k, t, first, last, since_ns));
	for (i = first; i <= last; i++) {
		struct graph_op *op = &t->ops[i];
		u64 ns = graph_op_free_ns(k->graph, op, k->opened_ns);
		u64 gap_ns = gap_before(t, op, since_ns);

		gap_ns -= lesser(op->recorder_ns, gap_ns);
		if (is_explained(op) && op->flags == WAIT_MPI)
			k->call_end_ns = k->graph->mpi[op->event - 1].end_ns;
		if (!is_explained(op) || is_woken(op)) {
			op->compute_ns = lesser(spent.run_ns, gap_ns);
			op->pause_ns = gap_ns - op->compute_ns;
			if (is_woken(op) && !is_join_in_call(k->graph, op, k->call_end_ns))
				op->pause_ns = lesser(spent.delay_ns, op->pause_ns);
			op->cpu_wait_ns = lesser(spent.cpu_wait_ns, op->pause_ns);
			spent.run_ns -= op->compute_ns;
			spent.delay_ns -= lesser(op->pause_ns, spent.delay_ns);
			spent.cpu_wait_ns -= op->cpu_wait_ns;
		}
		if (ns > since_ns)
			since_ns = ns;
	}
}

/* What a task spent after its last operation, if known. */
static struct spent spent_last(const struct graph_task *t, u32 first, u64 ran_ns, bool has_ran, u64 delayed_ns)
{
	struct spent spent = {};
	u32 i;

	for (i = first; i < t->op_count; i++) {
		const struct graph_op *op = &t->ops[i];

		if (op->kind != IOT_KIND_exit && op->kind != IOT_KIND_exec)
			continue;
		if (has_ran && op->runtime_ns > ran_ns)
			spent.run_ns = op->runtime_ns - ran_ns;
		spent.cpu_wait_ns = op->cpu_wait_ns - lesser(delayed_ns, op->cpu_wait_ns);
	}
	return spent;
}

static void think_of_task(struct thinking *k, struct graph_task *t)
{
	u64 since_ns = t->begin_ns, ran_ns = t->ran_ns, delayed_ns = 0;
	bool has_ran = ran_ns || t->why == IOT_REASON_fork; /* a new thread has run for no time yet */
	u32 first = 0, i;

	k->call_end_ns = 0;
	for (i = 0; i < t->op_count; i++) {
		const struct graph_op *op = &t->ops[i];
		struct spent spent = {};
		u64 gap_ns, free_ns = graph_op_free_ns(k->graph, op, k->opened_ns);

		if (!graph_is_io(op) && !is_woken(op))
			continue;
		gap_ns = gap_before(t, op, since_ns);
		if (has_ran && op->runtime_ns > ran_ns)
			spent.run_ns = op->runtime_ns - ran_ns;
		if (!has_ran && !is_woken(op)) /* unknown: time without a wait counts as compute */
			spent.run_ns = gap_ns;
		if (is_woken(op) && op->delay_ns > delayed_ns)
			spent.delay_ns = op->delay_ns - delayed_ns;
		spent.cpu_wait_ns = is_woken(op) ? spent.delay_ns : op->cpu_wait_ns - lesser(delayed_ns, op->cpu_wait_ns);
		share(k, t, first, i, since_ns, spent);
		delayed_ns = is_woken(op) ? delayed_ns + spent.delay_ns : 0;
		first = i + 1;
		if (free_ns > since_ns) {
			since_ns = free_ns;
			ran_ns = op->runtime_ns + op->oncpu_ns;
			has_ran = true;
		}
	}
	if (first < t->op_count)
		share(k, t, first, t->op_count - 1, since_ns, spent_last(t, first, ran_ns, has_ran, delayed_ns));
}

/* How long a task slept before it was woken: it computes and waits for a CPU first, and then sleeps. */
static u64 slept_ns(const struct thinking *k, const struct graph_task *t, u32 wait)
{
	const struct graph_op *op = &t->ops[wait];
	u64 since_ns = wait ? graph_op_free_ns(k->graph, op - 1, k->opened_ns) : t->begin_ns;
	u64 gap_ns = gap_before(t, op, since_ns);

	return gap_ns - lesser(op->compute_ns + op->pause_ns, gap_ns);
}

static void limit_pauses_before_exit(const struct thinking *k)
{
	struct graph *graph = k->graph;
	u32 i;

	for (i = 0; i < graph->wake_count; i++) {
		const struct graph_wake *wake = &graph->wakes[i];
		struct graph_op *nop;
		u64 ns;

		if (wake->nop == GRAPH_NONE || wake->wait == GRAPH_NONE ||
		    !is_before_exit(&graph->tasks[wake->task], wake->nop))
			continue;
		nop = &graph->tasks[wake->task].ops[wake->nop];
		ns = slept_ns(k, &graph->tasks[wake->woken], wake->wait);
		if (nop->pause_ns > ns)
			nop->pause_ns = ns;
		if (nop->cpu_wait_ns > nop->pause_ns)
			nop->cpu_wait_ns = nop->pause_ns;
	}
}

/**
 * graph_pass_think() - think time of each operation
 * @graph: with the edges of life.c and mpi.c
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_think(struct graph *graph)
{
	struct thinking k = { .graph = graph, .opened_ns = graph_latches_opened(graph) };
	u32 i;

	if (!k.opened_ns)
		return -ENOMEM;
	costs_read(&k.costs, graph_fact(graph, IOT_FACT_COSTS));
	for (i = 0; i < graph->task_count; i++)
		if (graph->tasks[i].queue_of == GRAPH_NONE) /* a request queue does not think */
			think_of_task(&k, &graph->tasks[i]);
	limit_pauses_before_exit(&k);
	free(k.opened_ns);
	return graph_sum_asleep(graph);
}
