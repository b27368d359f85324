/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * chunk.h - chunks of a trace file: find them and check them.
 */
#ifndef IOTAPE_LIB_CHUNK_H
#define IOTAPE_LIB_CHUNK_H

#include <iotape/reject.h>
#include <iotape/trace_file.h>

#include "core/port.h"
#include "unpack.h"

/**
 * struct chunk_list - the chunks of records of a trace, in the order of the file
 * @is_complete: the trace has a trailer at its end
 * @has_trailer: the examined chunks include a trailer
 * @is_torn: it ends in the middle of a chunk
 * @end_bytes: end of the last whole chunk, if the trace has no trailer
 * @summaries_bytes: first chunk of summaries; 0 if the trace has none
 * @index_bytes: end of the last one
 */
struct chunk_list {
	struct iot_index_entry *entries;
	size_t count;
	bool is_complete;
	bool has_trailer;
	bool is_torn;
	u64 end_bytes;
	u64 summaries_bytes;
	u64 index_bytes;
};

int chunk_list_add(struct chunk_list *list, size_t *room, u64 offset_bytes, const struct iot_chunk_head *head);
int chunk_list_more(int fd, u64 begin_bytes, u64 file_bytes, struct chunk_list *list,
		    struct iot_reject *reject);
int chunk_list_read(int fd, u64 begin_bytes, u64 file_bytes, struct chunk_list *list,
		    struct iot_reject *reject);
int chunk_head_read(int fd, u64 offset_bytes, u64 file_bytes, struct iot_chunk_head *head,
		    struct iot_reject *reject);
void chunk_settle(struct iot_chunk_head *head, const u8 *raw);

#endif
