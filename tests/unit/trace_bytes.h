/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_bytes.h - a trace as bytes in memory: made by hand, changed, sealed again, and
 * given to the reader as a file that has no name.
 *
 * Memory runs out by abort(): these are tests.
 */
#ifndef IOTAPE_TEST_TRACE_BYTES_H
#define IOTAPE_TEST_TRACE_BYTES_H

#include "lib/iotape.h"

/**
 * struct trace_bytes - a trace
 * @bytes: all of it
 * @count: their number
 * @room: what is allocated
 * @begin: where the first chunk begins
 * @chunks: where each chunk of records begins
 * @chunk_count: their number
 */
struct trace_bytes {
	u8 *bytes;
	size_t count;
	size_t room;
	size_t begin;
	size_t chunks[64];
	size_t chunk_count;
};

/* Begin one, with this embedded schema, or our own if NULL. */
void trace_open(struct trace_bytes *trace, const char *schema);
void trace_close(struct trace_bytes *trace);

/* Append a chunk that is not compressed; of @what type, raw_bytes and the like are set here. */
void trace_chunk(struct trace_bytes *trace, const struct iot_chunk_head *what, const void *payload,
		 size_t bytes);

/* Append a chunk of @count clock records of one stream, which end at these times. */
void trace_clocks(struct trace_bytes *trace, u32 stream, u64 sequence, const u64 *end_ns, u32 count);

/* Append index and trailer. */
void trace_finish(struct trace_bytes *trace);

/* After a change: make the checksums right again, of the file's head, or of one chunk. */
void trace_seal_head(u8 *bytes, size_t count);
void trace_seal_chunk(u8 *bytes, size_t count, size_t at);

/* The bytes as a file: a path that is valid until trace_close(). */
const char *trace_path(const u8 *bytes, size_t count);

/* The head of the chunk that begins there, which must be a multiple of 8. */
struct iot_chunk_head *trace_head(const struct trace_bytes *trace, size_t at);

#endif
