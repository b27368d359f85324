/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - the counters of a session as records, see counters.c.
 */
#ifndef IOTAPE_COLLECTORD_COUNTERS_H
#define IOTAPE_COLLECTORD_COUNTERS_H

#include <iotape/control.h>

#include "lib/iotape.h"

/**
 * struct counted - all rows together
 * @operations: without the ends of asynchronous ones, as in struct iot_omissions
 * @bytes: that these moved
 */
struct counted {
	u64 operations;
	u64 bytes;
};

/* A record with ids is about to be written. Return: 0 or a negative errno. */
typedef int (*counters_need_fn)(void *context, const struct iot_record *record);

int counters_write(struct iot_writer *writer, int session_fd, u32 flags, u64 time_ns, counters_need_fn need, void *context,
		   struct counted *sum);
int counter_write(struct iot_writer *writer, const struct iot_counter *row, u64 time_ns);

#endif
