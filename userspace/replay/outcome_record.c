// SPDX-License-Identifier: GPL-2.0-only
/*
 * outcome_record.c - the outcome of an operation: its record (core/replay/outcome.h), and that of its
 * divergence.
 *
 * The time on a CPU and the switches of an operation are not measured here, which would take
 * two more system calls: they are 0.
 */
#include <unistd.h>

#include "local_replay.h"

static u32 number_of(const struct worker_task *task, const struct iot_program_op *op)
{
	return iot_outcome_number(op, task->step.index);
}

static void put_op(struct worker_task *task, const struct iot_program_op *op)
{
	struct iot_record r = {};

	iot_outcome_fill(&r, task->local->program, op, &task->step.observed, (u64)sysconf(_SC_PAGESIZE));
	r.op.task = task->step.stats.task;
	r.op.op = number_of(task, op);
	r.op.result = task->step.result;
	r.op.enter_ns = task->step.enter_ns;
	r.op.duration_ns = task->step.prev_end_ns - task->step.enter_ns;
	outcome_put(task, &r, task->step.prev_end_ns);
}

static void put_divergence(struct worker_task *task, const struct iot_program_op *op, u32 verdict)
{
	const struct iot_record r = {
		.kind = IOT_KIND_divergence,
		.divergence = {
			.time_ns = task->step.prev_end_ns,
			.task = task->step.stats.task,
			.op = number_of(task, op),
			.kind = le16_to_cpu(op->kind),
			.expected = (s64)le64_to_cpu(op->result),
			.got = task->step.refused ? task->step.refused : task->step.result,
			.verdict = verdict,
		},
	};

	outcome_put(task, &r, task->step.prev_end_ns);
}

/* The request queue has not got on yet. */
static void put_complete(struct worker_task *queue, const struct iot_program_op *op)
{
	const struct iot_record r = {
		.kind = IOT_KIND_complete,
		.complete = {
			.time_ns = queue->step.prev_end_ns,
			.task = queue->step.stats.task,
			.op = le32_to_cpu(op->origin_op),
			.request = queue_request_number(queue, queue->step.index + 1),
			.result = queue->step.result,
		},
	};

	outcome_put(queue, &r, queue->step.prev_end_ns);
}

/**
 * outcome_op() - write the record of an operation that has ended, and of its divergence
 * @task: which has run it
 * @op: the operation
 */
void outcome_op(struct worker_task *task, const struct iot_program_op *op)
{
	u32 verdict = iot_outcome_verdict(task->local->program, op, &task->step.observed, task->step.result, task->step.refused);

	if (!task->local->outcomes)
		return;
	if (le16_to_cpu(op->kind) == IOT_KIND_complete)
		put_complete(task, op);
	else
		put_op(task, op);
	if (verdict != IOT_VERDICT_NONE)
		put_divergence(task, op, verdict);
}

/**
 * outcome_dirent() - write the record of an entry that the present operation has read
 * @task: which runs it
 * @op: the operation: a readdir
 * @name: of the entry
 * @type: DT_*, which have the numbers of IOT_TYPES
 */
void outcome_dirent(struct worker_task *task, const struct iot_program_op *op, const char *name,
		    unsigned int type)
{
	struct iot_record r = {
		.kind = IOT_KIND_dirent,
		.tail = (const u8 *)name,
		.tail_bytes = (u16)strlen(name),
		.dirent = {
			.time_ns = task->step.enter_ns,
			.task = task->step.stats.task,
			.op = number_of(task, op),
			.type = type,
		},
	};

	if (task->local->outcomes)
		outcome_put(task, &r, task->step.enter_ns);
}

/**
 * outcome_played() - write the statistics of a task that has ended
 * @task: which has run its last operation
 * @stats: of the task; the time is filled in
 */
void outcome_played(struct worker_task *task, const struct iot_rec_played *stats)
{
	struct iot_record r = { .kind = IOT_KIND_played, .played = *stats };

	r.played.time_ns = clock_now_ns();
	if (task->local->outcomes)
		outcome_put(task, &r, r.played.time_ns);
}
