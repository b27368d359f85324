// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify_order.c - do the tasks of a program end, or wait for each other for ever?
 */
#include "order.h"
#include "verify.h"

/*
 * A dry run: tasks run their operations as far as they can; a task that must wait is
 * resumed when its wait holds, and then continues with its next wait. A task that still
 * waits when no task can run is part of a circle, or waits for one, perhaps for itself.
 *
 * A task sleeps at most once on each wait, whatever the program: tasks that wait for a task
 * are in a heap by the operation they wait for. It is a pairing heap: a tree in which no node
 * waits for a later operation than its children do, a node's children being a list.
 *
 * Links between tasks are their indices + 1, and 0 at the end.
 */
struct dry_run {
	const struct verifier *v;
	struct iot_order order;
	u32 *holding;	   /* of each task, waits of its next operation that are known to hold */
	u32 *awaited;	   /* of a task that waits for a task, the operation it waits for */
	u32 *task_waiters; /* of each task, top of the heap of the tasks that wait for it */
	u32 *latch_waiters;  /* of each latch, first on the list of the tasks that wait for it */
	u32 *child;	   /* of a task in a heap, its first child */
	u32 *sibling;	   /* the next child of the same parent, or the next on the list */
	u32 *ready;	   /* stack */
	u32 ready_count;
	u32 ended;
};

#define DRY_RUN_TASK_ARRAYS 7 /* progress is one of them */
#define DRY_RUN_LATCH_ARRAYS  2

static u32 heap_merge(struct dry_run *run, u32 a, u32 b)
{
	u32 top = run->awaited[a - 1] <= run->awaited[b - 1] ? a : b, below = top == a ? b : a;

	run->sibling[below - 1] = run->child[top - 1];
	run->child[top - 1] = below;
	return top;
}

/* Return: the heap without its top: its children, merged in pairs, and the pairs into one. */
static u32 heap_rest(struct dry_run *run, u32 top)
{
	u32 left = run->child[top - 1], pairs = 0, rest = 0;

	while (left) {
		u32 first = left, second = run->sibling[first - 1];

		left = second ? run->sibling[second - 1] : 0;
		if (second)
			first = heap_merge(run, first, second);
		run->sibling[first - 1] = pairs;
		pairs = first;
	}
	while (pairs) {
		u32 next = run->sibling[pairs - 1];

		rest = rest ? heap_merge(run, rest, pairs) : pairs;
		pairs = next;
	}
	return rest;
}

/* A task has advanced: waits up to its progress hold. */
static void wake_task_waiters(struct dry_run *run, u32 task)
{
	u32 *top = &run->task_waiters[task];

	while (*top && run->awaited[*top - 1] < run->order.progress[task]) {
		run->ready[run->ready_count++] = *top - 1;
		*top = heap_rest(run, *top);
	}
}

static void wake_latch_waiters(struct dry_run *run, u32 latch)
{
	u32 waiter;

	for (waiter = run->latch_waiters[latch]; waiter; waiter = run->sibling[waiter - 1])
		run->ready[run->ready_count++] = waiter - 1;
}

static void sleep_on(struct dry_run *run, u32 task, const struct iot_program_wait *wait)
{
	u32 on = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (on == IOT_WAIT_LATCH) {
		run->sibling[task] = run->latch_waiters[index];
		run->latch_waiters[index] = task + 1;
		return;
	}
	run->awaited[task] = index;
	run->child[task] = 0;
	run->task_waiters[on] = run->task_waiters[on] ?
					heap_merge(run, run->task_waiters[on], task + 1) : task + 1;
}

static void dry_signal(struct dry_run *run, const struct iot_program_op *op)
{
	u32 latch = le32_to_cpu(op->latch);

	if (le16_to_cpu(op->kind) == IOT_PLAY_signal && latch && --run->order.pending[latch - 1] == 0)
		wake_latch_waiters(run, latch - 1);
}

/* Return: the number, from 1, of the first wait of an operation that does not hold; 0 if all do. */
static u32 dry_blocker(struct dry_run *run, u32 index, const struct iot_program_op *op,
		       struct iot_program_wait *wait)
{
	const struct iot_program *program = run->v->program;
	u64 first = le64_to_cpu(program->tasks[index].first_wait) + le32_to_cpu(op->first_wait);
	u32 *holding = &run->holding[index];

