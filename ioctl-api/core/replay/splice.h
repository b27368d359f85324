/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * splice.h - the length of a splice from a file into a pipe, in every engine.
 *
 * A pipe has slots for pages, and pages keep their offset from the file: a read that begins within a page
 * leaves a part of a slot empty. An engine discards the pages, so there is no other limit.
 */
#ifndef IOTAPE_CORE_SPLICE_H
#define IOTAPE_CORE_SPLICE_H

#include "program.h"

#define IOT_PIPE_SLOTS	   16u	  /* of a pipe of the default size */
#define IOT_PIPE_SLOTS_MAX 65536u /* a pipe of 256 MiB */

/**
 * iot_splice_slots() - free slots that the traced pipe had
 * @op: a read with IOT_RW_splice
 * @page_bytes: size of a page
 *
 * If the traced splice moved less than it asked for, and ended with a page, its pipe was full; if it moved
 * more than an ordinary pipe takes, that was a larger one.
 *
 * Return: from 1 to IOT_PIPE_SLOTS_MAX; those of an ordinary pipe where the trace does not show it.
 */
static inline u32 iot_splice_slots(const struct iot_program_op *op, u64 page_bytes)
{
	u64 into_page_bytes = le64_to_cpu(op->offset_bytes) & (page_bytes - 1);
	s64 moved_bytes = (s64)le64_to_cpu(op->result);
	u64 end_bytes = into_page_bytes + (u64)moved_bytes;
	u32 slots;

	if (moved_bytes <= 0 || (u64)moved_bytes > IOT_PROGRAM_LENGTH_MAX)
		return IOT_PIPE_SLOTS;
	slots = (u32)(end_bytes / page_bytes) + (end_bytes % page_bytes != 0);
	if ((u64)moved_bytes == le64_to_cpu(op->length_bytes) || end_bytes % page_bytes)
		slots = slots > IOT_PIPE_SLOTS ? slots : IOT_PIPE_SLOTS;
	return slots < IOT_PIPE_SLOTS_MAX ? slots : IOT_PIPE_SLOTS_MAX;
}

/**
 * iot_splice_bytes() - bytes that a splice into such a pipe can move
 * @op: a read with IOT_RW_splice
 * @page_bytes: size of a page
 *
 * Return: bytes to request where no pipe limits them; no more than the operation requests.
 */
static inline u64 iot_splice_bytes(const struct iot_program_op *op, u64 page_bytes)
{
	u64 room_bytes = iot_splice_slots(op, page_bytes) * page_bytes -
			 (le64_to_cpu(op->offset_bytes) & (page_bytes - 1));
	u64 length_bytes = le64_to_cpu(op->length_bytes);

	return length_bytes < room_bytes ? length_bytes : room_bytes;
}

#endif
