// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight.c - dumps of a flight recorder: they have the last records, all that these refer to, and the number of those
 * that they do not have.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "flight_program.h"
#include "flight_tape.h"
#include "suite.h"

/* -- tests ---------------------------------------------------------------------------------------- */

static void older_records_are_counted(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct contents found;
	u64 i;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, open, .object = FIRST_FREE, .name = FIRST_FREE, .handle = 7, .flags = IOT_OPEN_write | IOT_OPEN_created | IOT_OPEN_create);
	for (i = 0; i < 30000; i++)
		PUT(1, write, .object = FIRST_FREE, .handle = 7, .offset_bytes = (s64)i * 10, .length_bytes = 10, .result = 10,
		    .old_size_bytes = i * 10);
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	found = read_dump(1, FIRST_FREE);
	assert_true(found.ops > 1000 && found.ops < 20000);
	assert_int_equal(found.omissions.of[IOT_OMISSION_evicted].operations + found.ops, t->operations);
	assert_int_equal(found.omissions.of[IOT_OMISSION_evicted].bytes + found.omissions.bytes, 30000 * 10);
	assert_int_equal(found.omissions.of[IOT_OMISSION_forgotten].count, 0);
	assert_int_equal(found.info.missing, 0);
	assert_int_equal(found.info.lost, 0);
	assert_int_equal(found.opened, 1);
	assert_int_equal(found.size_bytes, (30000 - found.ops) * 10);
	assert_int_equal(found.position, found.size_bytes);
	assert_string_equal(found.cause, "a test");
	assert_non_null(strstr(found.omissions.of[IOT_OMISSION_evicted].detail, "the last 0.0"));
	compiles(dump_path(1));
	tape_finish(t);
	remove_dumps();
}

static void dump_without_loss_is_complete(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct contents found;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	found = read_dump(1, 0);
	assert_int_equal(found.ops, 1);
	assert_true(iot_omissions_is_none(&found.omissions));
	tape_finish(t);
	remove_dumps();
}

/* A number is there for each dump, and no file is replaced. */
static void dumps_are_numbered(void **state)
{
	struct tape tape = {}, *t = &tape;
	int fd;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	fd = open(dump_path(2), O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "one"), 0);
	assert_int_equal(flight_dump(t->flight, "two"), 0);
	assert_string_equal(read_dump(1, 0).cause, "one");
	assert_string_equal(read_dump(3, 0).cause, "two");
	tape_finish(t);
	remove_dumps();
}

/* A disk that is full: no file, no harm, and the next dump has the same records. */
static void failed_dump_leaves_no_file(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct rlimit limit, small;
	struct collector_result result;
	u64 i;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 1000; i++)
		PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	flush_all(t);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ .rlim_cur = 8192, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	i = (u64)flight_dump(t->flight, "a test");
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal((int)i, -EFBIG);
	assert_false(is_there(1));
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	assert_int_equal(read_dump(1, 0).ops, 1000);
	flight_result(t->flight, &result);
	assert_int_equal(result.dumps, 1);
	assert_int_equal(result.dumps_failed, 1);
	tape_finish(t);
	remove_dumps();
}

/* Gaps before the window are not of the dump; those in it are. */
static void gaps_are_counted_from_the_window(void **state)
{
	struct tape tape = { .batch = 10 }, *t = &tape;
	struct contents found;
	u32 i;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	flush_all(t);
	t->sequences[0] += 5;
	t->lost[1] += 3;
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 60000; i++) {
		if (i == 59000) {
			flush_all(t);
			t->sequences[0] += 7;
			t->lost[1] += 4;
		}
		PUT(1 + i % 3, stat, .object = FIRST_FREE, .name = FIRST_FREE);
	}
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	found = read_dump(1, 0);
	assert_int_equal(found.info.missing, 7);
	assert_int_equal(found.info.lost, 4);
	assert_int_equal(found.omissions.of[IOT_OMISSION_evicted].operations + found.ops, t->operations);
	tape_finish(t);
	remove_dumps();
}

/* Records of all CPUs leave in the order of their ends, so that nothing is missing after the first. */
static void window_is_equal_on_all_cpus(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct contents found;
	u64 i, all = 50000;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < all; i++)
		PUT(i % 100 ? 1 : 2 + draw(2), stat, .object = FIRST_FREE, .name = FIRST_FREE);
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	found = read_dump(1, 0);
	assert_int_equal(found.ops, (t->now_ns - found.begin_ns) / 1000 + 1);
	tape_finish(t);
	remove_dumps();
}

