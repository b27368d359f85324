// SPDX-License-Identifier: GPL-2.0-only
/*
 * repair.c - damage of a trace is found, wherever it is, and all other chunks are saved.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/iotape.h"
#include "suite.h"
#include "trace_bytes.h"

static char output[] = "/tmp/iotape-test-XXXXXX";

static int make_file(void **state)
{
	(void)state;
	strcpy(output + sizeof(output) - 7, "XXXXXX");
	close(mkstemp(output));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(output);
}

/* Three streams, three chunks in one of them, seven records. */
static void make(struct trace_bytes *trace)
{
	trace_open(trace, NULL);
	trace_clocks(trace, 0, 0, (u64[]){ 10, 40 }, 2);
	trace_clocks(trace, 7, 0, (u64[]){ 20 }, 1);
	trace_clocks(trace, 0, 2, (u64[]){ 50, 60 }, 2);
	trace_clocks(trace, IOT_STREAM_COLLECTOR, 0, (u64[]){ 30 }, 1);
	trace_clocks(trace, 0, 4, (u64[]){ 70 }, 1);
	trace_finish(trace);
}

static struct iot_condition verify(const struct trace_bytes *trace, size_t count)
{
	struct iot_condition condition;
	struct iot_reject reject;

	assert_int_equal(iot_trace_verify(trace_path(trace->bytes, count), &condition, &reject), 0);
	return condition;
}

static struct iot_condition repair(const struct trace_bytes *trace, size_t count)
{
	struct iot_condition condition;
	struct iot_reject reject;
	bool is_output;

	assert_int_equal(iot_trace_repair(trace_path(trace->bytes, count), output, &condition, &reject, &is_output), 0);
	assert_false(is_output);
	return condition;
}

struct outcome {
	u64 clocks;
	struct iot_trace_info info;
	char partial[256];
};

static struct outcome read_output(void)
{
	struct outcome o = {};
	struct iot_reader *reader;
	struct iot_reject reject;
	struct iot_record record;
	int err;

	assert_int_equal(iot_reader_open(output, &reader, &reject), 0);
	while ((err = iot_reader_next(reader, &record, &reject)) > 0) {
		o.clocks += record.kind == IOT_KIND_clock;
		if (record.kind == IOT_KIND_fact)
			snprintf(o.partial, sizeof(o.partial), "%.*s", record.tail_bytes, (const char *)record.tail);
	}
	assert_int_equal(err, 0);
	iot_reader_info(reader, &o.info);
	iot_reader_close(reader);
	assert_true(o.info.is_complete);
	assert_int_equal(iot_trace_verify(output, &(struct iot_condition){}, &reject), 0);
	return o;
}

static void intact_trace_is_verified(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;

	(void)state;
	make(&trace);
	condition = verify(&trace, trace.count);
	assert_int_equal(condition.chunks, 5);
	assert_int_equal(condition.records, 7);
	assert_int_equal(condition.damages, 0);
	assert_int_equal(condition.damaged_chunks | condition.damaged_records | condition.lost_bytes, 0);
	assert_true(condition.is_complete);
	assert_false(condition.is_torn || condition.is_index_damaged);
	trace_close(&trace);
}

static void every_changed_byte_is_found(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	size_t at;

	(void)state;
	make(&trace);
	for (at = trace.begin; at < trace.count; at++) {
		trace.bytes[at] ^= 0x10;
		condition = verify(&trace, trace.count);
		assert_true(condition.damages);
		assert_in_range(condition.first.reason, IOT_REJECT_chunk_head, IOT_REJECT_index);
		assert_in_range(condition.records, 5, 7);
		trace.bytes[at] ^= 0x10;
	}
	trace_close(&trace);
}

static void damaged_beginning_is_refused(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	struct iot_reject reject;
	bool is_output;

	(void)state;
	make(&trace);
	trace.bytes[30] ^= 1;
	assert_int_equal(iot_trace_verify(trace_path(trace.bytes, trace.count), &condition, &reject), -EBADMSG);
	assert_int_equal(reject.reason, IOT_REJECT_trace_head);
	assert_int_equal(iot_trace_repair(trace_path(trace.bytes, trace.count), output, &condition, &reject, &is_output), -EBADMSG);
	assert_false(is_output);
	trace.bytes[30] ^= 1;
	assert_int_equal(iot_trace_repair(trace_path(trace.bytes, trace.count), "/nowhere/at/all", &condition, &reject, &is_output), -ENOENT);
	assert_true(is_output);
	assert_int_equal(iot_trace_verify("/nowhere/at/all", &condition, &reject), -ENOENT);
	trace_close(&trace);
}

/* Whatever length a killed writer leaves. */
static void torn_trace_is_told_from_a_damaged_one(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	size_t length;

	(void)state;
	make(&trace);
	for (length = trace.begin; length < trace.count; length++) {
		condition = verify(&trace, length);
		assert_int_equal(condition.damages, 0);
		assert_false(condition.is_complete);
		assert_int_equal(condition.is_torn, condition.lost_bytes > 0);
		condition = repair(&trace, length);
		assert_int_equal(read_output().clocks, condition.records);
		assert_non_null(strstr(read_output().partial, "the trace was not finished"));
	}
	trace_close(&trace);
}

