/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * outcome.h - the record of an operation that a replay has run, for every engine.
 */
#ifndef IOTAPE_OUTCOME_H
#define IOTAPE_OUTCOME_H

#include "program.h"
#include "core/trace/record.h"
#include "substitute.h"

/**
 * struct iot_observed - observations of an operation besides its result
 * @size_bytes: of the object of an open or stat
 * @cached_pages: pages of it in the page cache, of an open
 * @target: of a symbolic link, not terminated
 * @target_bytes: its length, 0 if there is none
 * @request: number of the request that was submitted
 * @lock: IOT_LOCK_*: of a test of a lock, the conflicting one
 * @is_harmless: the new object would have given rights, and was created without them, see harmless.h
 */
struct iot_observed {
	u64 size_bytes;
	u64 cached_pages;
	const char *target;
	u32 target_bytes;
	u64 request;
	u32 lock;
	bool is_harmless;
};

/* Of the operation in the traced task, so that the two can be paired; @index: in its own. */
static inline u32 iot_outcome_number(const struct iot_program_op *op, u32 index)
{
	return op->origin_op ? le32_to_cpu(op->origin_op) : index + 1;
}

bool iot_outcome_is_equivalent(const struct iot_program *program, const struct iot_program_op *op, s64 result);

/* Has it the result that it had in the trace, or one that means the same? */
static inline bool iot_outcome_is_expected(const struct iot_program *program,
					   const struct iot_program_op *op, s64 result)
{
	return result == (s64)le64_to_cpu(op->result) || iot_outcome_is_equivalent(program, op, result);
}

/*
 * A lock for which the task waited in vain. An engine requests it as any other. Refused, the operation ends as in
 * the trace; granted, the engine releases the lock at once, and the operation ends with 0, which differs.
 */
static inline bool iot_is_lock_in_vain(const struct iot_program_op *op)
{
	return le16_to_cpu(op->kind) == IOT_KIND_lock &&
	       iot_is_wait_in_vain(le32_to_cpu(op->flags), (s64)le64_to_cpu(op->result));
}

#define IOT_VERDICT_NONE (~0u)

/*
 * The verdict for a divergence record. @refused: the target's own result, if an emulation took the place of the
 * operation; else 0. Return: an enum iot_verdict, or IOT_VERDICT_NONE if the operation ended as in the trace.
 */
static inline u32 iot_outcome_verdict(const struct iot_program *program, const struct iot_program_op *op,
				      const struct iot_observed *observed, s64 result, s64 refused)
{
	if (refused)
		return IOT_VERDICT_emulated;
	if (!iot_outcome_is_expected(program, op, result))
		return iot_is_unsupported(op, result) ? IOT_VERDICT_unable : IOT_VERDICT_otherwise;
	return observed->is_harmless && result >= 0 ? IOT_VERDICT_harmless : IOT_VERDICT_NONE;
}

void iot_outcome_fill(struct iot_record *r, const struct iot_program *program,
		      const struct iot_program_op *op, const struct iot_observed *observed, u64 page_bytes);

#endif
