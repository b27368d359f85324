// SPDX-License-Identifier: GPL-2.0-only
/*
 * bandwidth.c - bandwidths of traces for which they are known by hand.
 */
#include "analyse/stats/bandwidth.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "scratch.h"
#include "scribe.h"
#include "suite.h"

#define ORIGIN_NS 1000000000ull
#define MS	  1000000ull
#define THREAD	  3 /* of the process of task 1 */

/* The next operation, of @task: from one time to another, in ms. */
static void at(struct scribe *s, u32 task, u64 begin_ms, u64 end_ms)
{
	s->task = task;
	s->span_ns = (end_ms - begin_ms) * MS;
	s->now_ns = ORIGIN_NS + end_ms * MS - 1000; /* which a scribe adds */
}

static void begin(struct scribe *s)
{
	scribe_begin(s);
	PUT(task, .task = THREAD, .pid = THREAD, .tgid = 1, .why = IOT_REASON_seen);
}

static void read_all(struct bandwidth *b)
{
	struct iot_reject reject = {};

	assert_int_equal(bandwidth_read(scratch_trace, b, &reject), 0);
}

static const struct bandwidth_client *client(const struct bandwidth *b, const char *name)
{
	const struct bandwidth_client *c = b->clients;

	while (c && strcmp(c->name, name))
		c = c->hh.next;
	assert_non_null(c);
	return c;
}

static const struct bandwidth_span *of_size(const struct bandwidth *b, u64 bytes, u32 direction)
{
	struct bandwidth_size *size;

	HASH_FIND(hh, b->sizes, &bytes, sizeof(bytes), size);
	assert_non_null(size);
	return &size->spans[direction];
}

#define ABOUT(value, expected) assert_true(fabs((value) - (expected)) < 0.01)

static void put_writes(struct scribe *s)
{
	at(s, 1, 0, 100);
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 1000000, .result = 1000000);
	at(s, THREAD, 50, 150);
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 1000000, .result = 1000000);
	at(s, 2, 200, 250); /* a short one */
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 600000, .result = 500000);
	at(s, 2, 250, 300);
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 600000, .result = -EIO);
}

/* 2,500,000 bytes in 250 ms; of the first process 2,000,000 in 150 ms, of the second one 500,000 in 50 ms. */
static void writes_of_threads_and_processes(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct bandwidth b = {};

	(void)state;
	begin(s);
	put_writes(s);
	scribe_finish(s);
	read_all(&b);
	assert_int_equal(b.spans[BANDWIDTH_WRITE].count, 3);
	assert_int_equal(b.spans[BANDWIDTH_WRITE].failed, 1);
	assert_int_equal(b.spans[BANDWIDTH_WRITE].bytes, 2500000);
	assert_int_equal(bandwidth_elapsed_ns(&b.spans[BANDWIDTH_WRITE]), 250 * MS);
	ABOUT(bandwidth_of_all(&b.spans[BANDWIDTH_WRITE]), 10e6);
	assert_int_equal(HASH_COUNT(b.clients), 2);
	assert_int_equal(client(&b, "? 1")->flows[BANDWIDTH_WRITE].busy_ns, 150 * MS);
	ABOUT(bandwidth_of_client(&client(&b, "? 1")->flows[BANDWIDTH_WRITE]), 40e6 / 3);
	ABOUT(bandwidth_of_client(&client(&b, "? 2")->flows[BANDWIDTH_WRITE]), 10e6);
	assert_int_equal(b.of_clients[BANDWIDTH_WRITE].count, 2);
	assert_int_equal(b.of_clients[BANDWIDTH_WRITE].known, 2);
	ABOUT(b.of_clients[BANDWIDTH_WRITE].mean, 35e6 / 3);
	ABOUT(b.of_clients[BANDWIDTH_WRITE].min, 10e6);
	ABOUT(b.of_clients[BANDWIDTH_WRITE].max, 40e6 / 3);
	ABOUT(bandwidth_of_requests(of_size(&b, 1000000, BANDWIDTH_WRITE)), 10e6);
	assert_int_equal(of_size(&b, 600000, BANDWIDTH_WRITE)->count, 1);
	assert_int_equal(HASH_COUNT(b.sizes), 2);
	/* nothing was read */
	assert_int_equal(b.of_clients[BANDWIDTH_READ].count, 0);
	assert_true(isnan(bandwidth_of_all(&b.spans[BANDWIDTH_READ])) && isnan(b.of_clients[BANDWIDTH_READ].mean));
	bandwidth_free(&b);
}

