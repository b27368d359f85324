// SPDX-License-Identifier: GPL-2.0-only
/*
 * engine_null.c - obeys order and pace, performs nothing, and reports what was expected.
 *
 * It measures what order, pace and outcomes themselves cost. And it is the template for an
 * engine that performs operations in this process: put them into `perform`.
 */
#include "player.h"

static s64 perform(struct player_task *task, const struct iot_program_op *op)
{
	(void)task;
	return (s64)le64_to_cpu(op->result);
}

static const struct performer performer = {
	.perform = perform,
};

static int null_open(struct replay *replay)
{
	struct player *player;
	int err = player_open(replay, &performer, NULL, &player);

	replay->state = player;
	return err;
}

static int null_set_up(struct replay *replay)
{
	return player_set_up(replay->state);
}

static int null_ready(struct replay *replay)
{
	return player_ready(replay->state);
}

static int null_start(struct replay *replay)
{
	return player_start(replay->state);
}

static int null_wait(struct replay *replay, int timeout_ms)
{
	return player_wait(replay->state, timeout_ms);
}

static void null_status(struct replay *replay, struct iot_replay_status *status)
{
	player_status(replay->state, status);
}

static void null_lateness(struct replay *replay, struct iot_replay_lateness *lateness)
{
	player_lateness(replay->state, lateness);
}

static int null_moved(struct replay *replay, struct iot_replay_move *moved, u32 room, u64 timeout_ns)
{
	return player_moved(replay->state, moved, room, timeout_ns);
}

static int null_advance(struct replay *replay, u32 task, u32 ended)
{
	return player_advance(replay->state, task, ended);
}

static int null_arrive(struct replay *replay, u32 latch, u32 count)
{
	return player_arrive(replay->state, latch, count);
}

static void null_cancel(struct replay *replay)
{
	player_cancel(replay->state);
}

static int null_close(struct replay *replay)
{
	return player_close(replay->state);
}

const struct replay_engine engine_null = {
	.name = "null",
	.sentence = "nothing is performed: order and pace alone",
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
	.arrive = null_arrive,
	.cancel = null_cancel,
	.close = null_close,
};
