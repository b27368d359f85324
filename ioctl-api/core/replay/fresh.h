/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * fresh.h - the memory that a read fills, as the traced program had it.
 *
 * A program that reads into memory for the first time pays for it in the read: page faults allocate and clear pages. The
 * trace has their number. All reads of a worker use one buffer, whose pages stay; before the think time of a read, the
 * worker gives as many of them back as the program had faults, so that the read takes the same faults.
 *
 * Memory of 2 MiB and more can consist of huge pages, where one fault stands for 512 pages. Such a read gets a mapping of
 * its own, as the program had one, and the kernel chooses the size of its pages.
 */
#ifndef IOTAPE_CORE_FRESH_H
#define IOTAPE_CORE_FRESH_H

#include <iotape/control.h>

#include "program.h"

#define IOT_FRESH_HUGE_BYTES (2ull << 20)
#define IOT_FRESH_MAX_BYTES  (256ull << 20) /* a longer read uses the mapping several times */

/**
 * struct iot_fresh - memory for a read
 * @own_bytes: length of a new mapping for it; 0: it uses the worker's buffer
 * @touched_bytes: pages of the buffer that must be in memory first, from its beginning; 0: none
 * @fresh_bytes: pages of the buffer that must then be given back, from its beginning
 */
struct iot_fresh {
	u64 own_bytes;
	u64 touched_bytes;
	u64 fresh_bytes;
};

static inline u64 iot_fresh_round_up(u64 bytes, u64 page_bytes)
{
	return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

static inline u64 iot_fresh_lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

/**
 * iot_fresh_of() - memory for a read
 * @op: a read, verified
 * @page_bytes: page size of the machine
 */
static inline struct iot_fresh iot_fresh_of(const struct iot_program_op *op, u64 page_bytes)
{
	u64 length_bytes = le64_to_cpu(op->length_bytes), faults = le32_to_cpu(op->faults);
	u64 buffer_bytes = iot_fresh_lesser(iot_fresh_round_up(length_bytes, page_bytes), IOT_WORKER_BUFFER_BYTES);

	if (faults && length_bytes >= IOT_FRESH_HUGE_BYTES && faults >= length_bytes / IOT_FRESH_HUGE_BYTES)
		return (struct iot_fresh){
			.own_bytes = iot_fresh_lesser(iot_fresh_round_up(length_bytes, page_bytes), IOT_FRESH_MAX_BYTES),
		};
	if (faults * page_bytes >= buffer_bytes)
		return (struct iot_fresh){ .fresh_bytes = buffer_bytes };
	return (struct iot_fresh){ .touched_bytes = buffer_bytes, .fresh_bytes = faults * page_bytes };
}

#endif
