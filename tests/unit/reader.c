// SPDX-License-Identifier: GPL-2.0-only
/*
 * reader.c - traces are merged by time and read as far as they are intact; missing and damaged
 * parts are reported with the right reason and position.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "core/crc32c.h"
#include "lib/iotape.h"
#include "suite.h"
#include "trace_bytes.h"

struct outcome {
	int err;
	struct iot_reject reject;
	struct iot_trace_info info;
	u64 records;
	u64 ends[64]; /* of the first records, times 100, plus their stream */
};

static struct outcome read_path(const char *path)
{
	struct outcome o = {};
	struct iot_reader *reader;
	struct iot_record record;

	o.err = iot_reader_open(path, &reader, &o.reject);
	if (o.err)
		return o;
	while ((o.err = iot_reader_next(reader, &record, &o.reject)) > 0) {
		if (o.records < ARRAY_SIZE(o.ends) && record.kind == IOT_KIND_clock)
			o.ends[o.records] = 100 * record.clock.time_ns + record.clock.real_ns;
		o.records++;
	}
	iot_reader_info(reader, &o.info);
	iot_reader_close(reader);
	return o;
}

static struct outcome read_bytes(const u8 *bytes, size_t count)
{
	return read_path(trace_path(bytes, count));
}

static struct outcome read_trace(const struct trace_bytes *trace)
{
	return read_bytes(trace->bytes, trace->count);
}

/* Three streams, two chunks in one of them, five records. */
static void make(struct trace_bytes *trace)
{
	trace_open(trace, NULL);
	trace_clocks(trace, 0, 0, (u64[]){ 10, 40 }, 2);
	trace_clocks(trace, 7, 0, (u64[]){ 20 }, 1);
	trace_clocks(trace, 0, 2, (u64[]){ 50 }, 1);
	trace_clocks(trace, IOT_STREAM_COLLECTOR, 0, (u64[]){ 30 }, 1);
	trace_finish(trace);
}

static void trace_has_its_properties(void **state)
{
	struct trace_bytes trace;
	struct outcome o;

	(void)state;
	make(&trace);
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 5);
	assert_memory_equal(o.info.capture, "captured for you", 16);
	assert_int_equal(o.info.real_ns, 1000);
	assert_int_equal(o.info.mono_ns, 10);
	assert_true(o.info.is_complete);
	assert_false(o.info.is_torn);
	assert_int_equal(o.info.bytes, trace.count);
	assert_int_equal(o.info.chunks, 4);
	assert_int_equal(o.info.records, 5);
	assert_int_equal(o.info.lost | o.info.missing | o.info.unknown, 0);
	trace_close(&trace);
}

static void records_are_ordered_by_their_ends(void **state)
{
	static const u64 expected[] = { 1001, 1102, 1201, 1202, 1203, 1301, 1403, 1501, 1602, 1703 };
	struct trace_bytes trace;
	struct outcome o;

	(void)state;
	trace_open(&trace, NULL);
	trace_clocks(&trace, 3, 0, (u64[]){ 12, 14 }, 2);
	trace_clocks(&trace, 1, 0, (u64[]){ 10, 12, 13 }, 3);
	trace_clocks(&trace, 2, 0, (u64[]){ 11, 12 }, 2);
	trace_clocks(&trace, 1, 3, (u64[]){ 15 }, 1);
	trace_clocks(&trace, 3, 2, (u64[]){ 17 }, 1);
	trace_clocks(&trace, 2, 2, (u64[]){ 16 }, 1);
	trace_finish(&trace);
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, ARRAY_SIZE(expected));
	assert_memory_equal(o.ends, expected, sizeof(expected));
	trace_close(&trace);
}

static void empty_trace_has_no_records(void **state)
{
	struct trace_bytes trace;
	struct outcome o;

	(void)state;
	trace_open(&trace, NULL);
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 0);
	assert_false(o.info.is_complete);
	trace_finish(&trace);
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 0);
	assert_true(o.info.is_complete);
	trace_close(&trace);
}

