// SPDX-License-Identifier: GPL-2.0-only
/*
 * wait_queues.c - waiting for tasks and latches, and waking the waiters.
 *
 * A waiter for a latch is in the latch's queue `opened`. A waiter for an operation of a task is in one of
 * the replay's queues `moved`, by task and operation, and is counted in the task's `waiters`. A task
 * that moves on stores its progress, then checks whether it has any waiters, and then whether the
 * queue of the operation that has just ended is empty. A waiter counts itself and joins the queue,
 * and then checks the progress. Each side has a full barrier between its stores and its check, so at
 * least one of the two sees the other.
 *
 * So a task without waiters moves on without a lock, as does a task with waiters until it has ended
 * the operation that they wait for; and only the waiters of that operation are looked at.
 */
#include <linux/hrtimer.h>
#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "replayfs.h"

#define QUEUES_MIN 64
#define QUEUES_MAX 65536

/* Consecutive operations of a task have different queues. */
static wait_queue_head_t *moved_queue(const struct rfs_replay *replay, u32 task, u32 index)
{
	return &replay->moved[(task * 0x9e3779b1u + index) & replay->moved_mask];
}

static wait_queue_head_t *queue_of(struct rfs_replay *replay, const struct iot_program_wait *wait)
{
	u32 task = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (task == IOT_WAIT_LATCH)
		return &replay->latches[index].opened;
	return moved_queue(replay, task, index);
}

/**
 * rfs_waits_init() - make the queues
 * @replay: tasks and latches are there, all zero
 *
 * Return: 0 or -ENOMEM.
 */
int rfs_waits_init(struct rfs_replay *replay)
{
	u32 count = clamp_t(u32, replay->program.task_count, QUEUES_MIN, QUEUES_MAX), i;

	count = roundup_pow_of_two(count);
	replay->moved = vzalloc(array_size(count, sizeof(*replay->moved)));
	if (!replay->moved)
		return -ENOMEM;
	replay->moved_mask = count - 1;
	for (i = 0; i < count; i++)
		init_waitqueue_head(&replay->moved[i]);
	for (i = 0; i < replay->program.latch_count; i++)
		init_waitqueue_head(&replay->latches[i].opened);
	return 0;
}

/**
 * rfs_waits_exit() - free the queues
 * @replay: no task waits
 */
void rfs_waits_exit(struct rfs_replay *replay)
{
	vfree(replay->moved);
	replay->moved = NULL;
}

static void count_waiter(struct rfs_replay *replay, const struct iot_program_wait *wait, int change)
{
	u32 task = le32_to_cpu(wait->task);

	if (task != IOT_WAIT_LATCH)
		atomic_add(change, &replay->tasks[task].waiters);
}

static bool is_over(const struct rfs_waiter *waiter)
{
	return iot_order_holds(&waiter->replay->order, waiter->wait) ||
	       rfs_is_cancelled(waiter->replay);
}

static int wake_sleeper(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	if (!is_over(container_of(entry, struct rfs_waiter, entry)))
		return 0;
	return autoremove_wake_function(entry, mode, flags, key);
}

/* Return: -ETIMEDOUT at a time on the monotonic clock, 0 is never; else 0. */
static int sleep_once(u64 until_ns)
{
	ktime_t expires = ns_to_ktime(min_t(u64, until_ns, KTIME_MAX));

	if (until_ns)
		return schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS) ? 0 : -ETIMEDOUT;
	schedule();
	return 0;
}

/**
 * rfs_wait_for() - sleep until a wait holds
 * @replay: started
 * @wait: a wait of its program, or one of the same form
 * @until_ns: when to stop waiting, on the monotonic clock; 0: never
 *
 * Return: 0 when it holds; -ETIMEDOUT; -EINTR; -ECANCELED.
 */
int rfs_wait_for(struct rfs_replay *replay, const struct iot_program_wait *wait, u64 until_ns)
{
	struct rfs_waiter waiter = { .replay = replay, .wait = wait };
	wait_queue_head_t *queue = queue_of(replay, wait);
	int err = 0;

	init_wait(&waiter.entry);
	waiter.entry.func = wake_sleeper;
	count_waiter(replay, wait, 1);
	while (!err) {
		prepare_to_wait(queue, &waiter.entry, TASK_INTERRUPTIBLE); /* with the barrier */
		if (is_over(&waiter))
			break;
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		err = sleep_once(until_ns);
	}
	finish_wait(queue, &waiter.entry);
	count_waiter(replay, wait, -1);
	return rfs_is_cancelled(replay) ? -ECANCELED : err;
}

