// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight_dump.c - writes the records of a flight recorder as a complete trace.
 *
 * It begins with the state that its records need, and states the number of records that are not in it. Numbers of
 * records in a stream, and numbers of dropped ones, count from the first record in it: a gap before that is not a gap of
 * this trace.
 */
#include "flight_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "memory.h"

#define CHUNK_BYTES (256 << 10)
#define BEFORE_NS   1000000 /* for the handles and mappings from before, a nanosecond each */

/* The information of the records before any is written. */
struct survey {
	struct flight_dump *dump;
	u64 begin_ns;
	u64 first_end_ns;
	u64 last_end_ns;
};

static int survey_record(void *context, u32 stream, const struct iot_record *record)
{
	struct survey *survey = context;
	u64 end_ns = iot_record_end_ns(record), begin_ns = record->fact.time_ns; /* all kinds begin with a time */

	if (begin_ns < survey->begin_ns)
		survey->begin_ns = begin_ns;
	if (stream && end_ns < survey->first_end_ns) /* records of the collector are not operations */
		survey->first_end_ns = end_ns;
	if (stream && end_ns > survey->last_end_ns)
		survey->last_end_ns = end_ns;
	survey->dump->records++;
	return flight_state_mark(survey->dump->state, record);
}

static int survey_all(struct survey *survey)
{
	const struct flight_ring *ring = survey->dump->ring;
	u32 i;
	int err = 0;

	flight_state_begin(survey->dump->state);
	for (i = 0; i < ring->stream_count && !err; i++)
		err = flight_ring_walk(ring, i, survey_record, survey);
	if (survey->begin_ns > BEFORE_NS)
		survey->begin_ns -= BEFORE_NS;
	if (survey->last_end_ns)
		survey->dump->window_ns = survey->last_end_ns - survey->first_end_ns;
	return err;
}

/* -- records of its own -------------------------------------------------------------------------- */

static int put_clock(struct iot_writer *writer, u64 time_ns, u64 real_ns)
{
	const struct iot_record record = {
		.kind = IOT_KIND_clock,
		.clock = { .time_ns = time_ns, .real_ns = real_ns },
	};

	return iot_writer_record(writer, &record);
}

/* The loss of older records, and of names, as far as it is known. */
static int put_omissions(const struct flight_dump *dump, struct iot_writer *writer, u64 time_ns)
{
	static const enum iot_omission_reason reasons[] = { IOT_OMISSION_evicted, IOT_OMISSION_forgotten };
	struct iot_omissions omissions = {};
	char text[IOT_OMISSION_TEXT_BYTES];
	int err = 0, i;

	snprintf(text, sizeof(text), "this dump has the last %.3f s", (double)dump->window_ns / 1e9);
	iot_omissions_add(&omissions, IOT_OMISSION_evicted, dump->evicted.count, dump->evicted.operations,
			  dump->evicted.bytes, text);
	iot_omissions_add(&omissions, IOT_OMISSION_forgotten, flight_state_forgotten(dump->state), 0, 0, NULL);
	for (i = 0; i < 2 && !err; i++) {
		iot_omission_fact(&omissions, reasons[i], text);
		err = iot_writer_fact(writer, time_ns, text);
	}
	return err;
}

static int put_beginning(struct flight_dump *dump, struct iot_writer *writer, u64 time_ns)
{
	const char *const *fact;
	char text[512];
	u64 real_ns = flight_state_real_ns(dump->state, time_ns);
	int err = put_clock(writer, time_ns, real_ns ? real_ns : dump->begin_real_ns + time_ns - dump->begin_ns);

	for (fact = dump->facts; fact && *fact && !err; fact++)
		err = iot_writer_fact(writer, time_ns, *fact);
	snprintf(text, sizeof(text), "flight.dump=%llu", (unsigned long long)dump->number);
	if (!err)
		err = iot_writer_fact(writer, time_ns, text);
	snprintf(text, sizeof(text), "flight.cause=%s", dump->cause);
	if (!err)
		err = iot_writer_fact(writer, time_ns, text);
	if (!err)
		err = put_omissions(dump, writer, time_ns);
	return err ? err : flight_state_write(dump->state, writer, time_ns, &dump->records);
}

static int put_own(void *context, u32 stream, const struct iot_record *record)
{
	struct iot_writer *writer = context;

	(void)stream;
	return iot_writer_record(writer, record);
}

static int put_end(const struct flight_dump *dump, struct iot_writer *writer, u64 lost)
{
	struct iot_record record;
	char partial[512];
	int err = put_clock(writer, iot_clock_ns(CLOCK_MONOTONIC), iot_clock_ns(CLOCK_REALTIME));

	if (!err && !memory_read(&record))
		err = iot_writer_record(writer, &record);
	if (!err)
		err = iot_writer_fact(writer, iot_clock_ns(CLOCK_MONOTONIC), dump->last_fact);
	snprintf(partial, sizeof(partial), "partial=%s", dump->reason);
	if (!err && *dump->reason && strncmp(dump->last_fact, "partial=", 8))
		err = iot_writer_fact(writer, iot_clock_ns(CLOCK_MONOTONIC), partial);
	record = (struct iot_record){
		.kind = IOT_KIND_end,
		.tail = (const u8 *)dump->reason,
		.tail_bytes = (u16)strlen(dump->reason),
		.end = { .time_ns = iot_clock_ns(CLOCK_MONOTONIC), .records = dump->records, .lost = lost },
	};
	return err ? err : iot_writer_record(writer, &record);
}

