// SPDX-License-Identifier: GPL-2.0-only
/*
 * sink.c - from messages to the trace file.
 *
 * Messages of one CPU are put together until a chunk is large enough to compress well,
 * or old enough that it should not be lost if the collector is killed.
 */
#include "sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "counters.h"
#include "memory.h"
#include "sink_files.h"
#include "sink_state.h"

#define CHUNK_BYTES  (256 << 10)
#define CHUNK_AGE_NS 1000000000ull

/**
 * sink_open() - begin a trace
 * @path: its file
 * @stream_fd: a pipe or socket for it instead, which becomes the sink's; 0 for none
 * @sink: out: to be freed by sink_close()
 *
 * Return: 0 or a negative errno.
 */
int sink_open(const char *path, int stream_fd, struct sink **sink)
{
	struct sink *s = calloc(1, sizeof(*s));
	unsigned char capture[16];
	int err;

	if (!s)
		return -ENOMEM;
	s->path = path;
	if (getrandom(capture, sizeof(capture), 0) != sizeof(capture))
		err = -EIO;
	else if (stream_fd)
		err = iot_writer_open_stream(stream_fd, capture, &s->writer);
	else
		err = iot_writer_open(path, capture, &s->writer);
	if (err) {
		sink_close(s);
		return err;
	}
	iot_writer_evict(s->writer);
	*sink = s;
	return 0;
}

static int stream_write(struct sink *sink, struct stream *stream)
{
	int err;

	if (!stream->bytes)
		return 0;
	stream->head.raw_bytes = cpu_to_le32((u32)stream->bytes);
	err = sink_files_announce(sink); /* of ids in it */
	if (!err)
		err = iot_writer_chunk(sink->writer, &stream->head, stream->records);
	if (!err)
		stream->bytes = 0;
	return err;
}

/**
 * sink_stream() - the stream of a CPU
 * @sink: the trace
 * @cpu: its number
 *
 * Return: NULL if there is no memory for it.
 */
struct stream *sink_stream(struct sink *sink, u32 cpu)
{
	if (cpu >= sink->stream_count) {
		struct stream *streams = realloc(sink->streams, (cpu + 1) * sizeof(*streams));

		if (!streams)
			return NULL;
		memset(streams + sink->stream_count, 0,
		       (cpu + 1 - sink->stream_count) * sizeof(*streams));
		sink->streams = streams;
		sink->stream_count = cpu + 1;
	}
	return &sink->streams[cpu];
}

static int stream_reserve(struct stream *stream, size_t bytes)
{
	unsigned char *records;

	if (stream->bytes + bytes <= stream->room)
		return 0;
	records = realloc(stream->records, stream->bytes + bytes);
	if (!records)
		return -ENOMEM;
	stream->records = records;
	stream->room = stream->bytes + bytes;
	return 0;
}

/**
 * sink_take() - put the records of a message into the file
 * @sink: the trace
 * @message: stays the caller's
 *
 * Return: 0 or a negative errno.
 */
int sink_take(struct sink *sink, const struct message *message)
{
	struct stream *stream = sink_stream(sink, le32_to_cpu(message->head.cpu));
	u64 sequence = le64_to_cpu(message->head.sequence);
	u32 count = le32_to_cpu(message->head.count);
	int err = sink_files_carry(sink, message);

	if (!stream || err)
		return stream ? err : -ENOMEM;
	if (sequence != stream->next_sequence) { /* a gap ends a chunk, so that readers see it */
		sink->tally.result.missing += sequence - stream->next_sequence;
		sink->part.missing += sequence - stream->next_sequence;
		err = stream_write(sink, stream);
		if (err)
			return err;
	}
	err = stream_reserve(stream, message->bytes);
	if (err)
		return err;
	if (!stream->bytes) {
		stream->since_ns = iot_clock_ns(CLOCK_MONOTONIC);
		stream->head = (struct iot_chunk_head){
			.stream = message->head.cpu,
			.sequence = cpu_to_le64(sequence - stream->base_sequence),
			.first_ns = message->head.first_ns,
		};
	}
	memcpy(stream->records + stream->bytes, message->records, message->bytes);
	stream->bytes += message->bytes;
	stream->head.count = cpu_to_le32(le32_to_cpu(stream->head.count) + count);
	stream->head.last_ns = message->head.last_ns;
	stream->lost = le64_to_cpu(message->head.lost);
	stream->head.lost = cpu_to_le64(stream->lost - stream->base_lost);
	stream->next_sequence = sequence + count;
	sink->part.records += count;
	tally_message(&sink->tally, message);
	return stream->bytes >= CHUNK_BYTES ? stream_write(sink, stream) : 0;
}

