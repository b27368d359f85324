// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_wait.c - threads that wait for each other, by futex: see struct park.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "local_replay.h"

#define NS_PER_S 1000000000ull

/* The clock that everything here is measured by. */
u64 clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * NS_PER_S + (u64)now.tv_nsec;
}

/**
 * futex_sleep() - sleep until a futex is woken
 * @futex: the futex
 * @value: do not sleep if it has another value
 * @until_ns: monotonic clock when to wake up in any case, 0 for never
 *
 * Return: 0, -EAGAIN, -ETIMEDOUT or -EINTR.
 */
int futex_sleep(u32 *futex, u32 value, u64 until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_S),
		.tv_nsec = (long)(until_ns % NS_PER_S),
	};

	return syscall(SYS_futex, futex, FUTEX_WAIT_BITSET_PRIVATE, value, until_ns ? &until : NULL,
		       NULL, FUTEX_BITSET_MATCH_ANY) ? -errno : 0;
}

/* All that sleep there. */
void futex_wake(u32 *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#define PARKS_MIN 64
#define PARKS_MAX 65536

static struct park *park_of_op(const struct local_replay *local, u32 task, u32 index)
{
	return &local->moved[(task * 0x9e3779b1u + index) & local->moved_mask];
}

/* The park of the tasks that wait for it. */
struct park *park_of(const struct local_replay *local, const struct iot_program_wait *wait)
{
	u32 task = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	return task == IOT_WAIT_LATCH ? &local->latches[index] : park_of_op(local, task, index);
}

/**
 * parks_init() - make parks for latches and for operations
 * @local: the rest is zero
 *
 * Return: 0 or -ENOMEM; parks_exit() is right in both cases.
 */
int parks_init(struct local_replay *local)
{
	u32 count = PARKS_MIN;

	while (count < PARKS_MAX && count < local->program->task_count)
		count *= 2;
	local->moved = calloc(count, sizeof(*local->moved));
	local->moved_mask = count - 1;
	local->latches = calloc(local->program->latch_count + 1ul, sizeof(*local->latches));
	return local->moved && local->latches ? 0 : -ENOMEM;
}

void parks_exit(struct local_replay *local)
{
	free(local->moved);
	free(local->latches);
}

static void count_sleeper(struct local_replay *local, const struct iot_program_wait *wait, u32 change)
{
	u32 task = le32_to_cpu(wait->task);

	if (task != IOT_WAIT_LATCH)
		__atomic_fetch_add(&local->tasks[task].waiters, change, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&park_of(local, wait)->sleepers, change, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The records of the task are written during a long sleep. Return: -ETIMEDOUT at a time, 0 is never; else 0. */
static int sleep_there(struct worker_task *task, struct park *park, u32 turns, u64 until_ns)
{
	u64 flush_ns = task->outcome.buffer ? clock_now_ns() + OUTCOME_AGE_MAX_NS : 0;
	bool is_last = until_ns && (!flush_ns || until_ns <= flush_ns);

	if (futex_sleep(&park->turns, turns, is_last ? until_ns : flush_ns) != -ETIMEDOUT)
		return 0;
	if (is_last)
		return -ETIMEDOUT;
	outcome_flush(task);
	return 0;
}

/**
 * park_wait() - sleep until a wait holds
 * @task: which waits
 * @wait: of its program
 * @until_ns: when to stop waiting, on the monotonic clock; 0: never
 *
 * Return: 0; -ETIMEDOUT; -ECANCELED.
 */
int park_wait(struct worker_task *task, const struct iot_program_wait *wait, u64 until_ns)
{
	struct local_replay *local = task->local;
	struct park *park = park_of(local, wait);
	u32 turns;
	int err = 0;

	count_sleeper(local, wait, 1);
	while (!err) {
		turns = __atomic_load_n(&park->turns, __ATOMIC_SEQ_CST);
		if (iot_order_holds(&local->order, wait))
			break;
		if (local_replay_is_cancelled(local)) {
			err = -ECANCELED;
			break;
		}
		err = sleep_there(task, park, turns, until_ns);
	}
	count_sleeper(local, wait, (u32)-1);
	return err;
}

static void wake_park(struct local_replay *local, struct park *park)
{
	if (__atomic_load_n(&park->beginners, __ATOMIC_RELAXED))
		thread_pool_begin(local, park);
	if (!__atomic_load_n(&park->sleepers, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_add(&park->turns, 1, __ATOMIC_SEQ_CST);
	futex_wake(&park->turns);
}

/**
 * park_wake_moved() - a task has ended one operation more, and published that
 */
void park_wake_moved(struct worker_task *task)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&task->waiters, __ATOMIC_RELAXED))
		wake_park(task->local, park_of_op(task->local, task->number, task->step.index - 1));
}

/**
 * park_wake_opened() - a latch has opened
 */
void park_wake_opened(struct local_replay *local, u32 latch)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	wake_park(local, &local->latches[latch]);
}

/**
 * park_wake_all() - let all that sleep look again, because it is cancelled
 */
void park_wake_all(struct local_replay *local)
{
	u32 i;

	for (i = 0; i <= local->moved_mask; i++)
		wake_park(local, &local->moved[i]);
	for (i = 0; i < local->program->latch_count; i++)
		wake_park(local, &local->latches[i]);
}

/**
 * park_wake_passed() - a task on another node has ended operations, and that has been published
 * @local: here
 * @task: index of the task
 * @from: operations that had ended before
 * @to: operations that have ended now
 */
void park_wake_passed(struct local_replay *local, u32 task, u32 from, u32 to)
{
	u32 i;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&local->tasks[task].waiters, __ATOMIC_RELAXED))
		return;
	for (i = from; i < to && i - from <= local->moved_mask; i++) /* after that many, all */
		wake_park(local, park_of_op(local, task, i));
}

/**
 * park_wake_agent() - a task has ended one operation more; after park_wake_moved()
 */
void park_wake_agent(struct worker_task *task)
{
	if (task->step.index > __atomic_load_n(&task->mark, __ATOMIC_RELAXED))
		wake_park(task->local, &task->local->agent);
}