	for (; *holding < le16_to_cpu(op->wait_count) && iot_order_is_strict(op); ++*holding) {
		*wait = *iot_program_wait_at(program, first + *holding, wait);
		if (!iot_order_holds(&run->order, wait))
			return *holding + 1;
	}
	*holding = 0;
	return 0;
}

static int dry_task(struct dry_run *run, u32 index)
{
	const struct iot_program *program = run->v->program;
	const struct iot_program_task *task = &program->tasks[index];
	u32 *progress = &run->order.progress[index], blocker = 0;
	const struct iot_program_op *op;
	struct iot_program_wait wait;
	struct iot_program_op room;
	int err = iot_verify_pause(run->v);

	for (; *progress < le32_to_cpu(task->op_count) && !err; ++*progress) {
		op = iot_program_op_at(program, le64_to_cpu(task->first_op) + *progress, &room);
		blocker = dry_blocker(run, index, op, &wait);
		if (blocker)
			break;
		dry_signal(run, op);
		if (*progress % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(run->v);
	}
	wake_task_waiters(run, index);
	if (blocker)
		sleep_on(run, index, &wait);
	else if (!err)
		run->ended++;
	return err;
}

static u32 *take(u32 **scratch, u32 count)
{
	u32 *numbers = *scratch;

	*scratch += count;
	return numbers;
}

static int check_order(const struct verifier *v, u32 *scratch)
{
	const struct iot_program *program = v->program;
	u32 tasks = program->task_count, latches = program->latch_count, i;
	u32 *progress = scratch, *pending = scratch + tasks;
	struct dry_run run = { .v = v };
	int err = 0;

	memset(scratch, 0, iot_program_scratch_count(program) * sizeof(*scratch));
	iot_order_init(&run.order, program, progress, 1, pending);
	scratch += tasks + latches;
	run.latch_waiters = take(&scratch, latches);
	run.task_waiters = take(&scratch, tasks);
	run.holding = take(&scratch, tasks);
	run.awaited = take(&scratch, tasks);
	run.child = take(&scratch, tasks);
	run.sibling = take(&scratch, tasks);
	run.ready = take(&scratch, tasks);
	for (i = 0; i < tasks; i++)
		run.ready[run.ready_count++] = tasks - 1 - i;
	while (run.ready_count && !err)
		err = dry_task(&run, run.ready[--run.ready_count]);
	if (err || run.ended == tasks)
		return err;
	for (i = 0; progress[i] == le32_to_cpu(program->tasks[i].op_count); i++)
		;
	return iot_verify_refuse(v, IOT_REJECT_cycle, IOT_SECTION_OPS,
			 le64_to_cpu(program->tasks[i].first_op) + progress[i]);
}

/* Each latch gets exactly as many signals as it states. */
static int check_latches(const struct verifier *v, u32 *signals)
{
	const struct iot_program *program = v->program;
	const struct iot_program_op *op;
	struct iot_program_op room;
	u32 latch;
	int err = 0;
	u64 i;

	memset(signals, 0, program->latch_count * sizeof(*signals));
	for (i = 0; i < program->op_count && !err; i++) {
		op = iot_program_op_at(program, i, &room);
		latch = le16_to_cpu(op->kind) == IOT_PLAY_signal ? le32_to_cpu(op->latch) : 0;
		if (latch && signals[latch - 1]++ == le32_to_cpu(program->latches[latch - 1].signals))
			return iot_verify_refuse(v, IOT_REJECT_latch, IOT_SECTION_LATCHES, latch - 1);
		if (i % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(v);
	}
	for (i = 0; i < program->latch_count && !err; i++)
		if (program->latches[i].reserved || !signals[i] ||
		    signals[i] != le32_to_cpu(program->latches[i].signals))
			err = iot_verify_refuse(v, IOT_REJECT_latch, IOT_SECTION_LATCHES, i);
	return err;
}

/**
 * iot_program_scratch_count() - how many numbers iot_program_verify() needs room for
 * @program: open
 */
u64 iot_program_scratch_count(const struct iot_program *program)
{
	return DRY_RUN_TASK_ARRAYS * (u64)program->task_count +
	       DRY_RUN_LATCH_ARRAYS * (u64)program->latch_count;
}

/**
 * iot_verify_order() - can the program run to its end?
 * @v: the work; operations, waits and tasks have been verified
 * @scratch: room for iot_program_scratch_count() numbers
 *
 * Return: 0 or a refusal.
 */
int iot_verify_order(const struct verifier *v, u32 *scratch)
{
	int err = check_latches(v, scratch);

	return err ? err : check_order(v, scratch);
}
