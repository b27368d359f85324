// SPDX-License-Identifier: GPL-2.0-only
/*
 * flight.c - takes records into a flight recorder, and decides when to write a dump.
 *
 * A dump that an operation causes is written at once, unless the last dump still has records in memory. Then it is
 * written just before records leave that are in no dump. So each operation that is a cause is in a dump, together
 * with the preceding records, and a repeated cause does not write the same records repeatedly.
 */
#include "flight.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "describe.h"
#include "flight_dump.h"
#include "flight_requests.h"
#include "flight_ring.h"
#include "flight_state.h"
#include "tally.h"

#define BYTES_MIN	(1 << 20)
#define STATE_SHARE	3 /* of the memory for records, in addition to it, for the objects that they refer to */
#define CAUSE_BYTES	160
#define DUMPS_MAX	1000000 /* numbers that are tried */

/**
 * struct flight - a flight recorder
 * @options, @o: as given
 * @ring, @state: records, and the objects that they refer to
 * @tally: sums over all records of the session
 * @evicted: records that have left
 * @begin_ns, @begin_real_ns: when the recording began
 * @newest_ns: end of the last record
 * @dumped_ns: end of the last record in the last dump; 0: there is none
 * @left_ns: latest end of a record that has left
 * @own_sequence: number of the next record of the collector
 * @requests: asynchronous requests under way
 * @number: of the last dump
 * @caused: dumps that operations caused
 * @pending: cause of a dump that is still to be written, "" for none
 * @reason: why the recording ended, "" before that
 */
struct flight {
	const struct collector_options *options;
	const struct flight_options *o;
	struct flight_ring ring;
	struct flight_state *state;
	struct tally tally;
	struct iot_omission evicted;
	u64 begin_ns;
	u64 begin_real_ns;
	u64 newest_ns;
	u64 dumped_ns;
	u64 left_ns;
	u64 own_sequence;
	struct flight_requests requests;
	u64 number;
	u64 caused;
	char pending[CAUSE_BYTES];
	const char *reason;
};

/**
 * flight_open() - begin to record
 * @options: path, facts, last_fact, session_fd and flight are used, and stay valid
 * @flight: out: to be freed by flight_close()
 *
 * All memory for records and names is allocated here.
 *
 * Return: 0 or a negative errno.
 */
int flight_open(const struct collector_options *options, struct flight **flight)
{
	struct flight *f = calloc(1, sizeof(*f));
	u64 bytes = options->flight->bytes < BYTES_MIN ? BYTES_MIN : options->flight->bytes;
	int err;

	if (!f)
		return -ENOMEM;
	f->options = options;
	f->o = options->flight;
	f->reason = "";
	f->begin_ns = iot_clock_ns(CLOCK_MONOTONIC);
	f->begin_real_ns = iot_clock_ns(CLOCK_REALTIME);
	err = flight_ring_open(&f->ring, bytes);
	if (!err)
		err = flight_state_open(bytes / STATE_SHARE, &f->state);
	if (!err)
		err = flight_clock(f);
	if (err) {
		flight_close(f);
		return err;
	}
	*flight = f;
	return 0;
}

/**
 * flight_close() - free; NULL is allowed
 */
void flight_close(struct flight *flight)
{
	if (!flight)
		return;
	flight_ring_close(&flight->ring);
	flight_state_close(flight->state);
	free(flight);
}

/* -- dumps ---------------------------------------------------------------------------------------- */

static void print_path(char path[PATH_MAX], const char *output, u64 number)
{
	size_t bytes = strlen(output);
	bool has_suffix = bytes > 4 && !strcmp(output + bytes - 4, ".iot");

	snprintf(path, PATH_MAX, "%.*s.%llu%s", (int)(has_suffix ? bytes - 4 : bytes), output,
		 (unsigned long long)number, has_suffix ? ".iot" : "");
}

/* The next number whose name is free: no earlier dump is replaced. */
static int choose_path(struct flight *flight, char path[PATH_MAX])
{
	struct stat stat;
	u64 number;

	for (number = flight->number + 1; number <= DUMPS_MAX; number++) {
		print_path(path, flight->options->path, number);
		if (lstat(path, &stat)) {
			flight->number = number;
			return 0;
		}
	}
	return -EEXIST;
}

static void say_dump(const struct flight *flight, const struct flight_dump *dump, const char *path, int err)
{
	char text[PATH_MAX + 512];

	if (err) {
		snprintf(text, sizeof(text), "%s: %s: no dump was written; its cause: %s", path, strerror(-err), dump->cause);
		if (flight->o->complain)
			flight->o->complain(text);
		return;
	}
	snprintf(text, sizeof(text), "%s: the last %.3f s, %llu records; its cause: %s", path,
		 (double)dump->window_ns / 1e9, (unsigned long long)dump->records, dump->cause);
	if (flight->o->say)
		flight->o->say(text);
}

