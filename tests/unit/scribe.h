/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scribe.h - writes a small trace into the scratch directory, record by record.
 */
#ifndef IOTAPE_TEST_SCRIBE_H
#define IOTAPE_TEST_SCRIBE_H

#include "lib/iotape.h"

#define SCRIBE_DIR	1 /* the recorded directory, and its name */
#define SCRIBE_FILE	4 /* of 8192 bytes */
#define SCRIBE_NAME	5 /* "a", the name of the file */

/**
 * struct scribe - a trace that is being written
 * @writer: its writer
 * @now_ns: end of the last record; each is 1000 ns after the previous one
 * @span_ns: duration of the next operation
 * @task: task of the next operation: 1 or 2, each a process
 * @op: number of the last operation
 */
struct scribe {
	struct iot_writer *writer;
	u64 now_ns;
	u64 span_ns;
	u32 task;
	u32 op;
};

void scribe_begin(struct scribe *s);
void scribe_put(struct scribe *s, struct iot_record record, const char *tail);
void scribe_finish(struct scribe *s);

/* PUT(kind, .field = value, ...): a record of a scribe *s. */
#define PUT(kind_, ...) \
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } }, NULL)

#endif
