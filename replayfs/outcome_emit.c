// SPDX-License-Identifier: GPL-2.0-only
/*
 * outcome_emit.c - the result of an operation: its record (core/replay/outcome.h), and the record of its
 * divergence.
 */
#include "replayfs.h"

static u32 number_of(const struct rfs_worker *worker, const struct iot_program_op *op)
{
	return iot_outcome_number(op, worker->task->step.index);
}

static u32 wire_bytes_of(u16 kind)
{
	switch (kind) {
#define WIRE_CASE(id, name, group, sentence) \
	case id:                             \
		return IOT_WIRE_##name;
		IOT_RECORDS(WIRE_CASE)
#undef WIRE_CASE
	default:
		return 0;
	}
}

/* Return: when the operation ended. */
static u64 emit_op(struct rfs_worker *worker, const struct iot_program_op *op, s64 result)
{
	struct iot_record r = {};
	struct iot_slot slot;

	iot_outcome_fill(&r, &worker->replay->program, op, &worker->task->step.observed, PAGE_SIZE);
	r.op.task = worker->task->step.stats.task;
	r.op.op = number_of(worker, op);
	r.op.result = result;
	if (!iot_slot_open(worker->replay->session, wire_bytes_of(r.kind) + r.tail_bytes, &slot))
		return slot.now_ns;
	iot_meter_fill(&worker->task->meter, slot.now_ns, &r.op);
	iot_record_encode(slot.p, IOT_RECORD_MAX_BYTES, &r);
	iot_slot_close(&slot);
	return slot.now_ns;
}

/* @refused: result of the operation itself, if an emulation replaced it, else 0 */
static void emit_divergence(struct iot_session *session, const struct iot_program_op *op,
			    u32 task, u32 number, s64 result, s64 refused, u32 verdict)
{
	struct iot_rec_divergence r = {
		.task = task,
		.op = number,
		.kind = le16_to_cpu(op->kind),
		.expected = (s64)le64_to_cpu(op->result),
		.got = refused ? refused : result,
		.verdict = verdict,
	};

	if (verdict != IOT_VERDICT_NONE)
		IOT_EMIT_EVENT(session, divergence, &r, NULL, 0);
}

/**
 * rfs_outcome() - write the record of an operation that was run
 * @worker: has run it
 * @op: the operation
 * @result: its result
 *
 * Return: when it ended, in ns of the monotonic clock: the same time as in the record.
 */
u64 rfs_outcome(struct rfs_worker *worker, const struct iot_program_op *op, s64 result)
{
	struct iot_session *session = worker->replay->session;
	struct rfs_task *task = worker->task;
	u64 end_ns;

	if (!session || !iot_session_enter(session))
		return ktime_get_mono_fast_ns();
	end_ns = emit_op(worker, op, result);
	emit_divergence(session, op, task->step.stats.task, number_of(worker, op), result, task->step.refused,
			iot_outcome_verdict(&worker->replay->program, op, &task->step.observed, result, task->step.refused));
	iot_session_leave();
	return end_ns;
}

/**
 * rfs_outcome_complete() - write the record of a request that has ended
 * @replay: the replay
 * @queue: index of the request queue, whose progress has not been stored yet
 * @op: its operation
 * @result: of the request
 *
 * Callable in any context.
 */
void rfs_outcome_complete(struct rfs_replay *replay, u32 queue, const struct iot_program_op *op,
			  s64 result)
{
	const struct rfs_task *task = &replay->tasks[queue];
	struct iot_rec_complete r = {
		.task = task->step.stats.task,
		.op = le32_to_cpu(op->origin_op),
		.request = rfs_request_number(queue, task->step.index + 1),
		.result = result,
	};

	if (!replay->session || !iot_session_enter(replay->session))
		return;
	IOT_EMIT_EVENT(replay->session, complete, &r, NULL, 0);
	emit_divergence(replay->session, op, r.task, r.op, result, task->step.refused,
			iot_outcome_verdict(&replay->program, op, &task->step.observed, result, task->step.refused));
	iot_session_leave();
}

/**
 * rfs_outcome_dirent() - write the record of an entry that the present operation has read
 * @worker: the worker
 * @op: the operation: a readdir
 * @name: the entry's, not terminated; a name too long for a record is cut
 * @length: of @name in bytes
 * @type: DT_*
 *
 * Without outcomes, does nothing. Without room, the record is counted as lost.
 */
void rfs_outcome_dirent(struct rfs_worker *worker, const struct iot_program_op *op,
			const char *name, int length, unsigned int type)
{
	struct iot_session *session = worker->replay->session;
	struct iot_rec_dirent r = {
		.task = worker->task->step.stats.task,
		.op = number_of(worker, op),
		.type = type, /* DT_* have the numbers of IOT_TYPES */
	};

	if (!session || !iot_session_enter(session))
		return;
	IOT_EMIT_EVENT(session, dirent, &r, name, min(length, IOT_TAIL_MAX_BYTES));
	iot_session_leave();
}

/**
 * rfs_outcome_end() - write the summary of a task that has ended
 * @replay: the replay
 * @stats: the counts; the time is filled in
 */
void rfs_outcome_end(struct rfs_replay *replay, struct iot_rec_played *stats)
{
	struct iot_session *session = replay->session;

	if (!session || !iot_session_enter(session))
		return;
	IOT_EMIT_EVENT(session, played, stats, NULL, 0);
	iot_session_leave();
}
