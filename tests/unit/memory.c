// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - the nth allocation fails, for every n: the library returns an error, leaks nothing, and
 * does not end the program. Linked with --wrap for malloc and related functions.
 */
#include <stdlib.h>

#include "lib/iotape.h"
#include "pattern/pattern.h"
#include "suite.h"
#include "trace_bytes.h"

static long left = -1; /* allocations until one fails; negative: none fails */

static bool fails_now(void)
{
	return left >= 0 && left-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
	return fails_now() ? NULL : __real_realloc(memory, bytes);
}

char *__wrap_strndup(const char *text, size_t bytes)
{
	size_t length = strnlen(text, bytes);
	char *copy = fails_now() ? NULL : __real_calloc(1, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

char *__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, strlen(text));
}

/*
 * Call @attempt repeatedly, each time with one more allocation that succeeds, and later with several more,
 * because the steps after the start repeat.
 */
static void try_all(int (*attempt)(void))
{
	long n;
	int err;

	for (n = 0; n < 100000; n += n < 200 ? 1 : 17) {
		left = n;
		err = attempt();
		if (left >= 0) { /* no allocation failed */
			left = -1;
			assert_int_equal(err, 0);
			assert_true(n > 2);
			return;
		}
		left = -1;
		assert_int_equal(err, -ENOMEM);
	}
	fail();
}

static const char *path; /* of a trace */

static int read_trace(void)
{
	struct iot_reject reject = {};
	struct iot_reader *reader;
	struct iot_record record;
	int err = iot_reader_open(path, &reader, &reject);

	if (!err) {
		while ((err = iot_reader_next(reader, &record, &reject)) > 0)
			;
		iot_reader_close(reader);
	}
	if (err)
		assert_int_equal(reject.reason, IOT_REJECT_memory);
	return err;
}

static void reader_survives(void **state)
{
	struct trace_bytes trace;
	int is_finished;

	(void)state;
	trace_open(&trace, "record 2 clock run\nfield u64 real_ns wall\nrecord 9 novelty run\n");
	trace_clocks(&trace, 0, 0, (u64[]){ 10, 40 }, 2);
	trace_clocks(&trace, 7, 0, (u64[]){ 20 }, 1);
	trace_clocks(&trace, 0, 2, (u64[]){ 50 }, 1);
	for (is_finished = 0; is_finished < 2; is_finished++) {
		if (is_finished)
			trace_finish(&trace);
		path = trace_path(trace.bytes, trace.count);
		try_all(read_trace);
	}
	trace_close(&trace);
}

/* Enough chunks that the index grows twice, and records of the writer's own. */
static int write_trace(void)
{
	static const unsigned char capture[16];
	const struct iot_record record = { .kind = IOT_KIND_fact };
	const struct iot_chunk_head what = { .raw_bytes = cpu_to_le32(4) };
	struct iot_writer *writer;
	int err = iot_writer_open("/dev/shm/iotape-test", capture, &writer), i;

	if (err)
		return err;
	for (i = 0; i < 600 && !err; i++)
		err = iot_writer_chunk(writer, &what, "four");
	if (!err)
		err = iot_writer_record(writer, &record);
	if (!err)
		err = iot_writer_finish(writer);
	iot_writer_close(writer);
	return err;
}

static void writer_survives(void **state)
{
	(void)state;
	try_all(write_trace);
	remove("/dev/shm/iotape-test");
}

static int tell(struct iot_names *names, const struct iot_record *record)
{
	int err = iot_names_before(names, record);

	(void)iot_names_of_record(names, record);
	return err ? err : iot_names_after(names, record);
}

/* Enough of everything for the tables to grow. */
static int learn_names(void)
{
	struct iot_names *names;
	int err = iot_names_open(&names);
	u64 i;

	if (err)
		return err;
	for (i = 1; i < 400 && !err; i++) {
		const struct iot_record records[] = {
			{ .kind = IOT_KIND_name, .name = { .name = i, .dir = i > 1 },
			  .tail = (const u8 *)&i, .tail_bytes = 2 },
			{ .kind = IOT_KIND_object, .object = { .object = i, .name = i, .ino = i / 2 } },
			{ .kind = IOT_KIND_open, .open = { .object = i, .name = i, .handle = i } },
			{ .kind = IOT_KIND_map, .map = { .object = i, .handle = i, .map = i } },
			{ .kind = IOT_KIND_unlink, .unlink = { .object = i, .name = i } },
		};
		size_t r;

		for (r = 0; r < ARRAY_SIZE(records) && !err; r++)
			err = tell(names, &records[r]);
	}
	iot_names_close(names);
	return err;
}

static void names_survive(void **state)
{
	(void)state;
	try_all(learn_names);
}

static struct pattern *pattern;

static void *image;
static size_t image_bytes;

static int load_pattern(void)
{
	struct iot_reject reject = {};
	struct pattern *loaded;
	int err = pattern_load_bytes(image, image_bytes, &loaded, &reject);

	if (err)
		assert_int_equal(reject.reason, IOT_REJECT_memory);
	else
		pattern_free(loaded);
	return err;
}

static int expand_pattern(void)
{
	u64 operations;
	u8 digest[32];

	return pattern_expand(pattern, NULL, UINT64_MAX, digest, &operations);
}

/* Numbers of a task that need a table, loops, and texts with numbers. */
static void patterns_survive(void **state)
{
	static const char text[] = "size 3\nranks all {\nopen \"out.{rank}\" flags=write|create|created mode=0644 handle=1\n"
				   "write \"out.{rank}\" offset_bytes=7*rank*rank length_bytes=5 handle=1\n"
				   "write \"out.{rank}\" offset_bytes=100 length_bytes=17 handle=1\n"
				   "write \"out.{rank}\" offset_bytes=31 length_bytes=3 handle=1\n"
				   "write \"out.{rank}\" offset_bytes=77 length_bytes=1 handle=1\n"
				   "for i in 0 .. 5 { write \"out.{rank}\" offset_bytes=4K*i length_bytes=1K+rank handle=1 }\n"
				   "release \"out.{rank}\" handle=1\n}\n";
	struct pattern_refusal refusal = {};

	(void)state;
	if (pattern_parse(text, sizeof(text) - 1, 0, 1000, &pattern, &refusal))
		fail_msg("%s", refusal.text);
	assert_int_equal(pattern_image(pattern, &image, &image_bytes), 0);
	try_all(load_pattern);
	try_all(expand_pattern);
	free(image);
	pattern_free(pattern);
}

SUITE("memory",
      TEST(reader_survives)
      TEST(writer_survives)
      TEST(names_survive)
      TEST(patterns_survive))