/* -- records of the kernel ------------------------------------------------------------------------- */

/* Records of consecutive blocks, until there are enough for a chunk. */
struct chunk {
	struct iot_chunk_head head;
	u64 sequence; /* of the next record */
	u64 lost;
	u32 count;
	size_t bytes;
	u8 *records;
};

static int chunk_write(struct chunk *chunk, struct iot_writer *writer)
{
	struct iot_record first, last;
	size_t at = 0;
	int n, err;

	if (!chunk->bytes)
		return 0;
	n = iot_record_decode(chunk->records, chunk->bytes, &first);
	for (last = first; n > 0 && at < chunk->bytes; at += (size_t)n)
		n = iot_record_decode(chunk->records + at, chunk->bytes - at, &last);
	chunk->head.raw_bytes = cpu_to_le32((u32)chunk->bytes);
	chunk->head.count = cpu_to_le32(chunk->count);
	chunk->head.lost = cpu_to_le64(chunk->lost);
	chunk->head.first_ns = cpu_to_le64(iot_kind_info(first.kind) ? iot_record_end_ns(&first) : 0);
	chunk->head.last_ns = cpu_to_le64(iot_kind_info(last.kind) ? iot_record_end_ns(&last) : 0);
	err = iot_writer_chunk(writer, &chunk->head, chunk->records);
	chunk->bytes = 0;
	chunk->count = 0;
	return err;
}

static int add_block(struct chunk *chunk, const struct flight_block *block, u32 number, u64 sequence, u64 lost,
		     struct iot_writer *writer)
{
	size_t bytes = block->bytes - block->at;
	int err = 0;

	if (chunk->bytes + bytes > CHUNK_BYTES || sequence != chunk->sequence || lost != chunk->lost)
		err = chunk_write(chunk, writer);
	if (!chunk->bytes)
		chunk->head = (struct iot_chunk_head){ .stream = cpu_to_le32(number), .sequence = cpu_to_le64(sequence) };
	memcpy(chunk->records + chunk->bytes, block->records + block->at, bytes);
	chunk->bytes += bytes;
	chunk->count += flight_block_count(block);
	chunk->sequence = sequence + flight_block_count(block);
	chunk->lost = lost;
	return err;
}

static int put_stream(const struct flight_ring *ring, u32 number, struct chunk *chunk, struct iot_writer *writer,
		      u64 *lost)
{
	const struct flight_stream *stream = &ring->streams[number];
	const struct flight_block *block;
	int err = 0;

	for (block = stream->first; block && !err; block = block->next) {
		err = add_block(chunk, block, number - 1, block->sequence - stream->base_sequence,
				block->lost - stream->lost_before, writer);
		if (!block->next)
			*lost += block->lost - stream->lost_before;
	}
	return err ? err : chunk_write(chunk, writer);
}

static int put_streams(const struct flight_dump *dump, struct iot_writer *writer, u64 *lost)
{
	struct chunk chunk = { .records = malloc(CHUNK_BYTES) };
	u32 i;
	int err = chunk.records ? 0 : -ENOMEM;

	for (i = 1; i < dump->ring->stream_count && !err; i++) {
		chunk.sequence = 0;
		chunk.lost = 0;
		err = put_stream(dump->ring, i, &chunk, writer, lost);
	}
	free(chunk.records);
	return err;
}

/* -- the trace -------------------------------------------------------------------------------------- */

static int write_all(struct flight_dump *dump, struct iot_writer *writer, const struct survey *survey)
{
	u64 lost = 0;
	int err = put_beginning(dump, writer, survey->begin_ns);

	if (!err && dump->ring->stream_count)
		err = flight_ring_walk(dump->ring, 0, put_own, writer);
	if (!err)
		err = iot_writer_flush(writer);
	if (!err)
		err = put_streams(dump, writer, &lost);
	if (!err)
		err = put_end(dump, writer, lost);
	if (!err)
		err = iot_writer_flush(writer);
	if (!err)
		err = iot_writer_sync(writer); /* data written for the case of a crash must survive a crash */
	return err ? err : iot_writer_finish(writer);
}

/**
 * flight_dump_write() - write a dump
 * @dump: its contents; the results are filled in
 * @path: of the file, which does not exist; it does not after an error either
 *
 * Return: 0 or a negative errno.
 */
int flight_dump_write(struct flight_dump *dump, const char *path)
{
	struct survey survey = { .dump = dump, .begin_ns = iot_clock_ns(CLOCK_MONOTONIC), .first_end_ns = UINT64_MAX };
	unsigned char capture[16];
	struct iot_writer *writer;
	int err;

	dump->records = 0;
	dump->window_ns = 0;
	err = survey_all(&survey);
	if (!err && getrandom(capture, sizeof(capture), 0) != sizeof(capture))
		err = -EIO;
	if (!err)
		err = iot_writer_open_at(path, capture, dump->begin_real_ns, dump->begin_ns, &writer);
	if (err)
		return err;
	err = write_all(dump, writer, &survey);
	if (err)
		iot_writer_discard(writer);
	iot_writer_close(writer);
	return err;
}
