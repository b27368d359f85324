/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sink.h - messages gathered into chunks, and chunks written to the trace.
 */
#ifndef IOTAPE_SINK_H
#define IOTAPE_SINK_H

#include "collectord.h"
#include "lib/iotape.h"
#include "queue.h"

struct sink;

int sink_open(const char *path, int stream_fd, struct sink **sink);
int sink_message(struct sink *sink, const struct message *message);
int sink_chunk(struct sink *sink, const struct iot_chunk_head *what, const void *records);
int sink_fact(struct sink *sink, const char *fact);
int sink_program(struct sink *sink, const struct iot_program *program);
int sink_clock(struct sink *sink);
int sink_memory(struct sink *sink);
int sink_counters(struct sink *sink, int session_fd);
bool sink_has_counters(const struct sink *sink);
int sink_turn(struct sink *sink, int session_fd);
void sink_expect_filter(struct sink *sink);
int sink_describe(struct sink *sink, const struct collector_options *options);
int sink_conclude(struct sink *sink, const char *last_fact, const struct iot_message_end *end,
		  const char *reason);
int sink_flush(struct sink *sink, bool is_all);
int sink_sync(struct sink *sink);
void sink_sync_at_end(struct sink *sink);
int sink_finish(struct sink *sink, const struct iot_message_end *end, const char *reason);
void sink_result(const struct sink *sink, struct collector_result *result);
void sink_close(struct sink *sink);

#endif