/* Whatever length a killed writer leaves: the complete chunks are read, and nothing else is reported. */
static void torn_trace_is_read_up_to_its_last_chunk(void **state)
{
	struct trace_bytes trace;
	struct outcome o;
	size_t length, i;
	u64 records;
	bool is_whole;

	(void)state;
	make(&trace);
	for (length = 0; length < trace.count; length += length > 64 && length < trace.begin - 64 ? 61 : 1) {
		o = read_bytes(trace.bytes, length);
		if (length < trace.begin) {
			assert_int_equal(o.err, -EBADMSG);
			assert_int_equal(o.reject.reason, IOT_REJECT_trace_short);
			continue;
		}
		records = 0;
		is_whole = length == trace.begin;
		for (i = 0; i < trace.chunk_count; i++) {
			const struct iot_chunk_head *head = trace_head(&trace, trace.chunks[i]);
			size_t stop = trace.chunks[i] + sizeof(*head) + le32_to_cpu(head->stored_bytes);

			if (stop <= length)
				records += le32_to_cpu(head->count);
			is_whole |= stop == length;
		}
		is_whole |= length == trace.count - sizeof(struct iot_chunk_head); /* only the index is missing */
		assert_int_equal(o.err, 0);
		assert_int_equal(o.records, records);
		assert_int_equal(o.info.records, records);
		assert_false(o.info.is_complete);
		assert_int_equal(o.info.is_torn, !is_whole);
	}
	trace_close(&trace);
}

static void trace_with_any_byte_changed_is_refused(void **state)
{
	struct trace_bytes trace;
	struct outcome o;
	size_t at;

	(void)state;
	make(&trace);
	for (at = 0; at < trace.count; at += at < trace.begin - 8 && at >= 64 ? 97 : 1) {
		trace.bytes[at] ^= 0x10;
		o = read_trace(&trace);
		assert_true(o.err < 0);
		assert_in_range(o.reject.reason, IOT_REJECT_trace_magic, IOT_REJECT_index);
		trace.bytes[at] ^= 0x10;
	}
	trace_close(&trace);
}

/* -- one fault, with correct checksums ------------------------------------------------------- */

/* The part to be changed; the function returns the position of the expected refusal. */
#define CHANGE(name) static u64 name(struct trace_bytes *t)

#define SET_FILE_HEAD(name, field, value, where)                                      \
	CHANGE(name)                                                                  \
	{                                                                             \
		((struct iot_trace_head *)t->bytes)->field = value;                   \
		trace_seal_head(t->bytes, t->count);                                  \
		return where;                                                         \
	}

/* The second chunk, or the index, or the trailer. */
static size_t place_of(const struct trace_bytes *t, enum iot_chunk_type type)
{
	size_t trailer = t->count - sizeof(struct iot_chunk_head);

	if (type == IOT_CHUNK_TRAILER)
		return trailer;
	return type == IOT_CHUNK_INDEX ? le64_to_cpu(trace_head(t, trailer)->sequence) : t->chunks[1];
}

#define SET_HEAD(name, type, field, value, where)                  \
	CHANGE(name)                                               \
	{                                                          \
		size_t at = place_of(t, type);                     \
		trace_head(t, at)->field = value;                  \
		trace_seal_chunk(t->bytes, t->count, at);          \
		return where;                                      \
	}

#define SET_RECORD(name, byte, value)                                         \
	CHANGE(name)                                                          \
	{                                                                     \
		size_t at = t->chunks[1];                                     \
		t->bytes[at + sizeof(struct iot_chunk_head) + (byte)] = value; \
		trace_seal_chunk(t->bytes, t->count, at);                     \
		return at;                                                    \
	}

#define SET_ENTRY(name, entry, field, value)                                                 \
	CHANGE(name)                                                                         \
	{                                                                                    \
		size_t at = place_of(t, IOT_CHUNK_INDEX);                                    \
		struct iot_index_entry *e = (void *)(t->bytes + at + sizeof(struct iot_chunk_head)); \
		e[entry].field = value;                                                      \
		trace_seal_chunk(t->bytes, t->count, at);                                    \
		return at;                                                                   \
	}

SET_FILE_HEAD(file_magic, magic[3], 'X', 0)
SET_FILE_HEAD(file_major, major, cpu_to_le16(IOT_TRACE_MAJOR + 1), 8)
SET_FILE_HEAD(file_head_bytes, head_bytes, cpu_to_le16(72), 0)
SET_FILE_HEAD(file_feature, features_incompat, cpu_to_le32(2 * IOT_TRACE_COLUMNS), 16)
SET_FILE_HEAD(schema_too_large, schema_bytes, cpu_to_le32(IOT_TRACE_SCHEMA_MAX_BYTES + 1), 20)
SET_FILE_HEAD(schema_past_the_end, schema_bytes, cpu_to_le32((u32)t->count), sizeof(struct iot_trace_head))

