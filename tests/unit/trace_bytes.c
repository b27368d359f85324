// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_bytes.c - a trace as bytes in memory.
 */
#include "trace_bytes.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/crc32c.h"

static void append(struct trace_bytes *trace, const void *data, size_t bytes)
{
	if (trace->count + bytes >= trace->room) {
		trace->room = 2 * (trace->count + bytes + 1);
		trace->bytes = realloc(trace->bytes, trace->room);
		if (!trace->bytes)
			abort();
	}
	if (bytes)
		memcpy(trace->bytes + trace->count, data, bytes);
	trace->count += bytes;
}

void trace_open(struct trace_bytes *trace, const char *schema)
{
	struct iot_trace_head head = {
		.magic = IOT_TRACE_MAGIC,
		.major = cpu_to_le16(IOT_TRACE_MAJOR),
		.head_bytes = cpu_to_le16(sizeof(head)),
		.capture = "captured for you",
		.real_ns = cpu_to_le64(1000),
		.mono_ns = cpu_to_le64(10),
	};
	char *own = NULL;
	size_t bytes;

	*trace = (struct trace_bytes){};
	if (!schema && iot_schema_print(&own, &bytes))
		abort();
	bytes = strlen(schema ? schema : own);
	append(trace, &head, sizeof(head));
	append(trace, schema ? schema : own, bytes);
	free(own);
	while (trace->count % 8) /* alignment of structures in chunks */
		append(trace, "\n", 1);
	head.schema_bytes = cpu_to_le32((u32)(trace->count - sizeof(head)));
	memcpy(trace->bytes, &head, sizeof(head));
	trace->begin = trace->count;
	trace_seal_head(trace->bytes, trace->count);
}

static int path_fd = -1;

void trace_close(struct trace_bytes *trace)
{
	free(trace->bytes);
	if (path_fd >= 0)
		close(path_fd);
	path_fd = -1;
}

void trace_chunk(struct trace_bytes *trace, const struct iot_chunk_head *what, const void *payload,
		 size_t bytes)
{
	struct iot_chunk_head head = *what;
	size_t at = trace->count;

	head.magic = cpu_to_le32(IOT_CHUNK_MAGIC);
	if (!head.type)
		head.type = IOT_CHUNK_RECORDS;
	if (!head.raw_bytes)
		head.raw_bytes = cpu_to_le32((u32)bytes);
	head.stored_bytes = cpu_to_le32((u32)bytes);
	append(trace, &head, sizeof(head));
	append(trace, payload, bytes);
	trace_seal_chunk(trace->bytes, trace->count, at);
	if (head.type == IOT_CHUNK_RECORDS)
		trace->chunks[trace->chunk_count++] = at;
}

void trace_clocks(struct trace_bytes *trace, u32 stream, u64 sequence, const u64 *end_ns, u32 count)
{
	struct iot_chunk_head what = {
		.stream = cpu_to_le32(stream),
		.count = cpu_to_le32(count),
		.sequence = cpu_to_le64(sequence),
		.first_ns = cpu_to_le64(end_ns[0]),
		.last_ns = cpu_to_le64(end_ns[count - 1]),
	};
	u8 wire[64 * IOT_WIRE_clock], *p = wire;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct iot_rec_clock clock = { end_ns[i], stream };

		p = iot_put_clock(p, &clock, NULL, 0);
	}
	trace_chunk(trace, &what, wire, (size_t)(p - wire));
}

void trace_finish(struct trace_bytes *trace)
{
	struct iot_index_entry entries[64];
	struct iot_chunk_head what = {
		.type = IOT_CHUNK_INDEX,
		.count = cpu_to_le32((u32)trace->chunk_count),
	};
	size_t index = trace->count, i;

	for (i = 0; i < trace->chunk_count; i++) {
		const struct iot_chunk_head *head = trace_head(trace, trace->chunks[i]);

		entries[i] = (struct iot_index_entry){
			.offset_bytes = cpu_to_le64(trace->chunks[i]),
			.first_ns = head->first_ns,
			.last_ns = head->last_ns,
			.stream = head->stream,
			.count = head->count,
		};
	}
	trace_chunk(trace, &what, entries, trace->chunk_count * sizeof(entries[0]));
	what = (struct iot_chunk_head){
		.type = IOT_CHUNK_TRAILER,
		.sequence = cpu_to_le64(index),
	};
	trace_chunk(trace, &what, NULL, 0);
}

void trace_seal_head(u8 *bytes, size_t count)
{
	struct iot_trace_head *head = (struct iot_trace_head *)bytes;
	size_t schema_bytes;

	if (count < sizeof(*head))
		return;
	schema_bytes = le32_to_cpu(head->schema_bytes);
	if (schema_bytes <= count - sizeof(*head))
		head->schema_crc = cpu_to_le32(iot_crc32c(0, bytes + sizeof(*head), schema_bytes));
	head->head_crc = cpu_to_le32(iot_crc32c(0, head, offsetof(struct iot_trace_head, head_crc)));
}

void trace_seal_chunk(u8 *bytes, size_t count, size_t at)
{
	struct iot_chunk_head head;
	size_t stored_bytes;

	if (count < sizeof(head) || at > count - sizeof(head))
		return;
	memcpy(&head, bytes + at, sizeof(head));
	stored_bytes = le32_to_cpu(head.stored_bytes);
	if (stored_bytes <= count - at - sizeof(head))
		head.payload_crc = cpu_to_le32(iot_crc32c(0, bytes + at + sizeof(head), stored_bytes));
	head.head_crc = cpu_to_le32(iot_crc32c(0, &head, offsetof(struct iot_chunk_head, head_crc)));
	memcpy(bytes + at, &head, sizeof(head));
}

const char *trace_path(const u8 *bytes, size_t count)
{
	static char path[64];

	if (path_fd < 0)
		path_fd = memfd_create("trace", MFD_CLOEXEC);
	if (path_fd < 0 || ftruncate(path_fd, (off_t)count) ||
	    pwrite(path_fd, bytes, count, 0) != (ssize_t)count)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	return path;
}

struct iot_chunk_head *trace_head(const struct trace_bytes *trace, size_t at)
{
	return (struct iot_chunk_head *)(trace->bytes + at);
}