static int call_waiter(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	struct rfs_waiter *waiter = container_of(entry, struct rfs_waiter, entry);

	if (!is_over(waiter))
		return 0;
	list_del_init(&entry->entry);
	count_waiter(waiter->replay, waiter->wait, -1);
	waiter->is_over(waiter);
	return 0;
}

/**
 * rfs_call_when() - have a function called when a wait holds, or the replay is cancelled
 * @waiter: its replay, wait and function are set; not in use; it stays where it is until then
 *
 * The function is called once, in any context.
 *
 * Return: false if the wait holds already, and the function is not going to be called.
 */
bool rfs_call_when(struct rfs_waiter *waiter)
{
	wait_queue_head_t *queue = queue_of(waiter->replay, waiter->wait);
	unsigned long flags;
	bool holds;

	init_waitqueue_func_entry(&waiter->entry, call_waiter);
	count_waiter(waiter->replay, waiter->wait, 1);
	spin_lock_irqsave(&queue->lock, flags);
	__add_wait_queue(queue, &waiter->entry);
	smp_mb(); /* see above */
	holds = is_over(waiter);
	if (holds)
		__remove_wait_queue(queue, &waiter->entry);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (!holds)
		return true; /* and by now the waiter may be waiting for something else */
	count_waiter(waiter->replay, waiter->wait, -1);
	return false;
}

/**
 * rfs_wake_moved() - the part of rfs_move_on() that is not inline: wake the tasks that wait for an operation
 * @replay: ready or started
 * @task: index of the task, some other task waits for it
 * @index: of the operation that has ended
 */
void rfs_wake_moved(struct rfs_replay *replay, u32 task, u32 index)
{
	wait_queue_head_t *queue = moved_queue(replay, task, index);

	if (waitqueue_active(queue))
		wake_up_all(queue);
}

/**
 * rfs_wake_passed() - wake the tasks that wait for a task of another node
 * @replay: ready or started
 * @task: its index; its progress has been stored
 * @from: operations of it that had ended before
 * @to: operations of it that have ended now
 */
void rfs_wake_passed(struct rfs_replay *replay, u32 task, u32 from, u32 to)
{
	wait_queue_head_t *queue;
	u32 i;

	smp_mb(); /* see above */
	if (!atomic_read(&replay->tasks[task].waiters))
		return;
	for (i = from; i < to && i - from <= replay->moved_mask; i++) { /* after so many operations, all queues are done */
		queue = moved_queue(replay, task, i);
		if (waitqueue_active(queue))
			wake_up_all(queue);
	}
}

/**
 * rfs_latch_signal() - count down a latch
 * @replay: ready or started
 * @latch: its index
 * @count: number of signals
 */
void rfs_latch_signal(struct rfs_replay *replay, u32 latch, u32 count)
{
	if (!atomic_sub_and_test(count, (atomic_t *)&replay->order.pending[latch]))
		return;
	smp_mb__after_atomic(); /* see above */
	if (waitqueue_active(&replay->latches[latch].opened))
		wake_up_all(&replay->latches[latch].opened);
}

/**
 * rfs_wake_all() - wake all waiters, because the replay is cancelled
 * @replay: loaded
 */
void rfs_wake_all(struct rfs_replay *replay)
{
	u32 i;

	for (i = 0; i <= replay->moved_mask; i++)
		wake_up_all(&replay->moved[i]);
	for (i = 0; i < replay->program.latch_count; i++)
		wake_up_all(&replay->latches[i].opened);
}

/**
 * rfs_queue_of_task() - a queue to wait for an event of a task other than an operation
 * @replay: loaded
 * @task: index of the task
 *
 * The queue is shared: a woken waiter checks its condition. A cancelled replay wakes all.
 */
wait_queue_head_t *rfs_queue_of_task(struct rfs_replay *replay, u32 task)
{
	return moved_queue(replay, task, U32_MAX);
}