CHANGE(schema_without_sense)
{
	memcpy(t->bytes + sizeof(struct iot_trace_head), "record one", 10);
	trace_seal_head(t->bytes, t->count);
	return sizeof(struct iot_trace_head);
}

CHANGE(schema_checksum)
{
	t->bytes[sizeof(struct iot_trace_head)] ^= 1;
	return sizeof(struct iot_trace_head);
}

SET_HEAD(chunk_magic, IOT_CHUNK_RECORDS, magic, 0, at)
SET_HEAD(chunk_zero, IOT_CHUNK_RECORDS, zero, cpu_to_le16(1), at)
SET_HEAD(chunk_codec, IOT_CHUNK_RECORDS, codec, IOT_CODEC_COLUMNS + 1, at)
SET_HEAD(index_codec, IOT_CHUNK_INDEX, codec, IOT_CODEC_COLUMNS, at)
SET_HEAD(chunk_without_columns, IOT_CHUNK_RECORDS, codec, IOT_CODEC_COLUMNS, at)
SET_HEAD(chunk_too_large, IOT_CHUNK_RECORDS, raw_bytes, cpu_to_le32(IOT_CHUNK_MAX_BYTES + 1), at)
SET_HEAD(chunk_stored_too_large, IOT_CHUNK_RECORDS, stored_bytes, cpu_to_le32(~0u), at)
SET_HEAD(chunk_of_two_sizes, IOT_CHUNK_RECORDS, raw_bytes, cpu_to_le32(IOT_WIRE_clock - 1), at)
SET_HEAD(chunk_that_is_not_packed, IOT_CHUNK_RECORDS, codec, IOT_CODEC_ZSTD, at)
SET_HEAD(chunk_past_the_end, IOT_CHUNK_RECORDS, stored_bytes, cpu_to_le32(1 << 20), at)
SET_HEAD(chunk_of_another_stream, IOT_CHUNK_RECORDS, stream, cpu_to_le32(8), at)
SET_HEAD(chunk_of_another_type, IOT_CHUNK_RECORDS, type, IOT_CHUNK_INDEX, at)
SET_HEAD(chunk_with_more_records, IOT_CHUNK_RECORDS, count, cpu_to_le32(2), at)
SET_HEAD(chunk_with_no_records, IOT_CHUNK_RECORDS, count, 0, at)

CHANGE(chunk_with_fewer_records)
{
	trace_head(t, t->chunks[0])->count = cpu_to_le32(1);
	trace_seal_chunk(t->bytes, t->count, t->chunks[0]);
	return t->chunks[0];
}

CHANGE(chunk_checksum)
{
	t->bytes[t->chunks[1] + sizeof(struct iot_chunk_head) + 9] ^= 1;
	return t->chunks[1];
}

SET_RECORD(record_length_zero, 0, 0)
SET_RECORD(record_longer_than_the_chunk, 0, 255)
SET_RECORD(record_reserved, 6, 1)
SET_RECORD(record_all_tail, 4, 255)

SET_HEAD(trailer_before_the_chunks, IOT_CHUNK_TRAILER, sequence, cpu_to_le64(8), 8)
SET_HEAD(trailer_past_the_end, IOT_CHUNK_TRAILER, sequence, cpu_to_le64(t->count + 1), t->count + 1)
SET_HEAD(trailer_to_itself, IOT_CHUNK_TRAILER, sequence, cpu_to_le64(at), at)
SET_HEAD(trailer_to_no_chunk, IOT_CHUNK_TRAILER, sequence, cpu_to_le64(t->begin + 1), t->begin + 1)
SET_HEAD(index_of_another_length, IOT_CHUNK_INDEX, count, cpu_to_le32(3), at)

/* A trailer that claims that there is no index, and a chunk that continues behind it. */
CHANGE(chunk_past_the_trailer)
{
	size_t trailer = place_of(t, IOT_CHUNK_TRAILER);

	chunk_past_the_end(t);
	trace_head(t, trailer)->sequence = 0;
	trace_seal_chunk(t->bytes, t->count, trailer);
	return trailer;
}