static bool evict_until(struct flight *flight, u64 end_ns);

/**
 * flight_dump() - write the last records
 * @flight: the recorder
 * @cause: a phrase
 *
 * Records stay in memory. After an error there is no file, and the next dump may succeed.
 *
 * Return: 0 or a negative errno.
 */
int flight_dump(struct flight *flight, const char *cause)
{
	const struct collector_options *options = flight->options;
	bool is_end = *flight->reason || flight->tally.result.is_complete;
	struct flight_dump dump = {
		.ring = &flight->ring,
		.state = flight->state,
		.facts = options->facts,
		.cause = cause,
		.begin_ns = flight->begin_ns,
		.begin_real_ns = flight->begin_real_ns,
		.last_fact = is_end && options->last_fact ? options->last_fact : "",
		.reason = flight->reason,
	};
	char path[PATH_MAX];
	u64 now = iot_clock_ns(CLOCK_MONOTONIC);
	int err;

	flight->pending[0] = 0;
	if (flight->o->window_ns && now > flight->o->window_ns)
		evict_until(flight, now - flight->o->window_ns);
	err = choose_path(flight, path);
	dump.number = flight->number;
	dump.evicted = flight->evicted;
	if (!err)
		err = flight_dump_write(&dump, path);
	flight->dumped_ns = flight->newest_ns;
	flight->tally.result.dumps += !err;
	flight->tally.result.dumps_failed += err != 0;
	if (err)
		flight->number--; /* the name is free */
	else
		session_describe(options, path);
	say_dump(flight, &dump, path, err);
	return err;
}

/* A dump that an operation caused. */
static void dump_pending(struct flight *flight)
{
	char cause[CAUSE_BYTES];

	memcpy(cause, flight->pending, sizeof(cause));
	flight->caused++;
	flight_dump(flight, cause);
}

/* -- records leave ----------------------------------------------------------------------------------- */

/* An operation leaves with its call site, which is the record before it: the remaining ones have theirs. */
static bool evict(struct flight *flight)
{
	const struct iot_kind_info *info;
	struct iot_record record, site;
	u64 end_ns;

	if (!flight_ring_oldest(&flight->ring, &end_ns, &record))
		return false;
	if (flight->pending[0] && end_ns > flight->dumped_ns)
		dump_pending(flight);
	info = iot_kind_info(record.kind);
	flight->evicted.count++;
	if (info) {
		flight->evicted.operations += info->group == IOT_GROUP_op && record.kind != IOT_KIND_complete;
		flight->evicted.bytes += iot_record_moved_bytes(&record);
		flight_state_apply(flight->state, &record);
	}
	site = record;
	flight_ring_drop(&flight->ring, site.kind == IOT_KIND_called_from);
	if (end_ns > flight->left_ns)
		flight->left_ns = end_ns;
	if (site.kind == IOT_KIND_called_from && flight_ring_oldest(&flight->ring, &end_ns, &record) && flight_is_called_from(&record, &site))
		evict(flight);
	return true;
}

/* Return: did any leave? */
static bool evict_until(struct flight *flight, u64 until_ns)
{
	struct iot_record record;
	bool has_left = false;
	u64 end_ns;

	while (flight_ring_oldest(&flight->ring, &end_ns, &record) && end_ns < until_ns)
		has_left |= evict(flight);
	return has_left;
}

/* -- operations that cause a dump -------------------------------------------------------------------- */

static bool is_slow(const struct flight *flight, u64 duration_ns)
{
	return flight->o->latency_ns && duration_ns >= flight->o->latency_ns;
}

static bool is_cause(const struct flight *flight, s64 result)
{
	return result < 0 && result >= -FLIGHT_ERRNO_MAX &&
	       flight->o->errors[-result / 64] >> (-result % 64) & 1;
}

/* @request_ns: of an asynchronous request of which this is the second record, else 0 */
static void check_record(struct flight *flight, const struct iot_record *record, u64 request_ns, char cause[CAUSE_BYTES])
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	bool is_end = record->kind == IOT_KIND_complete;
	s64 result = is_end ? record->complete.result : record->op.result;
	u64 duration_ns = is_end ? 0 : record->op.duration_ns;
	const char *name = iot_text_errno(result);

	if (is_slow(flight, request_ns))
		snprintf(cause, CAUSE_BYTES, "an asynchronous request of task %u took %.3f ms", iot_record_task(record),
			 (double)request_ns / 1e6);
	else if (is_slow(flight, duration_ns))
		snprintf(cause, CAUSE_BYTES, "%s of task %u took %.3f ms", info->name, iot_record_task(record),
			 (double)duration_ns / 1e6);
	else if (is_cause(flight, result))
		snprintf(cause, CAUSE_BYTES, "%s of task %u returned %s", info->name, iot_record_task(record),
			 name ? name : "an error");
}

