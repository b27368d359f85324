/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sink_files.h - a trace in several files, one after the other.
 */
#ifndef IOTAPE_SINK_FILES_H
#define IOTAPE_SINK_FILES_H

#include "collectord.h"
#include "queue.h"

struct sink;
struct sink_files;

int sink_files_open(const struct collector_options *options, struct sink **sink);
void sink_files_close(struct sink_files *files);
int sink_files_message(struct sink *sink, const struct message *message);
int sink_files_tick(struct sink *sink, u64 now_ns);
int sink_files_mark(struct sink *sink, u64 number);
int sink_files_end(struct sink *sink);
bool sink_files_are_turning(const struct sink *sink);
void sink_files_result(const struct sink *sink, struct collector_result *result);
const char *sink_files_path(const struct sink *sink);

/* For the other parts of the sink. All do nothing for a trace in one file. */
int sink_files_carry(struct sink *sink, const struct message *message);
int sink_files_need(void *sink, const struct iot_record *record);
int sink_files_announce(struct sink *sink);
int sink_files_describe(struct sink *sink);

#endif
