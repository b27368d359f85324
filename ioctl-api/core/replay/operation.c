// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * operation.c - the tables of iotape/program_ops.h as one table of numbers.
 */
#include "operation.h"

#include <iotape/schema.h>

static_assert(IOT_USE_COUNT <= 32, "each use is a bit of 32");

#define ADD_BIT(bit, name, sentence) | 1u << bit
#define FLAGS_bits(list) (0 list(ADD_BIT))
#define FLAGS_mask(mask) (mask)
#define FLAGS_request(mask) (mask)

#define FLAGS_OF(use, ...) __VA_OPT__(| FLAGS_##use(__VA_ARGS__))

#define ADD_USE(k, use, member, field, ...) | IOT_USE_BIT(use)
#define ADD_USE_OF_PROGRAM(k, use, member, ...) | IOT_USE_BIT(use)
#define ADD_FLAGS(k, use, member, field, ...) FLAGS_OF(use, ##__VA_ARGS__)
#define ADD_FLAGS_OF_PROGRAM(k, use, member, ...) FLAGS_OF(use, ##__VA_ARGS__)

#define OPERATION(number, k)                                                                       \
	[number] = {                                                                               \
		.uses = 0 IOT_OPERANDS_##k(ADD_USE, ADD_USE_OF_PROGRAM, IOT_OPERAND_SKIP, k),      \
		.flags = 0 IOT_OPERANDS_##k(ADD_FLAGS, ADD_FLAGS_OF_PROGRAM, IOT_OPERAND_SKIP, k), \
		.is_known = true,                                                                  \
	},
#define RECORDED(k, ...) OPERATION(IOT_KIND_##k, k)
#define UNRECORDED(number, k, sentence) OPERATION(IOT_PLAY_##k, k)

static const struct iot_operation operations[IOT_PLAY_END] = {
	IOT_OPERATIONS(RECORDED)
	IOT_SYNC_OPERATIONS(UNRECORDED)
};

/**
 * iot_operation() - the operands of a kind of operation
 * @kind: any number
 *
 * Return: the row of the table; NULL if there is no such operation.
 */
const struct iot_operation *iot_operation(u16 kind)
{
	return kind < IOT_PLAY_END && operations[kind].is_known ? &operations[kind] : NULL;
}
