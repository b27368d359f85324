/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sink_state.h - the trace that is being written, for the parts of the sink.
 */
#ifndef IOTAPE_SINK_STATE_H
#define IOTAPE_SINK_STATE_H

#include "counters.h"
#include "lib/iotape.h"
#include "queue.h"
#include "tally.h"

struct sink_files;

/**
 * struct stream - records of one CPU
 * @records, @bytes, @room: those that are not written yet
 * @head: of their chunk
 * @since_ns: when the first of them came
 * @next_sequence: number of the next record to arrive
 * @lost: records that the kernel dropped so far
 * @base_sequence, @base_lost: both when the file began
 * @is_held: records that arrive are for the next file
 */
struct stream {
	unsigned char *records;
	size_t bytes;
	size_t room;
	struct iot_chunk_head head;
	u64 since_ns;
	u64 next_sequence;
	u64 lost;
	u64 base_sequence;
	u64 base_lost;
	bool is_held;
};

/**
 * struct sink_part - sums over a file, or over all before it
 * @records: of the kernel; in sums over files with those that are missing
 * @missing: that the kernel sent and that did not arrive
 * @lost: that the kernel dropped
 * @refused: operations that a filter excluded
 * @bytes: length of the files
 */
struct sink_part {
	u64 records;
	u64 missing;
	u64 lost;
	u64 refused;
	u64 bytes;
};

/**
 * struct sink - a trace
 * @writer: its file, or the current one of several
 * @streams: by CPU
 * @tally: of the recording
 * @path: of its file; of several that of the first
 * @has_filter, @has_counters: facts say so
 * @counted: sums of the counters in this file
 * @files: of a trace in several files, NULL if it is not
 * @part: of this file
 * @before: of all files before it
 */
struct sink {
	struct iot_writer *writer;
	struct stream *streams;
	u32 stream_count;
	struct tally tally;
	const char *path;
	bool has_filter;
	bool has_counters;
	struct counted counted;
	struct sink_files *files;
	struct sink_part part;
	struct sink_part before;
};

struct stream *sink_stream(struct sink *sink, u32 cpu);
int sink_take(struct sink *sink, const struct message *message);
int sink_refused(struct sink *sink, u64 refused);
int sink_aside(struct sink *sink, int session_fd);
int sink_counted(struct sink *sink);

#endif
