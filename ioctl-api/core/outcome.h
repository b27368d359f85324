/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * outcome.h - the record of an operation that a replay has performed, for every engine.
 */
#ifndef IOTAPE_OUTCOME_H
#define IOTAPE_OUTCOME_H

#include "program.h"
#include "record.h"

/**
 * struct iot_found - what an operation found besides its result
 * @size_bytes: of the object of an open or stat
 * @cached_pages: pages of it in the page cache, of an open
 * @target: of a symbolic link, not terminated
 * @target_bytes: its length, 0 if there is none
 * @request: number of the request that was submitted
 */
struct iot_found {
	u64 size_bytes;
	u64 cached_pages;
	const char *target;
	u32 target_bytes;
	u64 request;
};

/* Of the operation in the traced task, so that the two can be paired; @index: in its own. */
static inline u32 iot_outcome_number(const struct iot_program_op *op, u32 index)
{
	return op->origin_op ? le32_to_cpu(op->origin_op) : index + 1;
}

void iot_outcome_fill(struct iot_record *r, const struct iot_program *program,
		      const struct iot_program_op *op, const struct iot_found *found, u64 page_bytes);

#endif