/**
 * sink_message() - take the records of a message
 * @sink: the trace
 * @message: stays the caller's
 *
 * Return: 0 or a negative errno.
 */
int sink_message(struct sink *sink, const struct message *message)
{
	return sink->files ? sink_files_message(sink, message) : sink_take(sink, message);
}

/**
 * sink_chunk() - take records that are a chunk already
 * @sink: the trace
 * @what: as for iot_writer_chunk()
 * @records: the records
 *
 * Return: 0 or a negative errno.
 */
int sink_chunk(struct sink *sink, const struct iot_chunk_head *what, const void *records)
{
	int err = iot_writer_chunk(sink->writer, what, records);

	if (!err)
		sink->tally.result.records += le32_to_cpu(what->count);
	return err;
}

/**
 * sink_flush() - write records that have waited long enough
 * @sink: the trace
 * @is_all: write everything
 *
 * Return: 0 or a negative errno.
 */
int sink_flush(struct sink *sink, bool is_all)
{
	u64 now = iot_clock_ns(CLOCK_MONOTONIC);
	int err = sink_files_announce(sink);
	u32 i;

	if (!err)
		err = iot_writer_flush(sink->writer);
	for (i = 0; i < sink->stream_count && !err; i++)
		if (is_all || now - sink->streams[i].since_ns > CHUNK_AGE_NS)
			err = stream_write(sink, &sink->streams[i]);
	return err;
}

static bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

/**
 * sink_sync() - let everything reach the disk
 * @sink: the trace
 *
 * Return: 0 or a negative errno.
 */
int sink_sync(struct sink *sink)
{
	int err = sink_flush(sink, true);

	return err ? err : iot_writer_sync(sink->writer);
}

/**
 * sink_sync_at_end() - each file of the trace is on the disk when it is complete
 * @sink: the trace
 */
void sink_sync_at_end(struct sink *sink)
{
	iot_writer_sync_at_end(sink->writer);
}

/**
 * sink_fact() - add a fact about the run
 * @fact: text of the form key=value
 *
 * Return: 0 or a negative errno.
 */
int sink_fact(struct sink *sink, const char *fact)
{
	sink->has_filter |= begins_with(fact, IOT_FACT_OPS "=") || begins_with(fact, IOT_FACT_FILTER "=") || begins_with(fact, IOT_FACT_ONLY "=");
	sink->has_counters |= begins_with(fact, IOT_FACT_COUNTERS "=");
	return iot_writer_fact(sink->writer, iot_clock_ns(CLOCK_MONOTONIC), fact);
}

/**
 * sink_clock() - add a pair of clock readings
 *
 * The wall clock is read between two readings of the monotonic clock.
 *
 * Return: 0 or a negative errno.
 */
int sink_clock(struct sink *sink)
{
	u64 before_ns = iot_clock_ns(CLOCK_MONOTONIC), real_ns = iot_clock_ns(CLOCK_REALTIME);
	u64 after_ns = iot_clock_ns(CLOCK_MONOTONIC);
	struct iot_record record = {
		.kind = IOT_KIND_clock,
		.clock.time_ns = before_ns + (after_ns - before_ns) / 2,
		.clock.real_ns = real_ns,
	};
	int err = sink_files_announce(sink); /* a file begins with its beginning */

	return err ? err : iot_writer_record(sink->writer, &record);
}

/**
 * sink_memory() - add the state of the machine's memory
 * @sink: the trace
 *
 * Return: 0 or a negative errno.
 */
int sink_memory(struct sink *sink)
{
	struct iot_record record;

	return memory_read(&record) ? 0 : iot_writer_record(sink->writer, &record);
}

static int counters_add(struct sink *sink, int session_fd, u32 flags)
{
	int err = sink_flush(sink, true); /* names come first */

	return err ? err : counters_write(sink->writer, session_fd, flags, iot_clock_ns(CLOCK_MONOTONIC), sink->files ? sink_files_need : NULL, sink,
						&sink->counted);
}

/**
 * sink_has_counters() - does the session count operations instead of recording them?
 * @sink: the trace
 */
bool sink_has_counters(const struct sink *sink)
{
	return sink->has_counters;
}

/**
 * sink_aside() - add the counters that the session has set aside
 * @sink: the trace
 * @session_fd: the session, which counts
 *
 * Return: 0 or a negative errno.
 */
int sink_aside(struct sink *sink, int session_fd)
{
	return counters_add(sink, session_fd, IOT_COUNTERS_ASIDE);
}

/**
 * sink_turn() - add the counters of a session since the last call, and count from 0 again
 * @sink: the trace
 * @session_fd: the session, which counts
 *
 * Return: 0 or a negative errno. Without memory in the kernel nothing is added: the next call has these operations, too.
 */
