/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flight_tape.h - records for a flight recorder, and the contents of its dumps, for the suites that test them.
 */
#ifndef IOTAPE_TESTS_FLIGHT_TAPE_H
#define IOTAPE_TESTS_FLIGHT_TAPE_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectord/flight.h"
#include "lib/iotape.h"
#include "scratch.h"
#include "suite.h"

#define CPUS	   3
#define BATCH_MAX  40
#define ROOT	   1
#define ROOT_NAME  1
#define FIRST_FREE 10 /* id of the first object, name or handle of a test */
#define MEMORY	   (1 << 20)

/**
 * struct tape - records that a test makes, on their way to a flight recorder and to a trace of all of them
 * @flight: gets them in messages, by CPU
 * @whole: gets them in order; NULL for none
 * @messages: of each CPU, records that were not sent yet
 * @sequences: of each CPU, number of the next record
 * @lost: of each CPU
 * @now_ns: end of the last record
 * @ops: of each task
 * @batch: records in a message; 0: a random number
 * @sink, @take: gets the messages instead of @flight; NULL: it does not
 * @step: called before each step of a program; NULL for none
 */
struct tape {
	struct flight_options options;
	struct collector_options collect;
	struct flight *flight;
	struct sink *sink;
	int (*take)(struct tape *tape, const struct message *message);
	void (*step)(struct tape *tape, u32 step);
	struct iot_writer *whole;
	struct message *messages[CPUS];
	u64 sequences[CPUS];
	u64 lost[CPUS];
	u64 now_ns;
	u32 ops[8];
	u32 batch;
	u32 due[CPUS];
	u64 span_ns;
	u64 operations;
};

static char dump_output[PATH_MAX];
static const char *const facts[] = { "mount=/scratch", NULL };

static inline u32 draw(u32 below)
{
	return (u32)(random() % below);
}

static inline void tape_open(struct tape *t, u64 bytes)
{
	static const unsigned char capture[16] = "whole";

	snprintf(dump_output, sizeof(dump_output), "%s.dump.iot", scratch_trace);
	if (!t->options.dumps_max)
		t->options.dumps_max = 16;
	t->options.bytes = bytes;
	t->collect = (struct collector_options){ .session_fd = -1, .path = dump_output, .facts = facts, .flight = &t->options };
	t->now_ns = 1000000;
	t->span_ns = 500;
	assert_int_equal(flight_open(&t->collect, &t->flight), 0);
	assert_int_equal(iot_writer_open(scratch_trace, capture, &t->whole), 0);
	srandom(1);
}

static inline void flush(struct tape *t, u32 cpu)
{
	struct message *message = t->messages[cpu];

	if (!message)
		return;
	message->head.lost = cpu_to_le64(t->lost[cpu]);
	assert_int_equal(t->take ? t->take(t, message) : flight_message(t->flight, message), 0);
	free(message);
	t->messages[cpu] = NULL;
}

static inline void flush_all(struct tape *t)
{
	u32 cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		flush(t, cpu);
}

static inline void send_record(struct tape *t, u32 cpu, const struct iot_record *record)
{
	struct message *message = t->messages[cpu];
	int n;

	if (!message) {
		message = message_new(MESSAGE_RECORDS, BATCH_MAX * 512);
		assert_non_null(message);
		message->bytes = 0;
		message->head.cpu = cpu_to_le32(cpu);
		message->head.sequence = cpu_to_le64(t->sequences[cpu]);
		t->messages[cpu] = message;
		t->due[cpu] = t->batch ? t->batch : 1 + draw(BATCH_MAX);
	}
	n = iot_record_encode(message->records + message->bytes, 512, record);
	assert_true(n > 0);
	message->bytes += (size_t)n;
	message->head.count = cpu_to_le32(le32_to_cpu(message->head.count) + 1);
	t->sequences[cpu]++;
	if (le32_to_cpu(message->head.count) == t->due[cpu])
		flush(t, cpu);
}

