// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * order.c - the waits of an operation, one after the other.
 */
#include "order.h"

/**
 * iot_order_init() - nothing has happened yet
 * @order: filled in
 * @program: verified
 * @progress: room for one number of each task
 * @step: distance between these numbers, as a count of numbers
 * @pending: room for one number of each latch
 */
void iot_order_init(struct iot_order *order, const struct iot_program *program, u32 *progress,
		    u32 step, u32 *pending)
{
	u32 i;

	order->program = program;
	order->progress = progress;
	order->step = step;
	order->pending = pending;
	for (i = 0; i < program->task_count; i++)
		*iot_order_progress(order, i) = 0;
	for (i = 0; i < program->latch_count; i++)
		pending[i] = le32_to_cpu(program->latches[i].signals);
}

/**
 * iot_order_blocker() - the first wait of an operation that does not hold
 * @order: of the replay
 * @task: index of the task
 * @op: the operation of it that is to start
 * @next: in and out: number of its waits that are known to hold, 0 at first
 *
 * Return: the wait; NULL if all hold and the operation may start.
 */
const struct iot_program_wait *iot_order_blocker(const struct iot_order *order, u32 task,
						 const struct iot_program_op *op, u32 *next)
{
	const struct iot_program *program = order->program;
	const struct iot_program_wait *waits = program->waits +
					       le64_to_cpu(program->tasks[task].first_wait) +
					       le32_to_cpu(op->first_wait);

	for (; *next < le16_to_cpu(op->wait_count) && iot_order_is_strict(op); ++*next)
		if (!iot_order_holds(order, &waits[*next]))
			return &waits[*next];
	return NULL;
}