/* The first one of a message is named. */
static void check_message(struct flight *flight, const struct message *message, char cause[CAUSE_BYTES])
{
	const u8 *p = message->records, *stop = p + message->bytes;
	const struct iot_kind_info *info;
	struct iot_record record;
	u64 request_ns;
	int n;

	for (; p < stop; p += n) {
		n = iot_record_decode(p, (size_t)(stop - p), &record);
		if (n < 0)
			return;
		info = iot_kind_info(record.kind);
		if (!info)
			continue;
		if (iot_record_end_ns(&record) > flight->newest_ns)
			flight->newest_ns = iot_record_end_ns(&record);
		request_ns = flight_request_ns(&flight->requests, &record);
		if (info->group == IOT_GROUP_op && !cause[0])
			check_record(flight, &record, request_ns, cause);
	}
}

static void take_cause(struct flight *flight, const char *cause)
{
	struct iot_record record;
	u64 end_ns;

	if (!cause[0] || flight->pending[0])
		return;
	if (flight->caused >= flight->o->dumps_max) {
		flight->tally.result.unheeded++;
		return;
	}
	snprintf(flight->pending, sizeof(flight->pending), "%s", cause);
	if (!flight->dumped_ns || !flight_ring_oldest(&flight->ring, &end_ns, &record) || end_ns > flight->dumped_ns)
		dump_pending(flight);
}

/* -- records come -------------------------------------------------------------------------------------- */

static int add(struct flight *flight, const struct flight_batch *batch)
{
	int err = flight_ring_reserve(&flight->ring, batch->stream);

	if (err)
		return err;
	while (!flight_ring_has_room(&flight->ring, batch))
		if (!evict(flight))
			return -ENOBUFS;
	flight_ring_add(&flight->ring, batch);
	/* The kernel sends records of an idle CPU late. Older ones must leave, too, because the remaining ones refer to them. */
	evict_until(flight, flight->left_ns);
	if (flight->o->window_ns && flight->newest_ns > flight->o->window_ns)
		evict_until(flight, flight->newest_ns - flight->o->window_ns);
	return 0;
}

/**
 * flight_message() - take the records of a message
 * @flight: the recorder
 * @message: stays the caller's
 *
 * Return: 0 or a negative errno.
 */
int flight_message(struct flight *flight, const struct message *message)
{
	const struct flight_batch batch = {
		.stream = le32_to_cpu(message->head.cpu) + 1,
		.sequence = le64_to_cpu(message->head.sequence),
		.lost = le64_to_cpu(message->head.lost),
		.records = message->records,
		.bytes = message->bytes,
	};
	char cause[CAUSE_BYTES] = "";
	u64 next;
	int err = batch.stream ? flight_ring_reserve(&flight->ring, batch.stream) : -EINVAL;

	if (err)
		return err;
	next = flight->ring.streams[batch.stream].next_sequence;
	if (batch.sequence > next)
		flight->tally.result.missing += batch.sequence - next;
	tally_message(&flight->tally, message);
	check_message(flight, message, cause);
	err = add(flight, &batch);
	if (!err)
		take_cause(flight, cause);
	return err;
}

/**
 * flight_clock() - take a pair of clock readings
 * @flight: the recorder
 *
 * Return: 0 or a negative errno.
 */
int flight_clock(struct flight *flight)
{
	const struct iot_record record = {
		.kind = IOT_KIND_clock,
		.clock = { .time_ns = iot_clock_ns(CLOCK_MONOTONIC), .real_ns = iot_clock_ns(CLOCK_REALTIME) },
	};
	u8 bytes[IOT_RECORD_MAX_BYTES];
	int count = iot_record_encode(bytes, sizeof(bytes), &record);
	const struct flight_batch batch = { .sequence = flight->own_sequence, .records = bytes, .bytes = (size_t)count };

	if (count < 0)
		return count;
	flight->own_sequence++;
	return add(flight, &batch);
}

/**
 * flight_end() - the recording has ended
 * @flight: the recorder
 * @end: totals of the kernel
 * @reason: why it ended, "" if as planned; if not, the last records are written
 */
void flight_end(struct flight *flight, const struct iot_message_end *end, const char *reason)
{
	flight->reason = reason;
	tally_end(&flight->tally, end);
	flight->tally.result.refused = le64_to_cpu(end->refused);
	flight->tally.result.is_complete = true;
	if (flight->o->at_end || *reason)
		flight_dump(flight, *reason ? reason : "the end of the recording");
	else if (flight->pending[0])
		dump_pending(flight);
}

/**
 * flight_result() - the result of the recording
 */
void flight_result(const struct flight *flight, struct collector_result *result)
{
	tally_result(&flight->tally, result);
}
