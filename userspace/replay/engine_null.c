// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_null.c - obeys order and pace, runs nothing, and reports the expected results.
 *
 * It measures the cost of order, pace and outcomes themselves. And it is the template for an
 * engine that runs operations in this process: see @run of struct op_runner.
 */
#include "local_replay.h"

static s64 expect(struct worker_task *task, const struct iot_program_op *op)
{
	(void)task;
	return (s64)le64_to_cpu(op->result);
}

static const struct op_runner runner = {
	.run = expect,
};

static int null_open(struct replay *replay)
{
	struct local_replay *local;
	int err = local_replay_open(replay, &runner, NULL, &local);

	replay->state = local;
	return err;
}

static int null_set_up(struct replay *replay)
{
	return local_replay_set_up(replay->state);
}

static int null_ready(struct replay *replay)
{
	return local_replay_ready(replay->state);
}

static int null_start(struct replay *replay)
{
	return local_replay_start(replay->state);
}

static int null_wait(struct replay *replay, int timeout_ms)
{
	return local_replay_wait(replay->state, timeout_ms);
}

static void null_status(struct replay *replay, struct iot_replay_status *status)
{
	local_replay_status(replay->state, status);
}

static void null_lateness(struct replay *replay, struct iot_replay_lateness *lateness)
{
	local_replay_lateness(replay->state, lateness);
}

static int null_moved(struct replay *replay, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
{
	return local_replay_moved(replay->state, moved, room, timeout_ns);
}

static int null_advance(struct replay *replay, u32 task, u32 ended)
{
	return local_replay_advance(replay->state, task, ended);
}

static int null_signal(struct replay *replay, u32 latch, u32 count)
{
	return local_replay_signal(replay->state, latch, count);
}

static void null_cancel(struct replay *replay)
{
	local_replay_cancel(replay->state);
}

static int null_close(struct replay *replay)
{
	return local_replay_close(replay->state);
}

const struct replay_engine engine_null = {
	.name = "null",
	.sentence = "runs no operations: order and pace only",
	.data_modes = 0,
	.uses_target = false,
	.open = null_open,
	.set_up = null_set_up,
	.ready = null_ready,
	.start = null_start,
	.wait = null_wait,
	.status = null_status,
	.lateness = null_lateness,
	.moved = null_moved,
	.advance = null_advance,
	.signal = null_signal,
	.cancel = null_cancel,
	.close = null_close,
};
