// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - from the counters of a session to records of the trace.
 */
#include "counters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* What records of one row have in common. */
struct row {
	struct iot_writer *writer;
	const struct iot_counter *counter;
	u64 time_ns;
	counters_need_fn need; /* called with the record that has the ids of the row; NULL for none */
	void *context;
};

static int put_counted(const struct row *row)
{
	const struct iot_counter *c = row->counter;
	struct iot_record record = {
		.kind = IOT_KIND_counted,
		.counted = {
			.time_ns = row->time_ns,
			.kind = c->kind,
			.task = c->task,
			.object = c->object,
			.mount = c->mount,
			.uid = c->uid,
			.is_write = !!(c->flags & IOT_COUNTER_WRITE),
			.operations = c->count,
			.errors = c->errors,
			.total_bytes = c->bytes,
			.duration_ns = c->duration_ns,
			.nested_ns = c->nested_ns,
			.longest_ns = c->longest_ns,
		},
	};

	int err = row->need ? row->need(row->context, &record) : 0;

	return err ? err : iot_writer_record(row->writer, &record);
}

static int put_bucket(const struct row *row, enum iot_measure measure, s64 from, u64 operations)
{
	const struct iot_counter *c = row->counter;
	struct iot_record record = {
		.kind = IOT_KIND_bucket,
		.bucket = {
			.time_ns = row->time_ns,
			.kind = c->kind,
			.task = c->task,
			.object = c->object,
			.mount = c->mount,
			.uid = c->uid,
			.is_write = !!(c->flags & IOT_COUNTER_WRITE),
			.measure = measure,
			.from = from,
			.operations = operations,
		},
	};

	return operations ? iot_writer_record(row->writer, &record) : 0;
}

/* @sign: -1: distances backward */
static int put_histogram(const struct row *row, enum iot_measure measure, const __u64 *buckets, u32 count, s64 sign)
{
	u32 i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = put_bucket(row, measure, i ? sign * (s64)(1ull << (i - 1)) : 0, buckets[i]);
	return err;
}

static int put_errors(const struct row *row)
{
	const struct iot_counter *c = row->counter;
	u64 others = c->errors;
	u32 i;
	int err = 0;

	for (i = 0; i < IOT_COUNTER_ERRNOS && !err; i++) {
		err = put_bucket(row, IOT_MEASURE_error, c->errnos[i], c->errno_counts[i]);
		others -= c->errno_counts[i] < others ? c->errno_counts[i] : others;
	}
	return err ? err : put_bucket(row, IOT_MEASURE_error, 0, others);
}

static int put_row(const struct row *row)
{
	const struct iot_counter *c = row->counter;
	const u32 half = IOT_COUNTER_STRIDES / 2;
	int err = put_counted(row);

	if (!err)
		err = put_histogram(row, IOT_MEASURE_latency, c->latencies, IOT_COUNTER_LATENCIES, 1);
	if (!err)
		err = put_histogram(row, IOT_MEASURE_size, c->sizes, IOT_COUNTER_SIZES, 1);
	if (!err)
		err = put_histogram(row, IOT_MEASURE_stride, c->strides, half, 1);
	if (!err)
		err = put_histogram(row, IOT_MEASURE_stride, c->strides + half, half, -1);
	return err ? err : put_errors(row);
}

/**
 * counter_write() - write the records of a row
 * @writer: of the trace
 * @row: from the kernel
 * @time_ns: when it was read, monotonic clock
 *
 * Return: 0 or a negative errno.
 */
int counter_write(struct iot_writer *writer, const struct iot_counter *row, u64 time_ns)
{
	const struct row r = { .writer = writer, .counter = row, .time_ns = time_ns };

	return put_row(&r);
}

static void add(struct counted *sum, const struct iot_counter *row)
{
	if (row->kind != IOT_KIND_complete)
		sum->operations += row->count;
	sum->bytes += row->bytes;
}

/**
 * counters_write() - write all counters of a session, or those set aside
 * @writer: of the trace
 * @session_fd: the session
 * @flags: bits IOT_COUNTERS_*
 * @time_ns: now, monotonic clock
 * @need: called before the ids of a row are written; NULL for none
 * @context: for @need
 * @sum: their sum is added to it
 *
 * Return: 0 or a negative errno.
 */
int counters_write(struct iot_writer *writer, int session_fd, u32 flags, u64 time_ns, counters_need_fn need, void *context,
		   struct counted *sum)
{
	struct iot_counter *rows = calloc(IOT_COUNTERS_ROOM_MAX, sizeof(*rows));
	struct iot_counters read = { .rows = (uintptr_t)rows, .room = IOT_COUNTERS_ROOM_MAX, .flags = flags };
	u32 i;
	int err = rows ? 0 : -ENOMEM;

	while (!err) {
		if (ioctl(session_fd, IOT_IOC_COUNTERS, &read))
			err = -errno;
		for (i = 0; i < read.count && !err; i++) {
			add(sum, &rows[i]);
			err = put_row(&(struct row){ writer, &rows[i], time_ns, need, context });
		}
		if (!read.next)
			break;
	}
	free(rows);
	return err;
}