static void chunks_of_an_intact_trace_are_copied(void **state)
{
	struct trace_bytes trace;
	struct outcome o;
	u8 *copy;
	size_t bytes;
	int fd;

	(void)state;
	make(&trace);
	repair(&trace, trace.count);
	o = read_output();
	assert_int_equal(o.clocks, 7);
	assert_string_equal(o.partial, "");
	bytes = le64_to_cpu(trace_head(&trace, trace.count - sizeof(struct iot_chunk_head))->sequence);
	copy = malloc(bytes);
	fd = open(output, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, copy, bytes), bytes);
	assert_memory_equal(copy, trace.bytes, bytes);
	close(fd);
	free(copy);
	trace_close(&trace);
}

static void chunk_with_a_damaged_payload_is_removed(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	struct outcome o;

	(void)state;
	make(&trace);
	trace.bytes[trace.chunks[2] + sizeof(struct iot_chunk_head)] ^= 1;
	condition = repair(&trace, trace.count);
	assert_int_equal(condition.damages, 1);
	assert_int_equal(condition.first.reason, IOT_REJECT_chunk_crc);
	assert_int_equal(condition.first.offset_bytes, trace.chunks[2]);
	assert_int_equal(condition.damaged_chunks, 1);
	assert_int_equal(condition.damaged_records, 2);
	o = read_output();
	assert_int_equal(o.clocks, 5);
	assert_int_equal(o.info.missing, 2);
	assert_string_equal(o.partial, "partial=repaired: 1 damaged chunks with 2 records were removed");
	trace_close(&trace);
}

/* The place of the next chunk is not known then. Its records are found, and the index is no longer right. */
static void chunk_with_a_damaged_head_is_passed_over(void **state)
{
	struct iot_condition condition;
	struct trace_bytes trace;
	struct outcome o;

	(void)state;
	make(&trace);
	trace.bytes[trace.chunks[2] + 8] ^= 1;
	condition = repair(&trace, trace.count);
	assert_int_equal(condition.first.reason, IOT_REJECT_chunk_head);
	assert_int_equal(condition.first.offset_bytes, trace.chunks[2]);
	assert_int_equal(condition.lost_bytes, trace.chunks[3] - trace.chunks[2]);
	o = read_output();
	assert_int_equal(o.clocks, 5);
	assert_int_equal(o.info.missing, 2);
	assert_non_null(strstr(o.partial, "bytes without a chunk were removed"));
	trace_close(&trace);
}

/* Longer than what is searched at once, and full of what looks like heads. */
static void much_damage_is_passed_over(void **state)
{
	enum { JUNK_BYTES = 300000 };
	struct iot_condition condition;
	struct trace_bytes trace;
	size_t i, at, rest;
	u8 *bytes;

	(void)state;
	make(&trace);
	at = trace.chunks[4];
	rest = trace.count - at;
	bytes = malloc(trace.count + JUNK_BYTES);
	memcpy(bytes, trace.bytes, at);
	for (i = 0; i < JUNK_BYTES; i++)
		bytes[at + i] = (u8)"ICHK"[i % 4];
	memcpy(bytes + at + JUNK_BYTES, trace.bytes + at, rest);
	free(trace.bytes);
	trace.bytes = bytes;
	trace.count += JUNK_BYTES;
	condition = repair(&trace, trace.count);
	assert_int_equal(condition.lost_bytes, JUNK_BYTES);
	assert_int_equal(read_output().clocks, 7);
	trace_close(&trace);
}

static void wrong_index_is_found_and_replaced(void **state)
{
	struct iot_index_entry *entry;
	struct iot_condition condition;
	struct trace_bytes trace;
	size_t index;

	(void)state;
	make(&trace);
	index = le64_to_cpu(trace_head(&trace, trace.count - sizeof(struct iot_chunk_head))->sequence);
	entry = (struct iot_index_entry *)(trace.bytes + index + sizeof(struct iot_chunk_head));
	entry[1].count = cpu_to_le32(9);
	trace_seal_chunk(trace.bytes, trace.count, index);
	condition = repair(&trace, trace.count);
	assert_true(condition.is_index_damaged);
	assert_int_equal(condition.first.reason, IOT_REJECT_index);
	assert_int_equal(condition.first.offset_bytes, index);
	assert_int_equal(read_output().clocks, 7);
	trace_close(&trace);
}

#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, make_file, remove_file),

SUITE("repair",
      TEST(intact_trace_is_verified)
      TEST(every_changed_byte_is_found)
      FILE_TEST(damaged_beginning_is_refused)
      FILE_TEST(torn_trace_is_told_from_a_damaged_one)
      FILE_TEST(chunks_of_an_intact_trace_are_copied)
      FILE_TEST(chunk_with_a_damaged_payload_is_removed)
      FILE_TEST(chunk_with_a_damaged_head_is_passed_over)
      FILE_TEST(much_damage_is_passed_over)
      FILE_TEST(wrong_index_is_found_and_replaced))