static void names_that_do_not_fit_are_counted(void **state)
{
	struct tape tape = {}, *t = &tape;
	struct contents found;
	char name[16];
	u64 i;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	for (i = 0; i < 40000; i++) {
		snprintf(name, sizeof(name), "f%llu", (unsigned long long)i);
		put_file(t, FIRST_FREE + i, FIRST_FREE + i, ROOT, name);
		PUT(1, stat, .object = FIRST_FREE + i, .name = FIRST_FREE + i);
	}
	for (i = 0; i < 100; i++)
		PUT(1, stat, .object = FIRST_FREE + i, .name = FIRST_FREE + i);
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	found = read_dump(1, 0);
	assert_true(found.omissions.of[IOT_OMISSION_forgotten].count > 10000);
	compiles(dump_path(1));
	tape_finish(t);
	remove_dumps();
}

static void put_slow(struct tape *t, u64 span_ns, s64 result)
{
	t->span_ns = span_ns;
	PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE, .result = result);
	t->span_ns = 500;
}

/* The directories of a file come before it. */
static int check_order(void *context, struct iot_names *names, const struct iot_record *record)
{
	bool *is_known = context;
	const char *path;

	if (record->kind != IOT_KIND_object || record->object.object != FIRST_FREE)
		return 0;
	path = iot_names_path(names, record->object.name);
	if (!path)
		return -ENOMEM;
	*is_known = !strcmp(path, "a");
	return 0;
}

/* The kernel sends records of an idle CPU late, when newer ones of a busy CPU have left already. */
static void late_records_are_evicted(void **state)
{
	struct tape tape = { .batch = BATCH_MAX }, *t = &tape;
	bool is_known = false;
	struct iot_trace_info info;
	struct iot_reject reject = {};

	(void)state;
	tape_open(t, MEMORY);
	put_name(t, 2, ROOT_NAME, 0, "");
	PUT(2, object, .object = ROOT, .name = ROOT_NAME, .type = IOT_TYPE_dir, .mode = S_IFDIR | 0755, .ino = 1, .nlink = 2);
	PUT(2, mount, .object = ROOT);
	PUT(1, task, .task = 1, .pid = 1, .tgid = 1, .why = IOT_REASON_seen);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	fill(t);
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	assert_int_equal(iot_trace_walk(dump_path(1), check_order, &is_known, &info, &reject), 0);
	assert_true(is_known);
	tape_finish(t);
	remove_dumps();
}

static void operations_cause_dumps(void **state)
{
	struct tape tape = { .batch = 1, .options = { .latency_ns = 100000, .dumps_max = 3 } }, *t = &tape;
	struct collector_result result;
	const struct iot_message_end end = {};
	u32 i;

	(void)state;
	t->options.errors[EIO / 64] |= 1ull << EIO % 64;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	put_slow(t, 99999, -ENOENT);
	assert_false(is_there(1));
	put_slow(t, 100000, 0);
	assert_string_equal(read_dump(1, 0).cause, "stat of task 1 took 0.100 ms");
	put_slow(t, 500, -EIO); /* waits for the records of the dump to leave */
	assert_false(is_there(2));
	fill(t);
	assert_string_equal(read_dump(2, 0).cause, "stat of task 1 returned EIO");
	fill(t);
	put_slow(t, 500, -EIO); /* nothing of the last dump is in memory */
	assert_true(is_there(3));
	for (i = 0; i < 4; i++) {
		put_slow(t, 500, -EIO);
		fill(t);
	}
	assert_false(is_there(4));
	flight_end(t->flight, &end, "");
	flight_result(t->flight, &result);
	assert_int_equal(result.dumps, 3);
	assert_int_equal(result.unheeded, 4);
	tape_finish(t);
	remove_dumps();
}

/* A request takes from its submission to its end; either record may come first, or be lost. */
static void slow_requests_cause_dumps(void **state)
{
	struct tape tape = { .batch = 1, .options = { .latency_ns = 100000 } }, *t = &tape;
	const struct iot_message_end end = {};
	u64 begin_ns;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	PUT(1, submit, .request = 5, .object = FIRST_FREE);
	begin_ns = t->now_ns - t->span_ns;
	t->now_ns = begin_ns + 100000 - 1 - 1000;
	PUT(1, complete, .task = 1, .request = 5);
	t->now_ns += 1000000;
	PUT(1, complete, .task = 1, .request = 6); /* its submission was lost; the next request has the same entry */
	t->now_ns += 1000000;
	PUT(1, submit, .request = 6 + 4096, .object = FIRST_FREE);
	PUT(1, complete, .task = 1, .request = 6 + 4096);
	assert_false(is_there(1));
	PUT(1, submit, .request = 7, .object = FIRST_FREE);
	begin_ns = t->now_ns - t->span_ns;
	t->now_ns = begin_ns + 2500000 - 1000;
	PUT(1, complete, .task = 1, .request = 7, .result = -EIO);
	assert_string_equal(read_dump(1, 0).cause, "an asynchronous request of task 1 took 2.500 ms");
	fill(t);
	fill(t);
	t->now_ns += 300000;
	PUT(1, complete, .task = 1, .request = 8);
	t->span_ns = 200000; /* its submission is recorded later */
	t->now_ns -= 50000;
	PUT(1, submit, .request = 8, .object = FIRST_FREE);
	assert_string_equal(read_dump(2, 0).cause, "an asynchronous request of task 1 took 0.249 ms");
	flight_end(t->flight, &end, "");
	tape_finish(t);
	remove_dumps();
}

