// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * verify_queues.c - does each asynchronous request have an end, in a request queue of its task?
 */
#include "verify.h"

static bool is_queue(const struct iot_program_task *task)
{
	return le32_to_cpu(task->flags) & IOT_TASK_QUEUE;
}

static bool is_submit_of(const struct iot_program_op *submit, const struct iot_program_op *op,
			 u32 queue)
{
	return le16_to_cpu(submit->kind) == IOT_KIND_submit && le32_to_cpu(submit->queue) - 1 == queue &&
	       submit->handle == op->handle && submit->flags == op->flags &&
	       submit->offset_bytes == op->offset_bytes && submit->length_bytes == op->length_bytes;
}

/* A complete belongs to the submit that it waits for. The submits of consecutive completes are in the same order. */
static bool is_complete_of(const struct verifier *v, const struct iot_program_task *queue,
			   const struct iot_program_op *op, u32 least, u32 *index)
{
	const struct iot_program *program = v->program;
	const struct iot_program_task *parent = &program->tasks[le32_to_cpu(queue->parent)];
	const struct iot_program_wait *wait;
	struct iot_program_wait wait_room;
	struct iot_program_op room;

	if (le16_to_cpu(op->kind) != IOT_KIND_complete || le16_to_cpu(op->wait_count) != 1 ||
	    op->compute_ns || op->pause_ns)
		return false;
	wait = iot_program_wait_at(program,
				   le64_to_cpu(queue->first_wait) + le32_to_cpu(op->first_wait), &wait_room);
	*index = le32_to_cpu(wait->index);
	if (wait->task != queue->parent || *index < least)
		return false;
	return is_submit_of(iot_program_op_at(program, le64_to_cpu(parent->first_op) + *index, &room), op,
			    (u32)(queue - program->tasks));
}

static int check_queue(const struct verifier *v, const struct iot_program_task *queue, u32 parent)
{
	u64 first = le64_to_cpu(queue->first_op);
	u32 least = 0, index, i;
	struct iot_program_op room;
	int err = 0;

	if (le32_to_cpu(queue->parent) != parent || !queue->op_count)
		return iot_verify_refuse(v, IOT_REJECT_queue, IOT_SECTION_TASKS,
					 (u64)(queue - v->program->tasks));
	for (i = 0; i < le32_to_cpu(queue->op_count) && !err; i++) {
		if (!is_complete_of(v, queue, iot_program_op_at(v->program, first + i, &room), least,
				    &index))
			return iot_verify_refuse(v, IOT_REJECT_queue, IOT_SECTION_OPS, first + i);
		least = index + 1;
		if (i % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(v);
	}
	return err;
}

/**
 * iot_verify_queues() - does each request queue complete what its task submits to it?
 * @v: the work; operations and waits have been verified
 *
 * Each completion has its submit, and there are as many submits as completions.
 *
 * Return: 0 or a refusal.
 */
int iot_verify_queues(const struct verifier *v)
{
	const struct iot_program *program = v->program;
	u64 requests = 0, submits = 0, completions = 0, n;
	const struct iot_program_op *op;
	struct iot_program_op room;
	u32 parent = 0, i;
	int err = 0;

	for (i = 0; i < program->task_count && !err; i++) {
		const struct iot_program_task *task = &program->tasks[i];

		if (!is_queue(task)) {
			parent = i;
			continue;
		}
		err = i ? check_queue(v, task, parent) :
			  iot_verify_refuse(v, IOT_REJECT_queue, IOT_SECTION_TASKS, 0);
		requests += le32_to_cpu(task->op_count);
	}
	for (n = 0; n < program->op_count && !err; n++) {
		op = iot_program_op_at(program, n, &room);
		submits += le16_to_cpu(op->kind) == IOT_KIND_submit;
		completions += le16_to_cpu(op->kind) == IOT_KIND_complete;
		if (n % IOT_VERIFY_PAUSE_OPS == 0)
			err = iot_verify_pause(v);
	}
	if (!err && (submits != requests || completions != requests))
		err = iot_verify_refuse(v, IOT_REJECT_queue, IOT_SECTION_TASKS, 0);
	return err;
}
