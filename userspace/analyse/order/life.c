// SPDX-License-Identifier: GPL-2.0-only
/*
 * life.c - order by fork, exec and exit, and the tasks that share memory.
 */
#include <stdlib.h>
#include <uthash.h>

#include "analyse/graph/graph.h"
#include "order_passes.h"

/* A shorter pause counts as preemption, not as a wait. */
#define WAIT_MIN_NS 20000

/* A task matters if one that it made does. */
static void mark_makers(struct graph *graph)
{
	u32 i, task;

	for (i = 0; i < graph->task_count; i++) {
		if (!graph->tasks[i].has_io)
			continue;
		task = graph_task_find(graph, graph->tasks[i].parent);
		while (task != GRAPH_NONE && !graph->tasks[task].has_io) {
			graph->tasks[task].has_io = true;
			task = graph_task_find(graph, graph->tasks[task].parent);
		}
	}
}

/* It does, too, if it does something to files, or synchronizes with one that matters. */
static void mark_io(struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++) {
		struct graph_task *t = &graph->tasks[i];

		for (j = 0; j < t->op_count && !t->has_io; j++)
			t->has_io = graph_is_io(&t->ops[j]) || t->ops[j].kind == IOT_PLAY_signal;
	}
	do
		mark_makers(graph);
	while (graph_wakes_mark(graph));
	graph_wakes_drop(graph);
	graph_timeouts_match(graph);
}

/* The first task of a process, by its number. */
struct process {
	UT_hash_handle hh;
	u32 tgid;
	u32 task;
};

/*
 * A thread that was there before the recording shares the space of those of its process that were
 * there, too. Return: the first of them, the thread itself perhaps; GRAPH_NONE if out of memory.
 */
static u32 sharer_of(const struct graph *graph, struct process **processes, u32 task)
{
	u32 tgid = graph->tasks[task].tgid;
	struct process *process;

	if (graph->tasks[task].why != IOT_REASON_seen || !tgid)
		return task;
	HASH_FIND(hh, *processes, &tgid, sizeof(tgid), process);
	if (process)
		return process->task;
	process = calloc(1, sizeof(*process));
	if (!process)
		return GRAPH_NONE;
	process->tgid = tgid;
	process->task = task;
	HASH_ADD(hh, *processes, tgid, sizeof(process->tgid), process);
	return task;
}

static void processes_free(struct process *processes)
{
	struct process *process, *next;

	HASH_ITER (hh, processes, process, next) {
		HASH_DEL(processes, process);
		free(process);
	}
}

/*
 * A thread shares the address space of its creator, and a task after an exec has that of the task
 * before, because exec maps the program first. Other tasks have one of their own.
 */
static bool has_space_of(const struct graph_task *t, const struct graph_task *parent)
{
	return t->why == IOT_REASON_exec || (t->why == IOT_REASON_fork && parent->tgid == t->tgid);
}

static int number_spaces(struct graph *graph)
{
	struct process *processes = NULL;
	u32 i, parent, sharer;
	int err = 0;

	for (i = 0; i < graph->task_count && !err; i++) {
		struct graph_task *t = &graph->tasks[i];

		parent = graph_task_find(graph, t->parent);
		sharer = sharer_of(graph, &processes, i);
		err = sharer == GRAPH_NONE ? -ENOMEM : 0;
		if (parent != GRAPH_NONE && parent < i && has_space_of(t, &graph->tasks[parent]))
			t->space = graph->tasks[parent].space;
		else if (sharer < i)
			t->space = graph->tasks[sharer].space;
		else
			t->space = graph->space_count++;
	}
	processes_free(processes);
	return err;
}

static bool is_map_op(const struct graph_op *op)
{
	return op->kind >= IOT_KIND_map && op->kind <= IOT_KIND_madvise;
}

static void mark_maps(struct graph *graph)
{
	u32 i, j;

	for (i = 0; i < graph->task_count; i++)
		for (j = 0; j < graph->tasks[i].op_count; j++)
			graph->tasks[i].has_maps |= is_map_op(&graph->tasks[i].ops[j]);
}

/*
 * Whether the task was waiting when a child ended, between two operations (NULL: none). It was not
 * if it was in an operation, or if it used the CPU for the whole time between them, except for
 * waits for the collector. Before the first operation of a task this is unknown, if its thread ran
 * before the task began.
 */
static bool has_waited(const struct graph_task *t, u64 ended_ns, const struct graph_op *before,
		       const struct graph_op *after)
{
	u64 since_ns = before ? before->end_ns : t->begin_ns, gap_ns, run_ns;

	if (since_ns > ended_ns)
		return false;
	if (!after || (!before && t->why != IOT_REASON_fork))
		return true;
	gap_ns = after->enter_ns - since_ns - graph_backpressure_ns(t, since_ns, after->enter_ns);
	run_ns = after->runtime_ns - (before ? before->runtime_ns + before->oncpu_ns : 0);
	return run_ns < gap_ns && gap_ns - run_ns > WAIT_MIN_NS;
}

static bool is_wait(const struct graph_op *op, enum graph_wait_cause why)
{
	return op->kind == IOT_PLAY_wait && op->flags == why;
}

