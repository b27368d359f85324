/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_bytes.h - a trace as bytes in memory: built by hand, modified, its checksums corrected, and
 * passed to the reader as an unnamed file.
 *
 * Calls abort() if memory is exhausted: these are tests.
 */
#ifndef IOTAPE_TEST_TRACE_BYTES_H
#define IOTAPE_TEST_TRACE_BYTES_H

#include "lib/iotape.h"

/**
 * struct trace_bytes - a trace
 * @bytes: contents
 * @count: their number
 * @room: allocated bytes
 * @begin: position of the first chunk
 * @chunks: position of each chunk of records
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

/* Begin a trace with this embedded schema, or that of this version if NULL. */
void trace_open(struct trace_bytes *trace, const char *schema);
void trace_close(struct trace_bytes *trace);

/* Append an uncompressed chunk of type @what; sets raw_bytes and other lengths. */
void trace_chunk(struct trace_bytes *trace, const struct iot_chunk_head *what, const void *payload,
		 size_t bytes);

/* Append a chunk of @count clock records of one stream, with these end times. */
void trace_clocks(struct trace_bytes *trace, u32 stream, u64 sequence, const u64 *end_ns, u32 count);

/* Append index and trailer. */
void trace_finish(struct trace_bytes *trace);

/* After a change: correct the checksums of the file's head, or of a chunk. */
void trace_seal_head(u8 *bytes, size_t count);
void trace_seal_chunk(u8 *bytes, size_t count, size_t at);

/* The bytes as a file: a path that is valid until trace_close(). */
const char *trace_path(const u8 *bytes, size_t count);

/* The head of the chunk at this position, which must be a multiple of 8. */
struct iot_chunk_head *trace_head(const struct trace_bytes *trace, size_t at);

#endif
