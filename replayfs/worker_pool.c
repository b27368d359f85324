// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker_pool.c - assigns tasks to workers.
 *
 * The number of workers follows from core/replay/pool.h. Until the waits of its first operation hold, a task is
 * only an entry of the wait queue. Then it moves to the list `ready` of its pool, and the next idle worker of the
 * pool takes it.
 *
 * Tasks with mappings can only be run in their own address space, so each of these is a
 * pool; all other tasks are one.
 *
 * Workers are threads of the user. Each pool has a keeper, a thread that sleeps here and goes
 * back to user mode to start a worker whenever the pool is short of them.
 *
 * Locking: `lock` of the pool, taken when a task is to start, and when a worker enters or leaves.
 * It nests inside the lock of a wait queue.
 */
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "replayfs.h"

static u32 number_of(const struct rfs_replay *replay, const struct rfs_task *task)
{
	return task - replay->tasks;
}

/* The wait until now is not lateness: see iot_pace_begin(). */
static void task_make_ready(struct rfs_waiter *waiter)
{
	struct rfs_task *task = container_of(waiter, struct rfs_task, start);
	struct rfs_pool *pool = task->pool;
	unsigned long flags;

	task->step.prev_end_ns = ktime_get_mono_fast_ns();
	spin_lock_irqsave(&pool->lock, flags);
	list_add_tail(&task->ready, &pool->ready);
	pool->numbers.ready++;
	wake_up(&pool->idlers);
	if (iot_pool_is_short(&pool->numbers))
		wake_up(&pool->keepers);
	spin_unlock_irqrestore(&pool->lock, flags);
}

/* Return: true if the task may start; false if task_make_ready() will be called, or was. */
static bool task_may_start(struct rfs_replay *replay, struct rfs_task *task)
{
	u32 i;

	for (i = 0; i < task->start_count; i++) {
		if (iot_order_holds(&replay->order, &task->starts[i]))
			continue;
		if (rfs_is_cancelled(replay))
			return true;
		task->start.wait = &task->starts[i];
		if (rfs_call_when(&task->start))
			return false;
	}
	return true;
}

static struct rfs_task *pool_pop_ready(struct rfs_pool *pool)
{
	struct rfs_task *task;

	spin_lock_irq(&pool->lock);
	task = list_first_entry_or_null(&pool->ready, struct rfs_task, ready);
	if (task) {
		list_del_init(&task->ready);
		pool->numbers.ready--;
	}
	spin_unlock_irq(&pool->lock);
	return task;
}

static void pool_take_task(struct rfs_pool *pool, struct rfs_task *task)
{
	spin_lock_irq(&pool->lock);
	task->is_taken = true;
	pool->numbers.unstarted--;
	if (!pool->numbers.unstarted)
		wake_up_all(&pool->idlers);
	if (!pool->numbers.unstarted || iot_pool_is_short(&pool->numbers))
		wake_up_all(&pool->keepers);
	spin_unlock_irq(&pool->lock);
}

/* Return: whether an idle worker has something to do: to run @task or, without a task, to leave. */
static bool pool_find_task(struct rfs_replay *replay, struct rfs_pool *pool, struct rfs_task **task)
{
	while ((*task = pool_pop_ready(pool))) {
		if (!task_may_start(replay, *task))
			continue;
		pool_take_task(pool, *task);
		return true;
	}
	return !READ_ONCE(pool->numbers.unstarted) || rfs_is_cancelled(replay);
}

static void pool_count_idle(struct rfs_pool *pool, bool is_new, int change)
{
	spin_lock_irq(&pool->lock);
	pool->numbers.idle += change;
	if (is_new && pool->numbers.called)
		pool->numbers.called--;
	pool->workers += is_new;
	if (iot_pool_is_short(&pool->numbers))
		wake_up(&pool->keepers);
	spin_unlock_irq(&pool->lock);
}

/**
 * rfs_pool_take() - wait for a task that may start
 * @replay: ready or started
 * @pool: of the worker
 * @is_new: the worker has not been here before
 * @number: out: the task, the caller's to run
 *
 * Return: 1 with a task; 0 if none is going to come; -EINTR; -ECANCELED.
 */
int rfs_pool_take(struct rfs_replay *replay, struct rfs_pool *pool, bool is_new, u32 *number)
{
	struct rfs_task *task = NULL;
	int err;

	pool_count_idle(pool, is_new, 1);
	err = wait_event_interruptible_exclusive(pool->idlers, pool_find_task(replay, pool, &task));
	pool_count_idle(pool, false, -1);
	if (task) {
		*number = number_of(replay, task);
		return 1;
	}
	if (err)
		return -EINTR;
	return rfs_is_cancelled(replay) ? -ECANCELED : 0;
}

static bool pool_needs_worker(struct rfs_replay *replay, struct rfs_pool *pool, bool *is_needed)
{
	spin_lock_irq(&pool->lock);
	*is_needed = !rfs_is_cancelled(replay) && iot_pool_is_short(&pool->numbers); /* not if nothing is unstarted */
	pool->numbers.called += *is_needed;
	spin_unlock_irq(&pool->lock);
	return *is_needed || !READ_ONCE(pool->numbers.unstarted) || rfs_is_cancelled(replay);
}

/**
 * rfs_pool_keep() - wait until a pool is short of workers
 * @replay: ready or started
 * @space: address space of the pool
 *
 * Return: 1 if the caller is to start one and call again; 0 if the pool needs no more; -EINTR;
 * -ECANCELED; -EINVAL.
 */
int rfs_pool_keep(struct rfs_replay *replay, u32 space)
{
	struct rfs_pool *pool = rfs_pool_of(replay, space);
	bool is_needed = false;
	int err;

	if (!pool)
		return -EINVAL;
	err = wait_event_interruptible(pool->keepers, pool_needs_worker(replay, pool, &is_needed));
	if (is_needed)
		return 1;
	if (err)
		return -EINTR;
	return rfs_is_cancelled(replay) ? -ECANCELED : 0;
}