int sink_turn(struct sink *sink, int session_fd)
{
	int err;

	if (ioctl(session_fd, IOT_IOC_TURN))
		return errno == ENOMEM ? 0 : -errno;
	err = sink_aside(sink, session_fd);
	return err ? err : sink_clock(sink);
}

/**
 * sink_counters() - add the counters of a session, if it counts operations instead of recording them
 * @sink: the trace
 * @session_fd: the session, which has ended
 *
 * Return: 0 or a negative errno.
 */
int sink_counters(struct sink *sink, int session_fd)
{
	int err;

	if (!sink->has_counters)
		return 0;
	err = counters_add(sink, session_fd, 0);
	return err ? err : sink_counted(sink);
}

/**
 * sink_counted() - state the sums of the counters in this file
 * @sink: the trace
 *
 * Return: 0 or a negative errno.
 */
int sink_counted(struct sink *sink)
{
	const struct counted *sum = &sink->counted;
	char fact[96];

	sink->tally.result.operations += sum->operations;
	snprintf(fact, sizeof(fact), "omission.counted=%llu %llu %llu", (unsigned long long)sum->operations,
		 (unsigned long long)sum->operations, (unsigned long long)sum->bytes);
	return sink_fact(sink, fact);
}

/**
 * sink_expect_filter() - state the number of excluded operations at the end of the trace: a filter is about to be set
 * @sink: the trace
 */
void sink_expect_filter(struct sink *sink)
{
	sink->has_filter = true;
}

/**
 * sink_refused() - state the number of operations that a filter excluded
 * @sink: the trace
 * @refused: their number in this file and those before it
 *
 * Return: 0 or a negative errno.
 */
int sink_refused(struct sink *sink, u64 refused)
{
	u64 count = refused > sink->before.refused ? refused - sink->before.refused : 0;
	char fact[96];

	sink->part.refused = count;
	snprintf(fact, sizeof(fact), "omission.filtered=%llu %s", (unsigned long long)count, count ? "? ?" : "0 0");
	return sink_fact(sink, fact);
}

/* Operations excluded by a filter: in total, and of each kind if the filter is an expression. */
static int put_filtered(struct sink *sink, const struct iot_message_end *end)
{
	const struct iot_kind_info *info;
	char fact[96];
	int err, i;

	sink->tally.result.refused = le64_to_cpu(end->refused);
	err = sink_refused(sink, sink->tally.result.refused);
	for (i = 0; i < IOT_REFUSED_KINDS && !err; i++) {
		info = iot_kind_info((u16)(IOT_REFUSED_FIRST + i));
		if (!end->refused_of[i] || !info)
			continue;
		snprintf(fact, sizeof(fact), "filtered.%s=%llu", info->name,
			 (unsigned long long)le64_to_cpu(end->refused_of[i]));
		err = sink_fact(sink, fact);
	}
	return err;
}

/**
 * sink_finish() - complete the trace
 * @sink: the trace
 * @end: totals of the kernel, or NULL if not received
 * @reason: why it ended, "" if as planned
 *
 * Return: 0 or a negative errno.
 */
int sink_finish(struct sink *sink, const struct iot_message_end *end, const char *reason)
{
	struct iot_record record = {
		.kind = IOT_KIND_end,
		.tail = (const u8 *)reason,
		.tail_bytes = (u16)strlen(reason),
		.end.time_ns = iot_clock_ns(CLOCK_MONOTONIC),
		.end.records = sink->tally.result.records,
	};
	int err = sink_flush(sink, true);

	if (!err && end && sink->has_filter)
		err = put_filtered(sink, end);
	if (err)
		return err;
	if (end) {
		tally_end(&sink->tally, end);
		record.end.records = le64_to_cpu(end->records) - sink->before.records;
		record.end.lost = sink->tally.result.lost - sink->before.lost;
		record.end.backpressure_waits = sink->tally.result.backpressure_waits;
	}
	err = iot_writer_record(sink->writer, &record);
	if (!err)
		err = iot_writer_finish(sink->writer);
	sink->tally.result.is_complete = !err && end;
	return err;
}

/**
 * sink_result() - the result of the recording
 */
void sink_result(const struct sink *sink, struct collector_result *result)
{
	tally_result(&sink->tally, result);
	if (sink->files)
		sink_files_result(sink, result);
	result->bytes = sink->before.bytes + iot_writer_bytes(sink->writer);
}

/**
 * sink_close() - free; NULL is allowed
 */
void sink_close(struct sink *sink)
{
	u32 i;

	if (!sink)
		return;
	for (i = 0; i < sink->stream_count; i++)
		free(sink->streams[i].records);
	free(sink->streams);
	sink_files_close(sink->files);
	iot_writer_close(sink->writer);
	free(sink);
}
