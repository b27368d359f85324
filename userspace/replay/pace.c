// SPDX-License-Identifier: GPL-2.0-only
/*
 * pace.c - think time between operations, as replayfs/pace.c has it.
 *
 * Closed loop: the think time of an operation begins when the one before it has ended in
 * this replay. The end of a sleep is an absolute time, and what a wake-up comes too late is
 * taken off the next think time. How late an operation of the storage is, never is.
 */
#include "player.h"

/* A sleep shorter than this costs more than it saves: the CPU waits instead. */
#define SPIN_NS 50000

static u64 scaled_ns(u64 ns, u32 scale)
{
	return (u64)(((unsigned __int128)ns * scale) / IOT_SCALE_ONE);
}

static u64 lesser(u64 x, u64 y)
{
	return x < y ? x : y;
}

/* Return: 0, or -ECANCELED. */
static int sleep_until(struct player *player, u64 until_ns)
{
	while (clock_now_ns() + SPIN_NS < until_ns) {
		futex_sleep(&player->is_cancelled, 0, until_ns - SPIN_NS / 2);
		if (player_is_cancelled(player))
			return -ECANCELED;
	}
	while (clock_now_ns() < until_ns)
		;
	return 0;
}

/**
 * player_pace() - let the think time before an operation pass
 * @task: which performs it
 * @op: the operation
 *
 * Return: 0; -ECANCELED.
 */
int player_pace(struct player_task *task, const struct iot_program_op *op)
{
	const struct replay_options *options = task->player->options;
	u64 think_ns, until_ns, now_ns, late_ns;
	int err;

	if (options->pace == IOT_PACE_FULL)
		return 0;
	think_ns = scaled_ns(le64_to_cpu(op->compute_ns), options->compute_scale) +
		   scaled_ns(le64_to_cpu(op->pause_ns), options->pause_scale);
	until_ns = task->prev_end_ns + think_ns - lesser(think_ns, task->late_ns);
	now_ns = clock_now_ns();
	if (now_ns < until_ns) {
		err = sleep_until(task->player, until_ns);
		if (err)
			return err;
		now_ns = clock_now_ns();
	}
	late_ns = now_ns - until_ns;
	task->late_ns -= lesser(think_ns, task->late_ns);
	task->late_ns += late_ns;
	task->stats.think_ns += think_ns;
	task->stats.late_ns += late_ns;
	if (late_ns > task->stats.late_max_ns)
		task->stats.late_max_ns = late_ns;
	return 0;
}
