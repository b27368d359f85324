/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * substitute.h - operations that a target does not support, and their emulation.
 */
#ifndef IOTAPE_CORE_SUBSTITUTE_H
#define IOTAPE_CORE_SUBSTITUTE_H

#include "program.h"

bool iot_is_unsupported(const struct iot_program_op *op, s64 result);
bool iot_substitute(const struct iot_program_op *op, u64 size_bytes, u32 step,
		    struct iot_program_op *next);

/* Is the step the operation itself, done in a plainer way? Then its result is the operation's. */
static inline bool iot_substitute_is_retry(const struct iot_program_op *op,
					   const struct iot_program_op *step)
{
	return op->kind == step->kind;
}

#endif