SET_HEAD(no_index, IOT_CHUNK_TRAILER, sequence, 0, at)
SET_HEAD(index_too_large, IOT_CHUNK_INDEX, raw_bytes, cpu_to_le32(IOT_INDEX_MAX_BYTES + 1), at)
SET_ENTRY(entry_before_the_chunks, 0, offset_bytes, cpu_to_le64(t->begin - 1))
SET_ENTRY(entry_past_the_chunks, 3, offset_bytes, cpu_to_le64(at))
SET_ENTRY(entry_twice, 2, offset_bytes, e[1].offset_bytes)
SET_ENTRY(entries_backwards, 2, offset_bytes, e[0].offset_bytes)

CHANGE(entry_of_another_stream)
{
	entry_past_the_chunks(t);
	((struct iot_index_entry *)(t->bytes + place_of(t, IOT_CHUNK_INDEX) +
				    sizeof(struct iot_chunk_head)))[3] = (struct iot_index_entry){
		.offset_bytes = cpu_to_le64(t->chunks[3]),
		.stream = cpu_to_le32(5),
		.count = cpu_to_le32(1),
	};
	trace_seal_chunk(t->bytes, t->count, place_of(t, IOT_CHUNK_INDEX));
	return t->chunks[3];
}

/* An index of maximum size in a file that has no room for so many chunks. */
CHANGE(index_for_more_chunks_than_fit)
{
	static u8 raw[1 << 20];
	size_t at = place_of(t, IOT_CHUNK_INDEX), bytes;
	struct iot_chunk_head what = {
		.type = IOT_CHUNK_INDEX,
		.codec = IOT_CODEC_ZSTD,
		.raw_bytes = cpu_to_le32(sizeof(raw)),
		.count = cpu_to_le32(sizeof(raw) / sizeof(struct iot_index_entry)),
	};
	u8 packed[1024];

	bytes = ZSTD_compress(packed, sizeof(packed), raw, sizeof(raw), 3);
	assert_false(ZSTD_isError(bytes));
	t->count = at;
	trace_chunk(t, &what, packed, bytes);
	what = (struct iot_chunk_head){ .type = IOT_CHUNK_TRAILER, .sequence = cpu_to_le64(at) };
	trace_chunk(t, &what, NULL, 0);
	return at;
}

#define ROW(change, reason, err) { #change, change, IOT_REJECT_##reason, err }

static const struct {
	const char *name;
	u64 (*change)(struct trace_bytes *trace);
	u32 reason;
	int err;
} changes[] = {
	ROW(file_magic, trace_magic, -EBADMSG),
	ROW(file_major, trace_major, -EPROTONOSUPPORT),
	ROW(file_head_bytes, trace_head, -EBADMSG),
	ROW(file_feature, trace_feature, -EPROTONOSUPPORT),
	ROW(schema_too_large, trace_schema, -EBADMSG),
	ROW(schema_past_the_end, trace_short, -EBADMSG),
	ROW(schema_without_sense, trace_schema, -EBADMSG),
	ROW(schema_checksum, trace_schema, -EBADMSG),
	ROW(chunk_magic, chunk_head, -EBADMSG),
	ROW(chunk_zero, chunk_head, -EBADMSG),
	ROW(chunk_codec, chunk_codec, -EPROTONOSUPPORT),
	ROW(index_codec, chunk_codec, -EPROTONOSUPPORT),
	ROW(chunk_without_columns, chunk_data, -EBADMSG),
	ROW(chunk_too_large, chunk_size, -EBADMSG),
	ROW(chunk_stored_too_large, chunk_size, -EBADMSG),
	ROW(chunk_of_two_sizes, chunk_size, -EBADMSG),
	ROW(chunk_that_is_not_packed, chunk_data, -EBADMSG),
	ROW(chunk_past_the_end, index, -EBADMSG),
	ROW(chunk_of_another_stream, index, -EBADMSG),
	ROW(chunk_of_another_type, index, -EBADMSG),
	ROW(chunk_with_more_records, record, -EBADMSG),
	ROW(chunk_with_fewer_records, chunk_count, -EBADMSG),
	ROW(chunk_with_no_records, chunk_count, -EBADMSG),
	ROW(chunk_checksum, chunk_crc, -EBADMSG),
	ROW(record_length_zero, record, -EBADMSG),
	ROW(record_longer_than_the_chunk, record, -EBADMSG),
	ROW(record_reserved, record, -EBADMSG),
	ROW(record_all_tail, record, -EBADMSG),
	ROW(trailer_before_the_chunks, index, -EBADMSG),
	ROW(trailer_past_the_end, index, -EBADMSG),
	ROW(trailer_to_itself, index, -EBADMSG),
	ROW(trailer_to_no_chunk, chunk_head, -EBADMSG),
	ROW(index_of_another_length, index, -EBADMSG),
	ROW(chunk_past_the_trailer, index, -EBADMSG),
	ROW(entry_before_the_chunks, index, -EBADMSG),
	ROW(entry_past_the_chunks, index, -EBADMSG),
	ROW(entry_twice, index, -EBADMSG),
	ROW(entries_backwards, index, -EBADMSG),
	ROW(entry_of_another_stream, index, -EBADMSG),
	ROW(index_for_more_chunks_than_fit, index, -EBADMSG),
};

