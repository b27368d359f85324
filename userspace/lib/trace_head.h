/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * trace_head.h - the beginning of a trace file: header and schema.
 */
#ifndef IOTAPE_LIB_TRACE_HEAD_H
#define IOTAPE_LIB_TRACE_HEAD_H

#include <iotape/reject.h>
#include <iotape/trace_file.h>

#include "core/port.h"

/**
 * struct trace_begin - the beginning of a trace
 * @file_bytes: length of the file
 * @head: its header, checked
 * @schema: text of the schema, freed by the caller
 * @chunk_bytes: where the first chunk begins
 */
struct trace_begin {
	u64 file_bytes;
	struct iot_trace_head head;
	char *schema;
	u64 chunk_bytes;
};

int trace_begin_read(int fd, struct trace_begin *begin, struct iot_reject *reject);

#endif
