// SPDX-License-Identifier: GPL-2.0-only
/*
 * sink_files.c - ends a file of a trace and begins the next one, while the recording goes on.
 *
 * The files are divided at a moment, so that each has all that its records refer to: it is chosen, then the kernel is asked for a
 * mark behind all records from before. Records that ended after the moment, and arrive before the mark, are held for the next
 * file. With the mark, the file has all of its records. An operation is in the file in which it ends.
 *
 * If the next file cannot be made, the recording goes on in the current one, and another attempt follows.
 */
#include "sink_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "carry.h"
#include "file_numbers.h"
#include "flight_ring.h"
#include "memory.h"
#include "sink.h"
#include "sink_state.h"

#define RING_SHARE   4 /* of the memory for the state, in addition to it, for records that wait for others */
#define RETRY_NS     10000000000ull /* to the next attempt, if the next file could not be made */
#define MARK_WAIT_NS 2000000000ull  /* the kernel drops a mark that it has no memory for */

#define NUMBER_CHARACTERS 21 /* a number and its dot, at most */

/* A message for the next file. */
struct held {
	struct held *next;
	struct message *message;
};

/**
 * struct sink_files - see above
 * @options: as given
 * @carry: what the next file needs
 * @id: of the recording, the same in all files
 * @path: of the current file
 * @number: in it
 * @ordinal: of the current file, from 1
 * @since_ns: when it began
 * @is_begun: its first records are written
 * @cut_ns: the moment that divides it from the next one; 0: it goes on
 * @mark: number of the mark that is waited for
 * @asked_ns: when it was asked for
 * @retry_ns: no attempt before that
 * @refused: operations that a filter excluded until the mark was asked for
 * @is_aside: the counters of this file are set aside
 * @held, @held_end: messages for the next file
 */
struct sink_files {
	const struct collector_options *options;
	struct carry *carry;
	char id[33];
	char path[PATH_MAX];
	u64 number;
	u64 ordinal;
	u64 since_ns;
	bool is_begun;
	u64 cut_ns;
	u64 mark;
	u64 asked_ns;
	u64 retry_ns;
	u64 refused;
	bool is_aside;
	struct held *held;
	struct held **held_end;
};

/* -- the files ------------------------------------------------------------------------------------ */

static void complain(const struct sink_files *files, const char *path, int err, const char *what)
{
	char text[PATH_MAX + 256];

	if (!files->options->rotation->complain)
		return;
	snprintf(text, sizeof(text), "%s: %s: %s", path, strerror(-err), what);
	files->options->rotation->complain(text);
}

/* Old files go before a new one comes, which may need their room. */
static void remove_old(const struct sink_files *files)
{
	char path[PATH_MAX];
	int err = 0;

	if (files->options->rotation->keep)
		err = file_number_keep(files->options->path, files->options->rotation->keep - 1, path);
	if (err)
		complain(files, path, err, "old files are not removed");
}

static bool is_taken(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat);
}

/* Behind the last file of the user. A file of another user with such a name is left alone, and has no say in the numbers. */
static int choose_path(struct sink_files *files, char path[PATH_MAX], u64 *number)
{
	int err;

	if (strlen(files->options->path) + NUMBER_CHARACTERS >= PATH_MAX)
		return -ENAMETOOLONG;
	err = file_number_last(files->options->path, number);
	if (*number < files->number)
		*number = files->number; /* its file has been moved away */
	do {
		file_number_path(path, files->options->path, ++*number);
	} while (is_taken(path));
	return err;
}

