// SPDX-License-Identifier: GPL-2.0-only
/*
 * pace_sleep.c - sleeps for the think time between operations: see core/replay/pace.h.
 *
 * The end of a sleep is an absolute time, so work done meanwhile is not added to it.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>

#include "replayfs.h"

/* A sleep shorter than this costs more than it saves: the CPU waits instead. */
#define SPIN_NS 50000
/* A sleeping worker is not woken when the replay is cancelled; it checks at this interval. */
#define LOOK_NS 100000000

static u64 now_ns(void)
{
	return ktime_get_mono_fast_ns();
}

/* Return: 0; -EINTR; -ECANCELED. */
static int may_go_on(const struct rfs_replay *replay)
{
	if (rfs_is_cancelled(replay))
		return -ECANCELED;
	return signal_pending(current) ? -EINTR : 0;
}

/**
 * rfs_spin_until() - use the CPU until a time
 * @replay: started
 * @until_ns: on the monotonic clock
 *
 * Return: 0; -EINTR; -ECANCELED.
 */
int rfs_spin_until(const struct rfs_replay *replay, u64 until_ns)
{
	int err = 0;

	while (now_ns() < until_ns && !err) {
		cpu_relax();
		cond_resched();
		err = may_go_on(replay);
	}
	return err;
}

static int sleep_until(const struct rfs_replay *replay, u64 until_ns)
{
	ktime_t expires;
	int err = 0;
	u64 ns;

	while ((ns = now_ns()) + SPIN_NS < until_ns && !err) {
		expires = ns_to_ktime(min(until_ns - SPIN_NS / 2, ns + LOOK_NS));
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
		err = may_go_on(replay);
	}
	return err ? err : rfs_spin_until(replay, until_ns);
}

/**
 * rfs_sleep_until() - sleep until a time
 * @replay: started
 * @until_ns: on the monotonic clock
 *
 * Return: 0; -EINTR; -ECANCELED.
 */
int rfs_sleep_until(const struct rfs_replay *replay, u64 until_ns)
{
	return replay->setup.wait == IOT_WAIT_SPIN ? rfs_spin_until(replay, until_ns) : sleep_until(replay, until_ns);
}

/**
 * rfs_lateness() - how late wake-ups were so far
 * @replay: in any state
 * @lateness: out
 */
void rfs_lateness(struct rfs_replay *replay, struct iot_replay_lateness *lateness)
{
	u32 i, bucket;

	memset(lateness, 0, sizeof(*lateness));
	if (smp_load_acquire(&replay->state) < RFS_LOADED)
		return;
	for (i = 0; i < replay->program.task_count; i++) {
		const struct rfs_task *task = &replay->tasks[i];

		for (bucket = 0; bucket < IOT_LATENESS_BUCKETS; bucket++)
			lateness->wakeups[bucket] += READ_ONCE(task->step.pace.wakeups[bucket]);
		lateness->sum_ns += READ_ONCE(task->step.stats.late_ns);
		lateness->max_ns = max_t(u64, lateness->max_ns, READ_ONCE(task->step.stats.late_max_ns));
		cond_resched();
	}
}
