/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * summary.h - the summaries of the chunks of a trace: made, written and read.
 */
#ifndef IOTAPE_LIB_SUMMARY_H
#define IOTAPE_LIB_SUMMARY_H

#include "iotape.h"
#include "schema.h"

/**
 * struct summary_list - summaries of successive chunks as bytes; begins as zeros
 * @bytes, @used_bytes, @room_bytes: struct iot_chunk_summary, each with its tasks
 * @count: their number
 */
struct summary_list {
	u8 *bytes;
	size_t used_bytes;
	size_t room_bytes;
	u32 count;
};

/**
 * summary_fn - called for each summary of a trace
 * @context: as given to summaries_read()
 * @number: of the entry of the index
 * @summary: valid until the function returns
 *
 * Return: 0, or a negative errno that ends the reading.
 */
typedef int (*summary_fn)(void *context, u32 number, const struct iot_summary *summary);

void summary_make(struct iot_summary *summary, const struct iot_schema *schema, const u8 *records, size_t bytes);
bool summary_is_equal(const struct iot_summary *one, const struct iot_summary *other);
int summary_list_add(struct summary_list *list, const struct iot_summary *summary);
u32 summary_list_part(const struct summary_list *list, size_t at_bytes, size_t *part_bytes);
s64 summary_decode(const u8 *bytes, size_t left, struct iot_summary *summary);
int summaries_read(int fd, u64 begin_bytes, u64 end_bytes, summary_fn fn, void *context);

#endif