static bool is_awaited(const struct graph *graph, const struct graph_op *op)
{
	u32 child = graph_task_find(graph, op->event);

	return child != GRAPH_NONE && graph->tasks[child].has_io;
}

/*
 * The end of a request before another one: if the next thing that the task did was to submit
 * one, the last end before that was enough.
 */
static bool is_passed_over(const struct graph_task *t, u32 j, u32 next)
{
	return next < t->op_count && t->ops[next].kind == IOT_KIND_submit &&
	       is_wait(&t->ops[j + 1], WAIT_DONE);
}

static bool may_wait(const struct graph *graph, const struct graph_task *t, u32 j, u32 next)
{
	if (is_wait(&t->ops[j], WAIT_DONE))
		return !is_passed_over(t, j, next);
	return is_awaited(graph, &t->ops[j]);
}

/* Remove waits for children and requests that no task waited for. */
static void drop_idle_waits(struct graph *graph, struct graph_task *t)
{
	u32 j, last = GRAPH_NONE, next = 0, count = 0;

	for (j = 0; j < t->op_count; j++) {
		struct graph_op *op = &t->ops[j];

		if (next <= j) /* the first operation on files after this one, if there is one */
			for (next = j + 1; next < t->op_count && !graph_is_io(&t->ops[next]);)
				next++;
		if ((is_wait(op, WAIT_ENDED) || is_wait(op, WAIT_DONE)) &&
		    (!may_wait(graph, t, j, next) ||
		     !has_waited(t, op->enter_ns, last == GRAPH_NONE ? NULL : &t->ops[last],
				 next < t->op_count ? &t->ops[next] : NULL)))
			continue;
		t->ops[count] = *op;
		if (graph_is_io(op) && op->number) /* the others belong to the initial state of the task */
			last = count;
		count++;
	}
	t->op_count = count;
}

static bool is_before_end(const struct graph_op *op, const struct graph_op *end)
{
	return !graph_is_wake(op) && op->end_ns <= end->end_ns;
}

/*
 * A task ends with its exit. Records of the kernel's clean-up, such as closing files, come later and have an
 * order of their own, as do wake-ups after the exit. A task whose creation and end have the same time, as in a
 * log with coarse times, is not waited for: the wait may precede the creation.
 */
static int wait_for_end(struct graph *graph, struct graph_op *op)
{
	u32 child = graph_task_find(graph, op->event), count;
	const struct graph_task *t = &graph->tasks[child];

	if (t->begin_ns >= op->enter_ns)
		return 0;
	for (count = t->op_count; count && !is_before_end(&t->ops[count - 1], op);)
		count--;
	return count ? graph_edge_add(graph, child, count - 1, op, EDGE_life) : 0;
}

/* Only operations of the state dump come before it. Return: NULL if it has none. */
static struct graph_op *begin_of(const struct graph_task *t)
{
	u32 i;

	for (i = 0; i < t->op_count && !t->ops[i].number; i++)
		if (graph_is_begin(&t->ops[i]))
			return &t->ops[i];
	return NULL;
}

static int wait_for_making(struct graph *graph, u32 task, u32 j)
{
	u32 child = graph_task_find(graph, graph->tasks[task].ops[j].event);
	struct graph_op *op;

	if (child == GRAPH_NONE || !graph->tasks[child].has_io)
		return 0;
	op = begin_of(&graph->tasks[child]);
	return op ? graph_edge_add(graph, task, j, op, EDGE_life) : 0;
}

static int connect(struct graph *graph, u32 task)
{
	struct graph_task *t = &graph->tasks[task];
	u32 j;
	int err = 0;

	for (j = 0; j < t->op_count && !err; j++) {
		struct graph_op *op = &t->ops[j];

		if (op->kind == IOT_KIND_fork || op->kind == IOT_KIND_exec)
			err = wait_for_making(graph, task, j);
		else if (is_wait(op, WAIT_ENDED))
			err = wait_for_end(graph, op);
	}
	return err;
}

/*
 * The recorder's own process becomes the command by exec. Its time before that, or before the first operation that the exec
 * needs, is none of the program's: the run begins there.
 */
static void begin_with_command(struct graph_task *t)
{
	u32 j = 0;

	if (t->why != IOT_REASON_adopt || !t->exec_into)
		return;
	while (j < t->op_count && !t->ops[j].number && t->ops[j].kind != IOT_KIND_exec)
		j++; /* handles from before the recording */
	if (j < t->op_count && t->ops[j].enter_ns > t->begin_ns)
		t->begin_ns = t->ops[j].enter_ns;
}

/**
 * graph_pass_life() - edges of fork, exec and exit; address spaces; which tasks matter
 * @graph: sorted; the first pass, because it removes operations
 *
 * Return: 0 or -ENOMEM.
 */
int graph_pass_life(struct graph *graph)
{
	u32 i;
	int err;

	mark_io(graph);
	err = number_spaces(graph);
	mark_maps(graph);
	for (i = 0; i < graph->task_count; i++)
		begin_with_command(&graph->tasks[i]);
	for (i = 0; i < graph->task_count; i++)
		drop_idle_waits(graph, &graph->tasks[i]);
	for (i = 0; i < graph->task_count && !err; i++)
		if (graph->tasks[i].has_io)
			err = connect(graph, i);
	return err;
}
