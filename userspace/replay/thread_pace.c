// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_pace.c - sleeps for the think time between operations: see core/replay/pace.h.
 */
#include "local_replay.h"

#include <errno.h>
#include <time.h>

/* A sleep shorter than this costs more than it saves: the CPU waits instead. */
#define SPIN_NS 50000

/**
 * worker_cpu_ns() - CPU time of the calling thread
 */
u64 worker_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (u64)time.tv_sec * 1000000000 + (u64)time.tv_nsec;
}

static int spin_until(const struct local_replay *local, u64 until_ns)
{
	while (clock_now_ns() < until_ns)
		if (local_replay_is_cancelled(local))
			return -ECANCELED;
	return 0;
}

/* Return: 0, or -ECANCELED. */
static int sleep_until(struct worker_task *task, u64 until_ns)
{
	struct local_replay *local = task->local;
	bool is_long;
	u64 now_ns;

	while ((now_ns = clock_now_ns()) + SPIN_NS < until_ns) {
		is_long = task->outcome.buffer && until_ns - now_ns > 2 * OUTCOME_AGE_MAX_NS;
		futex_sleep(&local->is_cancelled, 0,
			    is_long ? now_ns + OUTCOME_AGE_MAX_NS : until_ns - SPIN_NS / 2);
		if (local_replay_is_cancelled(local))
			return -ECANCELED;
		if (is_long) /* its records are written before a long sleep */
			outcome_flush(task);
	}
	return spin_until(local, until_ns);
}

/**
 * worker_spin_until() - use the CPU until a time
 * @worker: the task
 * @until_ns: on the monotonic clock
 *
 * Return: 0; -ECANCELED.
 */
int worker_spin_until(void *worker, u64 until_ns)
{
	const struct worker_task *task = worker;

	return spin_until(task->local, until_ns);
}

/**
 * worker_sleep_until() - let time pass
 * @worker: the task
 * @until_ns: on the monotonic clock
 *
 * Return: 0; -ECANCELED.
 */
int worker_sleep_until(void *worker, u64 until_ns)
{
	struct worker_task *task = worker;

	return task->local->options->wait == IOT_WAIT_SPIN ? spin_until(task->local, until_ns) :
							      sleep_until(task, until_ns);
}

/**
 * local_replay_lateness() - how late wake-ups were so far
 * @local: any
 * @lateness: out
 */
void local_replay_lateness(const struct local_replay *local, struct iot_replay_lateness *lateness)
{
	u32 i, bucket;

	*lateness = (struct iot_replay_lateness){};
	for (i = 0; i < local->program->task_count; i++) {
		const struct worker_task *task = &local->tasks[i];

		for (bucket = 0; bucket < IOT_LATENESS_BUCKETS; bucket++)
			lateness->wakeups[bucket] +=
				__atomic_load_n(&task->step.pace.wakeups[bucket], __ATOMIC_RELAXED);
		lateness->sum_ns += __atomic_load_n(&task->step.stats.late_ns, __ATOMIC_RELAXED);
		if (task->step.stats.late_max_ns > lateness->max_ns)
			lateness->max_ns = task->step.stats.late_max_ns;
	}
}