static void trace_with_one_error_is_refused(void **state)
{
	struct trace_bytes trace;
	struct outcome o;
	size_t i;
	u64 where;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		make(&trace);
		where = changes[i].change(&trace);
		o = read_trace(&trace);
		assert_row(changes[i].name, o.err == changes[i].err);
		assert_row(changes[i].name, o.reject.reason == changes[i].reason);
		assert_row(changes[i].name, o.reject.offset_bytes == where);
		trace_close(&trace);
	}
}

/* In a trace with so many chunks, the heads are read one after the other. */
static void oversized_index_is_not_needed(void **state)
{
	u64 (*const rows[])(struct trace_bytes *trace) = { no_index, index_too_large };
	struct trace_bytes trace;
	struct outcome o;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		make(&trace);
		rows[i](&trace);
		o = read_trace(&trace);
		assert_int_equal(o.err, 0);
		assert_int_equal(o.records, 5);
		assert_int_equal(o.info.chunks, 4);
		assert_true(o.info.is_complete);
		assert_false(o.info.is_torn);
		trace_close(&trace);
	}
}

static void every_reason_has_a_test(void **state)
{
	static const u32 reasons[] = {
#define REASON(id, name, error, sentence) id,
		IOT_REJECTS(REASON)
#undef REASON
	};
	size_t r, i;

	(void)state;
	for (r = 0; r < ARRAY_SIZE(reasons); r++) {
		bool is_tested = reasons[r] < IOT_REJECT_trace_magic ||
				 reasons[r] >= IOT_REJECT_program_magic;

		for (i = 0; i < ARRAY_SIZE(changes); i++)
			is_tested |= changes[i].reason == reasons[r];
		if (!is_tested)
			fail_msg("no test for reason %u of reject.h", reasons[r]);
	}
}

static void records_before_damage_are_read(void **state)
{
	struct trace_bytes trace;
	struct outcome o;

	(void)state;
	make(&trace);
	trace.bytes[trace.chunks[2] + sizeof(struct iot_chunk_head)] ^= 1; /* the last chunk of stream 0 */
	o = read_trace(&trace);
	assert_int_equal(o.err, -EBADMSG);
	assert_int_equal(o.reject.reason, IOT_REJECT_chunk_crc);
	assert_int_equal(o.records, 4);
	trace_close(&trace);
}

static void refusal_has_a_sentence(void **state)
{
	struct iot_reject reject = { .reason = IOT_REJECT_chunk_crc };

	(void)state;
	assert_string_equal(iot_reject_sentence(&reject), "a chunk with a wrong checksum");
	reject.reason = 0;
	assert_non_null(iot_reject_sentence(&reject));
	reject.reason = 12345;
	assert_non_null(iot_reject_sentence(&reject));
}

/* -- files that are not traces ------------------------------------------------------------------- */

static void input_that_is_not_a_file_is_refused(void **state)
{
	char fifo[] = "/tmp/iotape-test-XXXXXX";
	struct outcome o;

	(void)state;
	o = read_path("/nowhere/at/all");
	assert_int_equal(o.err, -ENOENT);
	assert_int_equal(o.reject.reason, IOT_REJECT_io);
	o = read_path("/proc");
	assert_int_equal(o.reject.reason, IOT_REJECT_trace_magic);
	o = read_path("/dev/zero");
	assert_int_equal(o.reject.reason, IOT_REJECT_trace_magic);
	close(mkstemp(fifo));
	unlink(fifo);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(20); /* an ordinary open waits for a writer forever */
	o = read_path(fifo);
	alarm(0);
	unlink(fifo);
	assert_int_equal(o.reject.reason, IOT_REJECT_trace_magic);
}