/**
 * rfs_pool_of() - the pool of an address space
 * @replay: loaded
 * @space: number of the address space, or IOT_SPACE_COMMON
 *
 * Return: the pool; NULL if no task needs that one.
 */
struct rfs_pool *rfs_pool_of(struct rfs_replay *replay, u32 space)
{
	u32 i;

	for (i = 0; i < replay->pool_count; i++)
		if (replay->pools[i].space == space)
			return &replay->pools[i];
	return NULL;
}

static u32 space_of(const struct iot_program_task *task)
{
	return le32_to_cpu(task->flags) & IOT_TASK_MAPS ? le32_to_cpu(task->space) :
							   IOT_SPACE_COMMON;
}

static struct rfs_pool *pool_add(struct rfs_replay *replay, u32 space)
{
	struct rfs_pool *pool = &replay->pools[replay->pool_count++];

	pool->space = space;
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->ready);
	init_waitqueue_head(&pool->idlers);
	init_waitqueue_head(&pool->keepers);
	pool->numbers.spares = IOT_POOL_SPARES_BEFORE;
	return pool;
}

/* @numbers: for each address space, the number of its pool, from 1; the last is the common one. */
static void pool_join_task(struct rfs_replay *replay, u32 number, u32 *numbers)
{
	u32 space = space_of(&replay->program.tasks[number]);
	u32 *at = &numbers[min(space, replay->program.task_count)];
	struct rfs_task *task = &replay->tasks[number];

	if (!*at) {
		pool_add(replay, space);
		*at = replay->pool_count;
	}
	task->pool = &replay->pools[*at - 1];
	task->pool->numbers.unstarted++;
}

/* Return: an upper limit: the address spaces with mappings, and the common one. */
static u32 count_pools(const struct rfs_replay *replay)
{
	u32 count = 1, i;

	for (i = 0; i < replay->program.task_count; i++)
		count += space_of(&replay->program.tasks[i]) != IOT_SPACE_COMMON;
	return count;
}

/**
 * rfs_pools_init() - put each task into a pool
 * @replay: its tasks are there, request queues have their requests
 *
 * Return: 0 or -ENOMEM.
 */
int rfs_pools_init(struct rfs_replay *replay)
{
	u32 count = replay->program.task_count, i;
	u32 *numbers = vzalloc(array_size(count + 1, sizeof(*numbers)));

	replay->pools = vzalloc(array_size(count_pools(replay), sizeof(*replay->pools)));
	if (!numbers || !replay->pools) {
		vfree(numbers);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		if (!replay->tasks[i].request)
			pool_join_task(replay, i, numbers);
	vfree(numbers);
	return 0;
}

/**
 * rfs_pool_leave() - a task is run by another node
 * @replay: loaded; no worker has come
 * @number: of the task, or request queue
 */
void rfs_pool_leave(struct rfs_replay *replay, u32 number)
{
	struct rfs_task *task = &replay->tasks[number];

	if (!task->pool)
		return;
	task->pool->numbers.unstarted--;
	task->pool = NULL;
	replay->carried--;
}

/**
 * rfs_pools_fill() - put each task into the wait queue of its first operation
 * @replay: set up; no worker has come
 *
 * Those that wait for nothing are ready, and counted: the replay starts when each of them has a
 * worker.
 */
void rfs_pools_fill(struct rfs_replay *replay)
{
	u32 i;

	for (i = 0; i < replay->program.task_count; i++) {
		struct rfs_task *task = &replay->tasks[i];

		if (!task->pool)
			continue;
		task->start.replay = replay;
		task->start.is_over = task_make_ready;
		if (task_may_start(replay, task)) {
			replay->roots++;
			task_make_ready(&task->start);
		}
		cond_resched();
	}
}

/**
 * rfs_pools_are_short() - has a pool too few workers to start?
 * @replay: ready
 */
bool rfs_pools_are_short(struct rfs_replay *replay)
{
	bool is_short = false;
	u32 i;

	for (i = 0; i < replay->pool_count && !is_short; i++) {
		struct rfs_pool *pool = &replay->pools[i];

		spin_lock_irq(&pool->lock);
		is_short = iot_pool_is_short(&pool->numbers) || pool->numbers.called;
		spin_unlock_irq(&pool->lock);
		cond_resched();
	}
	return is_short;
}

/**
 * rfs_pools_start() - the replay starts: from now on, pools have few spare workers
 * @replay: ready
 */
void rfs_pools_start(struct rfs_replay *replay)
{
	u32 i;

	for (i = 0; i < replay->pool_count; i++) {
		struct rfs_pool *pool = &replay->pools[i];

		spin_lock_irq(&pool->lock);
		pool->numbers.spares = IOT_POOL_SPARES;
		spin_unlock_irq(&pool->lock);
		cond_resched();
	}
}

/**
 * rfs_pools_wake() - wake idle workers and keepers of a replay that was cancelled
 * @replay: loaded
 */
void rfs_pools_wake(struct rfs_replay *replay)
{
	u32 i;

	for (i = 0; i < replay->pool_count; i++) {
		wake_up_all(&replay->pools[i].idlers);
		wake_up_all(&replay->pools[i].keepers);
	}
}

/**
 * rfs_pools_workers() - workers that have entered so far, of all pools
 * @replay: loaded
 */
u32 rfs_pools_workers(const struct rfs_replay *replay)
{
	u32 count = 0, i;

	for (i = 0; i < replay->pool_count; i++)
		count += READ_ONCE(replay->pools[i].workers);
	return count;
}