static inline void put(struct tape *t, u32 task, struct iot_record record, const char *tail)
{
	t->now_ns += 1000;
	if (iot_kind_is_span(iot_kind_info(record.kind))) {
		record.op.enter_ns = t->now_ns - t->span_ns;
		record.op.duration_ns = t->span_ns;
		record.op.task = task;
		record.op.op = ++t->ops[task];
		t->operations++;
	} else {
		record.fact.time_ns = t->now_ns; /* all begin with it */
	}
	record.tail = (const u8 *)tail;
	record.tail_bytes = (u16)(tail ? strlen(tail) : 0);
	assert_int_equal(iot_writer_record(t->whole, &record), 0);
	send_record(t, task % CPUS, &record);
}

/* PUT(task, kind, .field = value, ...) */
#define PUT(task_, kind_, ...) \
	put(t, task_, (struct iot_record){ .kind = IOT_KIND_##kind_, .kind_ = { __VA_ARGS__ } }, NULL)

static inline void put_name(struct tape *t, u32 task, u64 name, u64 dir, const char *component)
{
	put(t, task, (struct iot_record){ .kind = IOT_KIND_name, .name = { .name = name, .dir = dir } }, component);
}

static inline void begin(struct tape *t)
{
	u32 task;

	put_name(t, 1, ROOT_NAME, 0, "");
	PUT(1, object, .object = ROOT, .name = ROOT_NAME, .type = IOT_TYPE_dir, .mode = S_IFDIR | 0755, .ino = 1, .nlink = 2);
	PUT(1, mount, .object = ROOT);
	for (task = 1; task <= 4; task++)
		PUT(task, task, .task = task, .pid = task, .tgid = task, .why = IOT_REASON_seen);
}

static inline void put_file(struct tape *t, u64 object, u64 name, u64 dir, const char *component)
{
	put_name(t, 1, name, dir, component);
	PUT(1, object, .object = object, .name = name, .type = IOT_TYPE_file, .mode = S_IFREG | 0644, .ino = object, .nlink = 1);
}

static inline void tape_finish(struct tape *t)
{
	flush_all(t);
	assert_int_equal(iot_writer_finish(t->whole), 0);
	iot_writer_close(t->whole);
	flight_close(t->flight);
}

static inline const char *dump_path(u32 number)
{
	static char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s.dump.%u.iot", scratch_trace, number);
	return path;
}

static inline bool is_there(u32 number)
{
	return !access(dump_path(number), F_OK);
}

static inline void remove_dumps(void)
{
	u32 i;

	for (i = 1; i <= 32; i++)
		unlink(dump_path(i));
}

/* -- what a dump says ------------------------------------------------------------------------------ */

struct contents {
	struct iot_omissions omissions;
	struct iot_trace_info info;
	u64 ops;
	u64 opened;
	u64 begin_ns;
	char cause[128];
	u64 size_bytes; /* of the object `object` */
	u64 position;
	u64 object;
};

static inline int take(void *context, struct iot_names *names, const struct iot_record *record)
{
	struct contents *found = context;

	(void)names;
	iot_omissions_take(&found->omissions, record);
	if (iot_kind_info(record->kind)->group == IOT_GROUP_op) {
		found->ops++;
		if (!found->begin_ns)
			found->begin_ns = iot_record_end_ns(record);
	}
	if (record->kind == IOT_KIND_opened) {
		found->opened++;
		found->position = (u64)record->opened.offset_bytes;
	}
	if (record->kind == IOT_KIND_object && record->object.object == found->object)
		found->size_bytes = record->object.size_bytes;
	if (record->kind == IOT_KIND_fact && record->tail_bytes > 13 && !memcmp(record->tail, "flight.cause=", 13))
		snprintf(found->cause, sizeof(found->cause), "%.*s", record->tail_bytes - 13, record->tail + 13);
	return 0;
}

static inline struct contents read_dump(u32 number, u64 object)
{
	struct contents found = { .object = object };
	struct iot_reject reject = {};

	assert_int_equal(iot_trace_walk(dump_path(number), take, &found, &found.info, &reject), 0);
	iot_omissions_finish(&found.omissions, &found.info);
	assert_true(found.info.is_complete);
	return found;
}

static inline void fill(struct tape *t)
{
	u32 i;

	for (i = 0; i < 15000; i++)
		PUT(1, stat, .object = FIRST_FREE, .name = FIRST_FREE);
}

#endif