static void text_is_refused(void **state)
{
	static const u8 text[200] = "# iotape\nnot at all\n";
	struct outcome o;

	(void)state;
	o = read_bytes(text, sizeof(text));
	assert_int_equal(o.reject.reason, IOT_REJECT_trace_magic);
	o = read_bytes(text, 0);
	assert_int_equal(o.reject.reason, IOT_REJECT_trace_short);
}

/* -- missing records ----------------------------------------------------------------------------- */

/* Three records, and room behind them; the index, if there is one, may count that room or not. */
static void make_open(struct trace_bytes *trace, size_t room, bool is_finished)
{
	struct iot_chunk_head what = { .type = IOT_CHUNK_OPEN, .stream = cpu_to_le32(3) };
	u8 wire[1024] = {}, *p = wire;
	u32 i;

	for (i = 1; i <= 3; i++) {
		const struct iot_rec_clock clock = { 10 * i, 3 };

		p = iot_put_clock(p, &clock, NULL, 0);
	}
	trace_open(trace, NULL);
	trace_chunk(trace, &what, wire, (size_t)(p - wire) + room);
	trace_head(trace, trace->begin)->payload_crc = 0;
	trace_clocks(trace, 4, 0, (u64[]){ 15 }, 1);
	if (is_finished) {
		trace->chunks[1] = trace->chunks[0];
		trace->chunks[0] = trace->begin;
		trace->chunk_count = 2;
		trace_finish(trace);
	}
	trace_head(trace, trace->begin)->head_crc =
		cpu_to_le32(iot_crc32c(0, trace->bytes + trace->begin, 60));
}

static void records_of_an_open_trace_are_read(void **state)
{
	static const size_t rooms[] = { 0, 8, 104 };
	struct trace_bytes trace;
	struct outcome o;
	size_t i;

	(void)state;
	for (i = 0; i < 2 * ARRAY_SIZE(rooms); i++) {
		make_open(&trace, rooms[i / 2], i & 1);
		o = read_trace(&trace);
		assert_int_equal(o.err, 0);
		assert_int_equal(o.records, 4);
		assert_int_equal(o.ends[0], 1003);
		assert_int_equal(o.ends[1], 1504);
		assert_int_equal(o.ends[3], 3003);
		assert_int_equal(o.info.is_complete, i & 1);
		trace_close(&trace);
	}
}

static void lost_and_missing_records_are_counted(void **state)
{
	static const struct {
		u32 stream;
		u64 sequence, lost;
		u64 end_ns;
		u32 count;
	} chunks[] = {
		{ 0, 0, 0, 10, 2 },  /* complete */
		{ 0, 2, 3, 20, 1 },  /* three dropped by the kernel, none missing */
		{ 0, 8, 3, 30, 1 },  /* five did not arrive */
		{ 1, 4, 9, 10, 1 },  /* the first four did not arrive, nine dropped before */
		{ 1, 5, 10, 20, 1 }, /* one more dropped */
		{ 2, 0, 0, 5, 1 },   /* another stream, complete */
	};
	struct trace_bytes trace;
	struct outcome o;
	size_t i;

	(void)state;
	trace_open(&trace, NULL);
	for (i = 0; i < ARRAY_SIZE(chunks); i++) {
		trace_clocks(&trace, chunks[i].stream, chunks[i].sequence,
			     (u64[]){ chunks[i].end_ns, chunks[i].end_ns + 1 }, chunks[i].count);
		trace_head(&trace, trace.chunks[i])->lost = cpu_to_le64(chunks[i].lost);
		trace_seal_chunk(trace.bytes, trace.count, trace.chunks[i]);
	}
	trace_finish(&trace);
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 7);
	assert_int_equal(o.info.lost, 3 + 10);
	assert_int_equal(o.info.missing, 5 + 4);
	trace_close(&trace);
}