static int make_id(char id[33])
{
	unsigned char bytes[16];
	int i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int files_new(const struct collector_options *options, struct sink_files **files)
{
	struct sink_files *f = calloc(1, sizeof(*f));
	int err = f ? make_id(f->id) : -ENOMEM;

	if (!err)
		err = carry_open(options->rotation->state_bytes / RING_SHARE, options->rotation->state_bytes, &f->carry);
	if (err) {
		sink_files_close(f);
		return err;
	}
	f->options = options;
	f->ordinal = 1;
	f->is_begun = true;
	f->since_ns = iot_clock_ns(CLOCK_MONOTONIC);
	f->held_end = &f->held;
	*files = f;
	return 0;
}

/**
 * sink_files_open() - begin a trace in several files
 * @options: path, rotation, facts and session_fd are used, and stay valid
 * @sink: out: to be freed by sink_close()
 *
 * Return: 0 or a negative errno.
 */
int sink_files_open(const struct collector_options *options, struct sink **sink)
{
	struct sink_files *files;
	int err = files_new(options, &files);

	if (err)
		return err;
	remove_old(files);
	err = choose_path(files, files->path, &files->number);
	if (!err)
		err = sink_open(files->path, 0, sink);
	if (err) {
		sink_files_close(files);
		return err;
	}
	(*sink)->files = files;
	return 0;
}

/**
 * sink_files_path() - the path of the current file
 */
const char *sink_files_path(const struct sink *sink)
{
	return sink->files->path;
}

/**
 * sink_files_result() - fill in what a result has of files
 */
void sink_files_result(const struct sink *sink, struct collector_result *result)
{
	result->files = sink->files->ordinal;
	result->file_number = sink->files->number;
}

static void drop_held(struct sink_files *files)
{
	struct held *held = files->held;

	files->held = held->next;
	if (!files->held)
		files->held_end = &files->held;
	free(held->message);
	free(held);
}

/**
 * sink_files_close() - free; NULL is allowed
 */
void sink_files_close(struct sink_files *files)
{
	if (!files)
		return;
	while (files->held)
		drop_held(files);
	carry_close(files->carry);
	free(files);
}

/* -- the beginning of a file ---------------------------------------------------------------------- */

static int put_numbers(struct sink *sink, u64 time_ns)
{
	char fact[96];
	int err;

	snprintf(fact, sizeof(fact), IOT_FACT_RECORDING "=%s", sink->files->id);
	err = iot_writer_fact(sink->writer, time_ns, fact);
	snprintf(fact, sizeof(fact), IOT_FACT_FILE "=%llu", (unsigned long long)sink->files->ordinal);
	return err ? err : iot_writer_fact(sink->writer, time_ns, fact);
}

/**
 * sink_files_describe() - state the number of the first file
 * @sink: the trace, whose facts are written; nothing happens for one in one file
 *
 * Return: 0 or a negative errno.
 */
int sink_files_describe(struct sink *sink)
{
	return sink->files ? put_numbers(sink, iot_clock_ns(CLOCK_MONOTONIC)) : 0;
}

/* Before all others, which have the time @time_ns or a later one. */
static int put_beginning(struct sink *sink, u64 time_ns)
{
	const struct iot_record clock = {
		.kind = IOT_KIND_clock,
		.clock = { .time_ns = time_ns - 1, .real_ns = iot_clock_ns(CLOCK_REALTIME) - (iot_clock_ns(CLOCK_MONOTONIC) - time_ns + 1) },
	};
	const struct sink_files *files = sink->files;
	const char *const *fact;
	int err = iot_writer_record(sink->writer, &clock);

	for (fact = files->options->facts; *fact && !err; fact++)
		err = iot_writer_fact(sink->writer, time_ns - 1, *fact);
	if (!err)
		err = put_numbers(sink, time_ns - 1);
	return err ? err : iot_writer_flush(sink->writer);
}

/**
 * sink_files_announce() - write what comes before records that are about to be written
 * @sink: the trace
 *
 * Return: 0 or a negative errno.
 */
int sink_files_announce(struct sink *sink)
{
	struct sink_files *files = sink->files;
	int err = 0;

	if (!files)
		return 0;
	if (!files->is_begun) {
		files->is_begun = true;
		err = put_beginning(sink, carry_begin_ns(files->carry));
		if (!err)
			err = sink_memory(sink);
	}
	return err ? err : carry_write(files->carry, sink->writer);
}

/**
 * sink_files_carry() - the records of a message are about to be in the file
 * @sink: the trace
 * @message: stays the caller's
 *
 * Return: 0 or a negative errno.
 */
int sink_files_carry(struct sink *sink, const struct message *message)
{
	return sink->files ? carry_message(sink->files->carry, message) : 0;
}

/**
 * sink_files_need() - a record that the collector makes is about to be in the file
 * @sink: the trace
 * @record: with ids
 *
 * Return: 0 or a negative errno.
 */
int sink_files_need(void *sink, const struct iot_record *record)
{
	return carry_need(((struct sink *)sink)->files->carry, record);
}

/* -- messages while a file ends ------------------------------------------------------------------- */

/* A part of the records of a message. */
struct part {
	size_t at;
	size_t bytes;
	u32 first;
	u32 count;
	u64 last_ns;
};

/* The records up to the first one that ended after a moment. A call site stays with its operation. */
static struct part part_before(const struct message *message, u64 cut_ns)
{
	struct iot_record record, before = {};
	struct part part = {}, with_site = {};
	int n;

	while (part.bytes < message->bytes) {
		n = iot_record_decode(message->records + part.bytes, message->bytes - part.bytes, &record);
		if (n < 0)
			break;
		if (iot_kind_info(record.kind) && iot_record_end_ns(&record) > cut_ns)
			return before.kind == IOT_KIND_called_from && flight_is_called_from(&record, &before) ? with_site : part;
		with_site = part;
		part.bytes += (size_t)n;
		part.count++;
		part.last_ns = iot_kind_info(record.kind) ? iot_record_end_ns(&record) : part.last_ns;
		before = record;
	}
	part.bytes = message->bytes;
	part.count = le32_to_cpu(message->head.count);
	part.last_ns = le64_to_cpu(message->head.last_ns);
	return part;
}

static struct message *part_copy(const struct message *message, const struct part *part)
{
	struct message *copy = message_new(MESSAGE_RECORDS, part->bytes);

	if (!copy)
		return NULL;
	copy->head = message->head;
	copy->head.sequence = cpu_to_le64(le64_to_cpu(message->head.sequence) + part->first);
	copy->head.count = cpu_to_le32(part->count);
	copy->head.last_ns = cpu_to_le64(part->last_ns);
	memcpy(copy->records, message->records + part->at, part->bytes);
	return copy;
}

static int hold(struct sink *sink, const struct message *message, const struct part *part)
{
	struct sink_files *files = sink->files;
	struct stream *stream = sink_stream(sink, le32_to_cpu(message->head.cpu));
	struct held *held = calloc(1, sizeof(*held));
	struct iot_record record;

	if (held)
		held->message = part_copy(message, part);
	if (!stream || !held || !held->message) {
		free(held);
		return -ENOMEM;
	}
	if (iot_record_decode(held->message->records, part->bytes, &record) > 0 && iot_kind_info(record.kind))
		held->message->head.first_ns = cpu_to_le64(iot_record_end_ns(&record));
	stream->is_held = true;
	*files->held_end = held;
	files->held_end = &held->next;
	return 0;
}

/* The beginning of a message is for this file. Records that were lost before its end count in the next one. */
static int take_part(struct sink *sink, const struct message *message, const struct part *part)
{
	const struct stream *stream = sink_stream(sink, le32_to_cpu(message->head.cpu));
	struct message *copy = stream ? part_copy(message, part) : NULL;
	int err;

	if (!copy)
		return -ENOMEM;
	copy->head.lost = cpu_to_le64(stream->lost);
	err = sink_take(sink, copy);
	free(copy);
	return err;
}

/**
 * sink_files_message() - take the records of a message, for this file or the next one
 * @sink: the trace
 * @message: stays the caller's
 *
 * Return: 0 or a negative errno.
 */
int sink_files_message(struct sink *sink, const struct message *message)
{
	struct stream *stream = sink_stream(sink, le32_to_cpu(message->head.cpu));
	struct part part = {}, rest;
	int err = 0;

	if (!stream)
		return -ENOMEM;
	if (!sink->files->cut_ns)
		return sink_take(sink, message);
	if (!stream->is_held)
		part = part_before(message, sink->files->cut_ns);
	if (part.bytes == message->bytes)
		return sink_take(sink, message);
	if (part.count)
		err = take_part(sink, message, &part);
	rest = (struct part){
		.at = part.bytes,
		.bytes = message->bytes - part.bytes,
		.first = part.count,
		.count = le32_to_cpu(message->head.count) - part.count,
		.last_ns = le64_to_cpu(message->head.last_ns),
	};
	return err ? err : hold(sink, message, &rest);
}

/* The file goes on, or the next one has begun. */
static int release_held(struct sink *sink)
{
	struct sink_files *files = sink->files;
	u32 i;
	int err = 0;

	files->cut_ns = 0;
	for (i = 0; i < sink->stream_count; i++)
		sink->streams[i].is_held = false;
	while (files->held && !err) {
		err = sink_take(sink, files->held->message);
		drop_held(files);
	}
	return err;
}

/* -- from one file to the next ---------------------------------------------------------------------- */

static bool is_due(const struct sink *sink, u64 now)
{
	const struct sink_files *files = sink->files;
	const struct rotation_options *o = files->options->rotation;

	if (now < files->retry_ns || sink->tally.pauses.pause_ns)
		return false;
	if (o->bytes && iot_writer_bytes(sink->writer) >= o->bytes)
		return true;
	/* A file without records goes on, so that it does not drive out others. */
	return o->period_ns && now - files->since_ns >= o->period_ns && (sink->part.records || sink->has_counters);
}

/* Counters count from 0 again at the moment that divides the files. Return: 0 or a negative errno. */
static int set_aside(const struct sink *sink)
{
	sink->files->is_aside = sink->has_counters && !ioctl(sink->files->options->session_fd, IOT_IOC_TURN);
	return sink->has_counters && !sink->files->is_aside && errno != ENOMEM ? -errno : 0;
}

/* Return: 0 or a negative errno. Without a mark there is another attempt. */
static int ask(struct sink *sink, u64 now)
{
	struct sink_files *files = sink->files;
	struct iot_mark mark = {};
	bool is_first = !files->cut_ns;
	int err = is_first && !files->is_aside ? set_aside(sink) : 0;
	u64 moment_ns = iot_clock_ns(CLOCK_MONOTONIC);

	if (err || ioctl(files->options->session_fd, IOT_IOC_MARK, &mark))
		return err; /* a change of the session is under way, or it ends */
	if (is_first) {
		files->cut_ns = moment_ns;
		files->refused = mark.refused;
	}
	files->mark = mark.number;
	files->asked_ns = now;
	return 0;
}

/**
 * sink_files_tick() - is it time for the next file?
 * @sink: the trace; nothing happens for one in one file
 * @now_ns: monotonic clock
 *
 * Return: 0 or a negative errno.
 */
int sink_files_tick(struct sink *sink, u64 now_ns)
{
	const struct sink_files *files = sink->files;

	if (!files)
		return 0;
	if (files->cut_ns)
		return now_ns - files->asked_ns > MARK_WAIT_NS ? ask(sink, now_ns) : 0;
	return files->is_aside || is_due(sink, now_ns) ? ask(sink, now_ns) : 0;
}

/**
 * sink_files_are_turning() - is a file about to end?
 * @sink: the trace
 */
bool sink_files_are_turning(const struct sink *sink)
{
	return sink->files && (sink->files->cut_ns || sink->files->is_aside);
}

static int put_count(struct sink *sink, enum iot_omission_reason reason, u64 count)
{
	struct iot_omissions omissions = {};
	char text[IOT_OMISSION_TEXT_BYTES];

	iot_omissions_add(&omissions, reason, count, 0, 0, NULL);
	return iot_omission_fact(&omissions, reason, text) ? sink_fact(sink, text) : 0;
}

/**
 * sink_files_end() - all records of the recording have come, or of the current file
 * @sink: the trace, nothing happens for one in one file
 *
 * Return: 0 or a negative errno.
 */
int sink_files_end(struct sink *sink)
{
	struct sink_files *files = sink->files;
	int err = files ? release_held(sink) : 0;

	if (!files || err)
		return err;
	if (files->is_aside)
		err = sink_aside(sink, files->options->session_fd);
	files->is_aside = false;
	return err ? err : put_count(sink, IOT_OMISSION_forgotten, carry_forgotten(files->carry));
}

static u64 lost_in_file(const struct sink *sink)
{
	u64 lost = 0;
	u32 i;

	for (i = 0; i < sink->stream_count; i++)
		lost += sink->streams[i].lost - sink->streams[i].base_lost;
	return lost;
}

static int put_end(struct sink *sink)
{
	const struct iot_record record = {
		.kind = IOT_KIND_end,
		.end = {
			.time_ns = iot_clock_ns(CLOCK_MONOTONIC),
			.records = sink->part.records + sink->part.missing,
			.lost = sink->part.lost,
		},
	};

	return iot_writer_record(sink->writer, &record);
}

static int put_counters(struct sink *sink)
{
	struct sink_files *files = sink->files;
	int err = files->is_aside ? sink_aside(sink, files->options->session_fd) : 0;

	files->is_aside = false;
	if (!err && sink->has_counters)
		err = sink_counted(sink);
	sink->counted = (struct counted){};
	return err;
}

/* The current file has all of its records. */
static int end_file(struct sink *sink)
{
	struct sink_files *files = sink->files;
	char fact[64];
	int err = put_counters(sink);

	if (!err)
		err = sink_flush(sink, true);
	if (!err)
		err = sink_clock(sink);
	if (!err)
		err = sink_memory(sink);
	if (!err && sink->has_filter)
		err = sink_refused(sink, files->refused);
	if (!err)
		err = put_count(sink, IOT_OMISSION_forgotten, carry_forgotten(files->carry));
	snprintf(fact, sizeof(fact), IOT_FACT_NEXT_FILE "=%llu", (unsigned long long)files->ordinal + 1);
	if (!err)
		err = sink_fact(sink, fact);
	sink->part.lost = lost_in_file(sink);
	if (!err)
		err = put_end(sink);
	return err ? err : iot_writer_finish(sink->writer);
}

static void begin_file(struct sink *sink, struct iot_writer *writer)
{
	struct sink_part *before = &sink->before;
	u32 i;

	before->records += sink->part.records + sink->part.missing;
	before->lost += sink->part.lost;
	before->refused += sink->part.refused;
	before->bytes += iot_writer_bytes(sink->writer);
	sink->part = (struct sink_part){};
	iot_writer_close(sink->writer);
	sink->writer = writer;
	for (i = 0; i < sink->stream_count; i++) {
		sink->streams[i].base_sequence = sink->streams[i].next_sequence;
		sink->streams[i].base_lost = sink->streams[i].lost;
	}
	sink->files->ordinal++;
	sink->files->is_begun = false;
	sink->files->since_ns = sink->files->cut_ns;
}

static int open_next(struct sink_files *files, char path[PATH_MAX], u64 *number, struct iot_writer **writer)
{
	unsigned char capture[16];
	int err;

	remove_old(files);
	err = choose_path(files, path, number);
	if (!err && getrandom(capture, sizeof(capture), 0) != sizeof(capture))
		err = -EIO;
	if (!err)
		err = iot_writer_open(path, capture, writer);
	if (!err)
		iot_writer_evict(*writer);
	if (!err && files->options->syncs_at_end)
		iot_writer_sync_at_end(*writer);
	return err;
}

static int turn(struct sink *sink)
{
	struct sink_files *files = sink->files;
	u64 cut_ns = files->cut_ns, number;
	struct iot_writer *writer;
	char path[PATH_MAX];
	int err = open_next(files, path, &number, &writer);

	if (err) {
		complain(files, path, err, "the recording goes on in the file before it");
		files->retry_ns = iot_clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
		err = release_held(sink);
		if (!err && files->is_aside)
			err = sink_aside(sink, files->options->session_fd);
		files->is_aside = false;
		return err;
	}
	err = end_file(sink);
	if (err) {
		iot_writer_discard(writer);
		iot_writer_close(writer);
		return err;
	}
	begin_file(sink, writer);
	strcpy(files->path, path);
	files->number = number;
	err = carry_turn(files->carry, cut_ns);
	return err ? err : release_held(sink);
}

/**
 * sink_files_mark() - a mark has come: if it is the expected one, the next file begins
 * @sink: the trace
 * @number: of the mark
 *
 * Return: 1 if another file has begun; 0; or why the trace could not be written.
 */
int sink_files_mark(struct sink *sink, u64 number)
{
	struct sink_files *files = sink->files;
	u64 ordinal;
	int err;

	if (!files || !files->cut_ns || number < files->mark)
		return 0;
	ordinal = files->ordinal;
	err = turn(sink);
	return err ? err : files->ordinal > ordinal;
}
