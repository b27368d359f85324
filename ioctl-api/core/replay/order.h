/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * order.h - the scheduler of every replay engine: may this operation start?
 *
 * Each task publishes how many of its operations have ended; each latch how many
 * signals it still needs. A wait reads one of these numbers. There is no lock: a
 * task's number is written by the task alone, and grows; a latch's is counted down
 * atomically, and stays at zero.
 *
 *		    writes                      reads
 *   progress[t]    worker of t, release     all, acquire
 *   pending[h]     signalers, atomic        all, acquire
 *
 * How to wait is up to the engine: sleep, spin, or do something else.
 */
#ifndef IOTAPE_ORDER_H
#define IOTAPE_ORDER_H

#include "program.h"

/**
 * struct iot_order - how far the tasks and latches of a program are
 * @program: verified
 * @progress: for each task, operations that have ended; see iot_order_progress()
 * @step: from the number of one task to that of the next: IOT_ORDER_STEP where tasks run at the
 *	same time, so that those that have nothing to do with each other share no cache line
 * @pending: for each latch, signals that are missing
 */
struct iot_order {
	const struct iot_program *program;
	u32 *progress;
	u32 step;
	u32 *pending;
};

#define IOT_ORDER_STEP 16

void iot_order_init(struct iot_order *order, const struct iot_program *program, u32 *progress,
		    u32 step, u32 *pending);

/* Where the progress of a task is. */
static inline u32 *iot_order_progress(const struct iot_order *order, u32 task)
{
	return &order->progress[(size_t)task * order->step];
}

/**
 * iot_order_holds() - does a wait hold?
 * @order: of the replay
 * @wait: one of its program's
 *
 * If it does, everything that happened before the operation ended, or before the last
 * arrival, is visible to the caller.
 */
static inline bool iot_order_holds(const struct iot_order *order,
				   const struct iot_program_wait *wait)
{
	u32 task = le32_to_cpu(wait->task), index = le32_to_cpu(wait->index);

	if (task == IOT_WAIT_LATCH)
		return iot_load_acquire(&order->pending[index]) == 0;
	return iot_load_acquire(iot_order_progress(order, task)) > index;
}

/* Must the waits of an operation hold before it starts? */
static inline bool iot_order_is_strict(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) != IOT_PLAY_timed;
}

const struct iot_program_wait *iot_order_blocker(const struct iot_order *order, u32 task,
						 const struct iot_program_op *op, u32 *next);

#endif