/* Dumps that operations cause follow each other without a gap if each operation is a cause. */
static void no_cause_is_lost(void **state)
{
	struct tape tape = { .options = { .latency_ns = 1, .dumps_max = 30 } }, *t = &tape;
	const struct iot_message_end end = {};
	u64 ops = 0;
	u32 i;

	(void)state;
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	for (i = 0; i < 5; i++)
		fill(t);
	flush_all(t);
	flight_end(t->flight, &end, "");
	for (i = 1; is_there(i); i++)
		ops += read_dump(i, 0).ops;
	assert_true(i > 3 && i < 16);
	assert_true(ops >= t->operations);
	tape_finish(t);
	remove_dumps();
}

static void dump_at_the_end_is_optional(void **state)
{
	static const struct {
		const char *what;
		bool at_end;
		const char *reason;
		const char *cause;
	} rows[] = {
		{ "as planned", false, "", NULL },
		{ "on request", true, "", "the end of the recording" },
		{ "the recorder died", false, "the recorder died", "the recorder died" },
	};
	const struct iot_message_end end = {};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tape tape = { .options = { .at_end = rows[i].at_end } }, *t = &tape;

		tape_open(t, MEMORY);
		begin(t);
		flush_all(t);
		flight_end(t->flight, &end, rows[i].reason);
		assert_row(rows[i].what, is_there(1) == (rows[i].cause != NULL));
		if (rows[i].cause) {
			struct contents found = read_dump(1, 0);

			assert_row(rows[i].what, !strcmp(found.cause, rows[i].cause));
			assert_row(rows[i].what, found.omissions.of[IOT_OMISSION_partial].count == (*rows[i].reason != 0));
		}
		tape_finish(t);
		remove_dumps();
	}
}

/* A time of 1000 s: records that are older leave, though there is room for them. */
static void window_is_limited_by_time(void **state)
{
	struct tape tape = { .options = { .window_ns = 1000000000000ull } }, *t = &tape;
	struct timespec now;
	struct contents found;
	u32 i;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &now);
	tape_open(t, MEMORY);
	begin(t);
	put_file(t, FIRST_FREE, FIRST_FREE, ROOT, "a");
	t->now_ns = (u64)now.tv_sec * 1000000000u - 2500000000000ull;
	if ((s64)t->now_ns < 0) /* the machine has started a short time ago */
		t->now_ns = 0;
	for (i = 0; i < 5; i++) {
		PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
		t->now_ns += 500000000000ull;
	}
	flush_all(t);
	assert_int_equal(flight_dump(t->flight, "a test"), 0);
	found = read_dump(1, FIRST_FREE);
	assert_true(found.ops >= 1 && found.ops <= 3);
	assert_int_equal(found.omissions.of[IOT_OMISSION_evicted].operations + found.ops, 5);
	tape_finish(t);
	remove_dumps();
}

/* -- names in a dump are those in the trace of all of it ---------------------------------------- */

static void names_survive(void **state)
{
	static const u32 batches[] = { 1, 10, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
		struct tape tape = { .batch = batches[i] }, *t = &tape;
		struct iot_reject reject = {};
		struct places places = {};

		tape_open(t, MEMORY);
		run_program(t, 60000);
		flush_all(t);
		assert_int_equal(flight_dump(t->flight, "a test"), 0);
		tape_finish(t);
		assert_int_equal(iot_trace_walk(scratch_trace, note_place, &places, NULL, &reject), 0);
		assert_int_equal(iot_trace_walk(dump_path(1), compare_place, &places, NULL, &reject), 0);
		assert_true(places.compared > 1000);
		assert_true(places.unnamed < places.compared / 4);
		assert_int_equal(read_dump(1, 0).omissions.of[IOT_OMISSION_forgotten].count, 0);
		free_places(&places);
		compiles(dump_path(1));
		remove_dumps();
	}
}

SUITE("flight",
      WITH_SCRATCH(older_records_are_counted)
      WITH_SCRATCH(late_records_are_evicted)
      WITH_SCRATCH(dump_without_loss_is_complete)
      WITH_SCRATCH(dumps_are_numbered)
      WITH_SCRATCH(failed_dump_leaves_no_file)
      WITH_SCRATCH(gaps_are_counted_from_the_window)
      WITH_SCRATCH(window_is_equal_on_all_cpus)
      WITH_SCRATCH(names_that_do_not_fit_are_counted)
      WITH_SCRATCH(operations_cause_dumps)
      WITH_SCRATCH(slow_requests_cause_dumps)
      WITH_SCRATCH(no_cause_is_lost)
      WITH_SCRATCH(dump_at_the_end_is_optional)
      WITH_SCRATCH(window_is_limited_by_time)
      WITH_SCRATCH(names_survive))
