/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * operation.h - the operands of a kind of operation, from the tables of iotape/program_ops.h.
 */
#ifndef IOTAPE_CORE_OPERATION_H
#define IOTAPE_CORE_OPERATION_H

#include "program.h"

/**
 * struct iot_operation - a kind of operation
 * @uses: for each enum iot_operand_use that one of its operands has, a bit
 * @flags: the bits that may be set in `flags`
 * @is_known: there is such an operation
 */
struct iot_operation {
	u32 uses;
	u32 flags;
	bool is_known;
};

#define IOT_USE_BIT(use) (1u << IOT_USE_##use)

/* For parameters of IOT_OPERANDS_<kind> that a caller has no use for. */
#define IOT_OPERAND_SKIP(...)

const struct iot_operation *iot_operation(u16 kind);

#endif
