/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * window.h - the next operations and waits of a task, in memory or streamed from the file.
 */
#ifndef RFS_WINDOW_H
#define RFS_WINDOW_H

#include "replayfs.h"

const void *rfs_window_unit(struct rfs_replay *replay, u32 task, u32 section, u32 index,
			    struct iot_rec_played *stats);

/**
 * rfs_op() - an operation of a task
 * @replay: the replay
 * @task: index of the task
 * @index: of the operation; does not decrease from call to call
 * @stats: where a stall is counted
 *
 * Called by the worker of the task, or of the task whose request queue it is.
 *
 * Return: the operation, valid until the next call; -EINTR; -ECANCELED.
 */
static inline const struct iot_program_op *rfs_op(struct rfs_replay *replay, u32 task, u32 index,
						  struct iot_rec_played *stats)
{
	const struct iot_program *program = &replay->program;

	if (likely(program->ops))
		return program->ops + le64_to_cpu(program->tasks[task].first_op) + index;
	return rfs_window_unit(replay, task, IOT_SECTION_OPS, index, stats);
}

/**
 * rfs_ops_in_row() - operations that stand in memory one behind the other
 * @replay: the replay
 * @task: index of the task
 * @index: of an operation that rfs_op() has returned: the first of them
 *
 * Return: their number, 1 or more. They are valid as long as the first one is.
 */
static inline u32 rfs_ops_in_row(const struct rfs_replay *replay, u32 task, u32 index)
{
	const struct iot_program_task *from = &replay->program.tasks[task];
	u32 left = le32_to_cpu(from->op_count) - index;

	if (replay->program.ops)
		return left;
	return min_t(u32, left, IOT_BLOCK_OPS - (le64_to_cpu(from->first_op) + index) % IOT_BLOCK_OPS);
}

/* As rfs_op(), of a wait; @index: from the first of the task. */
static inline const struct iot_program_wait *rfs_wait(struct rfs_replay *replay, u32 task, u32 index,
						      struct iot_rec_played *stats)
{
	const struct iot_program *program = &replay->program;

	if (likely(program->waits))
		return program->waits + le64_to_cpu(program->tasks[task].first_wait) + index;
	return rfs_window_unit(replay, task, IOT_SECTION_WAITS, index, stats);
}

int rfs_windows_init(struct rfs_replay *replay, u64 room_bytes);
void rfs_windows_exit(struct rfs_replay *replay);
int rfs_window_begin(struct rfs_replay *replay, u32 task, struct iot_rec_played *stats);
void rfs_window_end(struct rfs_replay *replay, u32 task);
void rfs_windows_wake(struct rfs_replay *replay);
int rfs_windows_feed(struct rfs_replay *replay);

#endif
