// SPDX-License-Identifier: GPL-2.0-only
/*
 * pace.c - think time between operations.
 *
 * Closed loop: the think time of an operation begins when the one before it has ended in
 * this replay, not when it did in the trace. The end of a sleep is an absolute time, so
 * what is done meanwhile is not added to it; and what a wake-up comes too late is taken
 * off the next think time, so lateness does not add up. How late an operation of the
 * storage is, is never taken off: that is what is measured.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/sched/signal.h>

#include "replayfs.h"

/* A sleep shorter than this costs more than it saves: the CPU waits instead. */
#define SPIN_NS 50000

static u64 scaled_ns(u64 ns, u32 scale)
{
	return mul_u64_u32_shr(ns, scale, 16); /* IOT_SCALE_ONE is 1 << 16 */
}

/* Return: 0, or -EINTR. */
static int sleep_until(u64 until_ns)
{
	ktime_t expires = ns_to_ktime(until_ns - SPIN_NS / 2);

	while (ktime_get_mono_fast_ns() + SPIN_NS < until_ns) {
		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS);
		if (signal_pending(current))
			return -EINTR;
	}
	while (ktime_get_mono_fast_ns() < until_ns)
		cpu_relax();
	return 0;
}

/**
 * rfs_pace() - let the think time before an operation pass
 * @carrier: who performs it
 * @op: the operation
 *
 * Return: 0; -EINTR, and the rest of the think time passes at the next call.
 */
int rfs_pace(struct rfs_carrier *carrier, const struct iot_program_op *op)
{
	const struct iot_replay_setup *setup = &carrier->replay->setup;
	struct rfs_task *task = carrier->task;
	u64 think_ns, until_ns, now_ns, late_ns;

	if (setup->pace == IOT_PACE_FULL || task->has_thought)
		return 0;
	think_ns = scaled_ns(le64_to_cpu(op->compute_ns), setup->compute_scale) +
		   scaled_ns(le64_to_cpu(op->pause_ns), setup->pause_scale);
	until_ns = task->prev_end_ns + think_ns - min(think_ns, task->late_ns);
	now_ns = ktime_get_mono_fast_ns();
	if (now_ns < until_ns) {
		if (sleep_until(until_ns))
			return -EINTR;
		now_ns = ktime_get_mono_fast_ns();
	}
	late_ns = now_ns - until_ns;
	task->has_thought = true;
	task->late_ns -= min(think_ns, task->late_ns);
	task->late_ns += late_ns;
	task->stats.think_ns += think_ns;
	task->stats.late_ns += late_ns;
	task->stats.late_max_ns = max(task->stats.late_max_ns, late_ns);
	return 0;
}