static void put_submit(struct scribe *s, u64 request, u64 begin_ms)
{
	at(s, 1, begin_ms, begin_ms + 1);
	PUT(submit, .object = SCRIBE_FILE, .request = request, .length_bytes = 4096);
}

static void put_complete(struct scribe *s, u64 request, u64 ms, s64 result)
{
	at(s, 1, ms, ms);
	PUT(complete, .task = 1, .request = request, .result = result);
}

/* Two requests at the same time, of 20 ms and, within these, 8 ms; one that fails, and one without an end. */
static void asynchronous_requests_overlap(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct bandwidth b = {};

	(void)state;
	begin(s);
	put_submit(s, 1, 300);
	put_submit(s, 2, 302);
	put_submit(s, 3, 304);
	put_complete(s, 2, 310, 4096);
	put_complete(s, 3, 315, -EIO);
	put_complete(s, 1, 320, 4096);
	put_submit(s, 4, 330);
	scribe_finish(s);
	read_all(&b);
	assert_int_equal(b.spans[BANDWIDTH_READ].count, 2);
	assert_int_equal(b.spans[BANDWIDTH_READ].failed, 1);
	assert_int_equal(b.unfinished, 1);
	assert_int_equal(bandwidth_elapsed_ns(&b.spans[BANDWIDTH_READ]), 20 * MS);
	ABOUT(bandwidth_of_all(&b.spans[BANDWIDTH_READ]), 409600);
	assert_int_equal(client(&b, "? 1")->flows[BANDWIDTH_READ].busy_ns, 20 * MS);
	ABOUT(bandwidth_of_client(&client(&b, "? 1")->flows[BANDWIDTH_READ]), 409600);
	ABOUT(bandwidth_of_requests(of_size(&b, 4096, BANDWIDTH_READ)), 8192e3 / 28);
	bandwidth_free(&b);
}

/* Two creates in 5 ms, one unlink in 2 ms; an open of an existing file, and one without a name, are no creates. */
static void creates_and_unlinks(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct bandwidth b = {};

	(void)state;
	begin(s);
	at(s, 1, 340, 341);
	PUT(open, .object = SCRIBE_FILE, .handle = 1, .name = SCRIBE_NAME, .flags = IOT_OPEN_create | IOT_OPEN_created);
	at(s, 2, 342, 345);
	PUT(mknod, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .mode = 0100644);
	at(s, 1, 346, 347);
	PUT(open, .object = SCRIBE_FILE, .handle = 2, .name = SCRIBE_NAME, .flags = IOT_OPEN_create);
	PUT(open, .object = SCRIBE_FILE, .handle = 3, .name = SCRIBE_DIR, .flags = IOT_OPEN_tmpfile | IOT_OPEN_created);
	PUT(mknod, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .mode = 0010644); /* a pipe */
	at(s, 1, 350, 352);
	PUT(unlink, .object = SCRIBE_FILE, .name = SCRIBE_NAME);
	PUT(unlink, .object = SCRIBE_FILE, .name = SCRIBE_NAME, .result = -ENOENT);
	PUT(copy_range, .object = SCRIBE_FILE, .to_object = SCRIBE_FILE, .length_bytes = 10, .result = 10);
	PUT(touch, .object = SCRIBE_FILE, .length_bytes = 4096);
	scribe_finish(s);
	read_all(&b);
	assert_int_equal(b.changes[BANDWIDTH_CREATE].count, 2);
	ABOUT(bandwidth_per_s(&b.changes[BANDWIDTH_CREATE]), 400);
	assert_int_equal(b.changes[BANDWIDTH_CREATE].min_ns, 1 * MS);
	assert_int_equal(b.changes[BANDWIDTH_CREATE].max_ns, 3 * MS);
	assert_int_equal(b.changes[BANDWIDTH_CREATE].time_ns, 4 * MS);
	assert_int_equal(b.changes[BANDWIDTH_UNLINK].count, 1);
	ABOUT(bandwidth_per_s(&b.changes[BANDWIDTH_UNLINK]), 500);
	assert_int_equal(b.copies, 1);
	assert_int_equal(b.touches, 1);
	assert_int_equal(HASH_COUNT(b.clients), 0);
	bandwidth_free(&b);
}