static void unknown_kinds_are_skipped_and_counted(void **state)
{
	struct iot_chunk_head what = { .count = cpu_to_le32(3) };
	const struct iot_rec_clock clock = { 10, 0 };
	struct trace_bytes trace;
	struct outcome o;
	u8 wire[3 * IOT_WIRE_clock], *p = wire;

	(void)state;
	p = iot_put_clock(p, &clock, NULL, 0);
	p = iot_put_clock(p, &clock, NULL, 0);
	p = iot_put_clock(p, &clock, NULL, 0);
	iot_put_u16(wire + 2, 250);
	iot_put_u16(wire + 2 * IOT_WIRE_clock + 2, 250);
	trace_open(&trace, NULL);
	trace_chunk(&trace, &what, wire, sizeof(wire));
	trace_finish(&trace);
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, 1);
	assert_int_equal(o.info.unknown, 2);
	assert_int_equal(o.info.records, 3);
	trace_close(&trace);
}

/* -- traces that grow ------------------------------------------------------------------------------- */

static void append(const char *path, const u8 *bytes, size_t count)
{
	FILE *out = fopen(path, "ae");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, count, out), count);
	fclose(out);
}

/* Cut at each byte: what is whole is returned at once, and nothing twice. */
static void growing_trace_is_followed(void **state)
{
	struct outcome all;
	struct trace_bytes trace;
	struct iot_reject reject = {};
	struct iot_trace_info info;
	struct iot_reader *reader;
	struct iot_record record;
	size_t cut, begin = 0;
	u64 records, before = 0;
	int more;

	(void)state;
	make(&trace);
	trace_finish(&trace);
	all = read_trace(&trace);
	while (read_bytes(trace.bytes, begin).err)
		begin++;
	for (cut = begin; cut <= trace.count; cut++) {
		const char *path = trace_path(trace.bytes, cut);

		records = 0;
		assert_int_equal(iot_reader_open(path, &reader, &reject), 0);
		while (iot_reader_next(reader, &record, &reject) > 0)
			records++;
		assert_true(records >= before);
		before = records;
		assert_int_equal(iot_reader_more(reader, &reject), 0);
		append(path, trace.bytes + cut, trace.count - cut);
		more = iot_reader_more(reader, &reject);
		assert_int_equal(more, records < all.records);
		while (iot_reader_next(reader, &record, &reject) > 0)
			records++;
		assert_int_equal(records, all.records);
		assert_int_equal(iot_reader_more(reader, &reject), 0);
		iot_reader_info(reader, &info);
		assert_true(info.is_complete);
		assert_int_equal(info.records, all.records);
		assert_int_equal(info.missing, all.info.missing);
		iot_reader_close(reader);
	}
	assert_int_equal(before, all.records);
	trace_close(&trace);
}

/* -- time ------------------------------------------------------------------------------------------ */

/* One record in each of many streams, more than any machine has. */
static void many_streams_are_merged_in_time(void **state)
{
	enum { STREAMS = 30000 };
	struct iot_chunk_head what = { .count = cpu_to_le32(1) };
	struct trace_bytes trace;
	struct outcome o;
	clock_t begin;
	u8 wire[IOT_WIRE_clock];
	u32 i;

	(void)state;
	trace_open(&trace, NULL);
	for (i = 0; i < STREAMS; i++) {
		const struct iot_rec_clock clock = { (i * 7919u) % STREAMS, i };

		iot_put_clock(wire, &clock, NULL, 0);
		what.stream = cpu_to_le32(i);
		trace_chunk(&trace, &what, wire, sizeof(wire));
		trace.chunk_count = 0;
	}
	begin = clock();
	o = read_trace(&trace);
	assert_int_equal(o.err, 0);
	assert_int_equal(o.records, STREAMS);
	assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
	trace_close(&trace);
}

SUITE("reader",
      TEST(trace_has_its_properties)
      TEST(records_are_ordered_by_their_ends)
      TEST(empty_trace_has_no_records)
      TEST(torn_trace_is_read_up_to_its_last_chunk)
      TEST(trace_with_any_byte_changed_is_refused)
      TEST(trace_with_one_error_is_refused)
      TEST(oversized_index_is_not_needed)
      TEST(every_reason_has_a_test)
      TEST(records_before_damage_are_read)
      TEST(refusal_has_a_sentence)
      TEST(input_that_is_not_a_file_is_refused)
      TEST(text_is_refused)
      TEST(records_of_an_open_trace_are_read)
      TEST(lost_and_missing_records_are_counted)
      TEST(unknown_kinds_are_skipped_and_counted)
      TEST(growing_trace_is_followed)
      TEST(many_streams_are_merged_in_time))
