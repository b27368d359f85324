// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.c - the waits of the operations of a compiled program.
 */
#include "waits.h"

#include "suite.h"

bool last_task_waits(const struct iot_program *program, u32 index, u16 own, u16 kind)
{
	const struct iot_program_task *task = &program->tasks[program->task_count - 1];
	const struct iot_program_op *op = &program->ops[le64_to_cpu(task->first_op) + index];
	const struct iot_program_wait *waits =
		&program->waits[le64_to_cpu(task->first_wait) + le32_to_cpu(op->first_wait)];
	u16 i;

	assert_int_equal(le16_to_cpu(op->kind), own);
	for (i = 0; i < le16_to_cpu(op->wait_count); i++) {
		const struct iot_program_task *other = &program->tasks[le32_to_cpu(waits[i].task)];

		if (le16_to_cpu(program->ops[le64_to_cpu(other->first_op) +
					     le32_to_cpu(waits[i].index)].kind) == kind)
			return true;
	}
	return false;
}