/* A log that does not have all durations. */
static void put_log(struct scribe *s)
{
	begin(s);
	scribe_put(s, (struct iot_record){ .kind = IOT_KIND_fact }, "source=strace");
	at(s, 1, 5, 5);
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 1000, .result = 1000);
	at(s, 1, 0, 10);
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 1000, .result = 1000);
	at(s, 2, 12, 20);
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 800, .result = 800);
}

static void unknown_durations_make_unknown_bandwidths(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct bandwidth b = {}, later = {};

	(void)state;
	put_log(s);
	scribe_finish(s);
	read_all(&b);
	ABOUT(bandwidth_of_all(&b.spans[BANDWIDTH_WRITE]), 140000); /* 2,800 bytes in 20 ms, the ends of which are known */
	assert_true(isnan(bandwidth_of_client(&client(&b, "? 1")->flows[BANDWIDTH_WRITE])));
	assert_int_equal(b.of_clients[BANDWIDTH_WRITE].count, 2);
	assert_int_equal(b.of_clients[BANDWIDTH_WRITE].known, 1);
	ABOUT(b.of_clients[BANDWIDTH_WRITE].mean, 100000);
	assert_true(isnan(bandwidth_of_requests(of_size(&b, 1000, BANDWIDTH_WRITE))));
	ABOUT(bandwidth_of_requests(of_size(&b, 800, BANDWIDTH_WRITE)), 100000);
	bandwidth_free(&b);
	put_log(s);
	at(s, 1, 30, 30); /* the last one: its end is not known */
	PUT(write, .object = SCRIBE_FILE, .length_bytes = 1000, .result = 1000);
	scribe_finish(s);
	read_all(&later);
	assert_true(isnan(bandwidth_of_all(&later.spans[BANDWIDTH_WRITE])));
	bandwidth_free(&later);
}

static void ranks_are_clients_and_selections_apply(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct bandwidth b = {}, selected = { .selection = { .task = 2 } };

	(void)state;
	begin(s);
	PUT(mpi_comm, .task = 1, .world_rank = 7);
	put_writes(s);
	scribe_finish(s);
	read_all(&b);
	assert_int_equal(client(&b, "rank 7")->flows[BANDWIDTH_WRITE].span.count, 2);
	assert_int_equal(client(&b, "? 2")->flows[BANDWIDTH_WRITE].span.count, 1);
	bandwidth_free(&b);
	read_all(&selected);
	assert_int_equal(selected.spans[BANDWIDTH_WRITE].bytes, 500000);
	assert_int_equal(HASH_COUNT(selected.clients), 1);
	bandwidth_free(&selected);
}

static void counters_are_refused(void **state)
{
	struct scribe scribe, *s = &scribe;
	struct iot_reject reject = {};
	struct bandwidth b = {};

	(void)state;
	begin(s);
	PUT(counted, .kind = IOT_KIND_read, .task = 1, .operations = 4);
	scribe_finish(s);
	assert_int_equal(bandwidth_read(scratch_trace, &b, &reject), -EOPNOTSUPP);
	assert_int_equal(reject.reason, IOT_REJECT_counted);
	bandwidth_free(&b);
}

SUITE("bandwidth",
      WITH_SCRATCH(writes_of_threads_and_processes)
      WITH_SCRATCH(asynchronous_requests_overlap)
      WITH_SCRATCH(creates_and_unlinks)
      WITH_SCRATCH(unknown_durations_make_unknown_bandwidths)
      WITH_SCRATCH(ranks_are_clients_and_selections_apply)
      WITH_SCRATCH(counters_are_refused))
