// SPDX-License-Identifier: GPL-2.0-only
/*
 * times.c - the time of each process of a trace, by part.
 */
#include "times.h"

#include <stdlib.h>
#include <uthash.h>

static int rank_of(const struct graph *graph, u32 tgid)
{
	u32 i;

	for (i = 0; i < graph->rank_count; i++)
		if (graph->ranks[i].tgid == tgid)
			return (int)graph->ranks[i].world_rank;
	return -1;
}

static u64 after(u64 ns, u64 since_ns)
{
	return ns > since_ns ? ns - since_ns : 0;
}

/* Until when an operation waited for others: until the last of those that it waits for had ended. */
static u64 waited_until(const struct graph *graph, const struct graph_op *op, const u64 *opened_ns)
{
	u64 until_ns = 0;
	u32 e;

	for (e = op->edges; e != GRAPH_NONE; e = graph->edges[e].next) {
		u64 end_ns = graph_edge_ends(graph, &graph->edges[e], opened_ns);

		if (end_ns > until_ns)
			until_ns = end_ns;
	}
	return until_ns < op->end_ns ? until_ns : op->end_ns;
}

/**
 * graph_op_wait() - the time that an operation waited for others in the trace
 * @graph: after all passes
 * @op: the operation
 * @since_ns: from when its task ran on its own: graph_op_free_ns() of the operations before, or the beginning of the task
 * @opened_ns: of graph_latches_opened()
 *
 * Only waits and locks wait. An operation with another edge began after the operation of the edge had ended, whether or not
 * it would have begun earlier.
 *
 * Return: the time, which is empty if it did not wait.
 */
struct op_wait graph_op_wait(const struct graph *graph, const struct graph_op *op, u64 since_ns, const u64 *opened_ns)
{
	struct op_wait wait = { since_ns > op->enter_ns ? since_ns : op->enter_ns, 0 };

	if (op->kind == IOT_PLAY_wait && op->edges != GRAPH_NONE) {
		wait.begin_ns = since_ns;
		wait.end_ns = graph_op_free_ns(graph, op, opened_ns);
		if (op->flags != WAIT_MPI) {
			wait.begin_ns += op->compute_ns + op->pause_ns + op->recorder_ns;
			wait.end_ns = op->enter_ns;
		}
	} else if (op->kind == IOT_KIND_lock && !iot_is_wait_in_vain(op->flags, op->result)) {
		wait.end_ns = waited_until(graph, op, opened_ns);
	}
	if (wait.end_ns < wait.begin_ns)
		wait.end_ns = wait.begin_ns;
	return wait;
}

/* The gap before an operation; think.c has explained its parts up to the wait. */
static void add_gap(struct process_times *p, const struct graph_op *op, u64 since_ns, const struct op_wait *wait)
{
	p->compute_ns += op->compute_ns;
	p->unexplained_ns += op->pause_ns;
	p->io_ns += op->recorder_ns;
	if (op->kind == IOT_PLAY_nop && op->flags == NOP_WAKE) /* think.c may have shortened the pause */
		p->wait_ns += after(op->enter_ns, since_ns + op->compute_ns + op->pause_ns + op->recorder_ns);
	if (op->kind == IOT_PLAY_wait && op->flags == WAIT_MPI)
		p->mpi_ns += wait->end_ns - wait->begin_ns;
	else
		p->wait_ns += wait->end_ns - wait->begin_ns;
}

/* Waits for locks are not I/O. */
static void add_op(struct process_times *p, const struct graph_op *op, u64 since_ns, const struct op_wait *wait)
{
	u64 begin_ns = op->enter_ns < since_ns ? since_ns : op->enter_ns;

	if (op->kind == IOT_KIND_lock) {
		if (iot_is_wait_in_vain(op->flags, op->result))
			return; /* a pause, which think.c counts */
		begin_ns = wait->end_ns;
	}
	p->io_ns += after(op->end_ns, begin_ns);
}

/* The time of the last MPI call after its wait is in no gap: it remains unexplained. */
static void add_task(struct process_times *p, const struct graph *graph,
		     const struct graph_task *t, const u64 *opened_ns)
{
	u64 since_ns = t->begin_ns, end_ns = t->begin_ns;
	u32 i;

	for (i = 0; i < t->op_count; i++) {
		const struct graph_op *op = &t->ops[i];
		u64 free_ns = graph_op_free_ns(graph, op, opened_ns);
		const struct op_wait wait = graph_op_wait(graph, op, since_ns, opened_ns);

		add_gap(p, op, since_ns, &wait);
		add_op(p, op, since_ns, &wait);
		if (free_ns > since_ns)
			since_ns = free_ns;
		if (op->end_ns > end_ns)
			end_ns = op->end_ns;
	}
	p->threads += t->why != IOT_REASON_exec || !p->threads; /* else the same thread as before */
	p->unexplained_ns += end_ns - since_ns;
	p->elapsed_ns += end_ns - t->begin_ns;
	if (t->command)
		p->command = t->command;
}

/* The times of processes, by number. */
struct process_slot {
	UT_hash_handle hh;
	u32 pid;
	u32 index;
};

/* Return: NULL if out of memory. */
static struct process_times *process_of(struct process_slot **slots, struct process_times *times, u32 *count, u32 tgid)
{
	struct process_slot *slot;

	HASH_FIND(hh, *slots, &tgid, sizeof(tgid), slot);
	if (slot)
		return &times[slot->index];
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return NULL;
	slot->pid = tgid;
	slot->index = (*count)++;
	HASH_ADD(hh, *slots, pid, sizeof(slot->pid), slot);
	times[slot->index] = (struct process_times){ .pid = tgid, .command = "" };
	return &times[slot->index];
}

static void slots_free(struct process_slot *slots)
{
	struct process_slot *slot, *next;

	HASH_ITER (hh, slots, slot, next) {
		HASH_DEL(slots, slot);
		free(slot);
	}
}

static int add_tasks(const struct graph *graph, const u64 *opened_ns, struct process_times *times, u32 *count)
{
	struct process_slot *slots = NULL;
	struct process_times *process;
	int err = 0;
	u32 i;

	for (i = 0; i < graph->task_count && !err; i++) {
		const struct graph_task *t = &graph->tasks[i];

		if (!t->has_io || t->queue_of != GRAPH_NONE)
			continue;
		process = process_of(&slots, times, count, t->tgid);
		if (process)
			add_task(process, graph, t, opened_ns);
		else
			err = -ENOMEM;
	}
	slots_free(slots);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct process_times *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) :
				    (x->pid > y->pid) - (x->pid < y->pid);
}

/**
 * graph_times() - compute the time of each process, by part
 * @graph: after all passes
 * @times: out: an array that the caller frees, by rank and then by process
 * @count: out: its length
 *
 * Return: 0 or -ENOMEM.
 */
int graph_times(const struct graph *graph, struct process_times **times, u32 *count)
{
	u64 *opened_ns = graph_latches_opened(graph);
	int err = -ENOMEM;
	u32 i;

	*count = 0;
	*times = opened_ns ? calloc(graph->task_count + 1ul, sizeof(**times)) : NULL;
	if (*times)
		err = add_tasks(graph, opened_ns, *times, count);
	free(opened_ns);
	if (err) {
		free(*times);
		*times = NULL;
		return err;
	}
	for (i = 0; i < *count; i++)
		(*times)[i].rank = rank_of(graph, (*times)[i].pid);
	qsort(*times, *count, sizeof(**times), compare);
	return 0;
}
