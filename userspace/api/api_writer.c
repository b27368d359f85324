// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_writer.c - a trace that is written, for users of libiotape.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "api.h"

/**
 * struct iotape_writer - a trace that is written
 * @path: of its file, for messages
 * @writer: the trace
 * @end_ns: end of the record that was added last
 * @is_finished: nothing can be added
 */
struct iotape_writer {
	char *path;
	struct iot_writer *writer;
	u64 end_ns;
	bool is_finished;
};

static int open_trace(struct iotape_writer *writer, const struct iotape_info *origin)
{
	unsigned char capture[16];

	if (origin)
		return iot_writer_open_at(writer->path, origin->capture, origin->real_ns, origin->mono_ns,
					  &writer->writer);
	if (getrandom(capture, sizeof(capture), 0) != sizeof(capture))
		return -EIO;
	return iot_writer_open(writer->path, capture, &writer->writer);
}

int iotape_writer_open(const char *path, const struct iotape_info *origin, struct iotape_writer **writer,
		       struct iotape_error *error)
{
	struct iotape_writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	*writer = NULL;
	if (w)
		w->path = strdup(path);
	if (w && w->path)
		err = open_trace(w, origin);
	if (err) {
		iotape_writer_close(w);
		return api_fail(error, err, path);
	}
	*writer = w;
	return 0;
}

void iotape_writer_close(struct iotape_writer *writer)
{
	if (!writer)
		return;
	if (writer->writer && !writer->is_finished)
		iot_writer_discard(writer->writer);
	iot_writer_close(writer->writer);
	free(writer->path);
	free(writer);
}

static int add(struct iotape_writer *writer, const struct iot_record *record, struct iotape_error *error)
{
	u64 end_ns = iot_record_end_ns(record);
	int err;

	if (writer->is_finished)
		return api_fail_because(error, -EINVAL, writer->path, "the trace is finished");
	if (end_ns < writer->end_ns)
		return api_fail_because(error, -EINVAL, writer->path, "the record ended before the previous record");
	err = iot_writer_record(writer->writer, record);
	if (err)
		return api_fail(error, err, writer->path);
	writer->end_ns = end_ns;
	return 0;
}

int iotape_writer_add(struct iotape_writer *writer, const struct iotape_record *record,
		      struct iotape_error *error)
{
	return add(writer, &record->record, error);
}

/* @fact: key=value; a fact has the time of the last added record. */
static int add_fact(struct iotape_writer *writer, const char *fact, struct iotape_error *error)
{
	size_t bytes = strlen(fact);
	struct iot_record record = {
		.kind = IOT_KIND_fact,
		.tail = (const u8 *)fact,
		.tail_bytes = (u16)bytes,
		.fact.time_ns = writer->end_ns,
	};

	if (bytes > IOT_TAIL_MAX_BYTES)
		return api_fail_because(error, -EMSGSIZE, writer->path, "a fact is too long");
	return add(writer, &record, error);
}

int iotape_writer_add_fact(struct iotape_writer *writer, const char *key, const char *value,
			   struct iotape_error *error)
{
	char *fact;
	int err;

	if (!key[0] || strchr(key, '='))
		return api_fail_because(error, -EINVAL, writer->path, "the key of a fact is empty or has an equals sign");
	if (asprintf(&fact, "%s=%s", key, value) < 0)
		return api_fail(error, -ENOMEM, writer->path);
	err = add_fact(writer, fact, error);
	free(fact);
	return err;
}

static int add_omission(struct iotape_writer *writer, enum iot_omission_reason reason,
			const struct iot_omission *omission, struct iotape_error *error)
{
	struct iot_omissions *one = calloc(1, sizeof(*one));
	char text[IOT_OMISSION_TEXT_BYTES];
	int bytes;

	if (!one)
		return api_fail(error, -ENOMEM, writer->path);
	iot_omissions_add(one, reason, omission->count, omission->operations, omission->bytes, omission->detail);
	bytes = iot_omission_fact(one, reason, text);
	free(one);
	return bytes ? add_fact(writer, text, error) : 0;
}

int iotape_writer_add_omission(struct iotape_writer *writer, const char *why, uint64_t count, uint64_t operations,
			       uint64_t bytes, const char *detail, struct iotape_error *error)
{
	struct iot_omission omission = { .count = count, .operations = operations, .bytes = bytes };
	u32 reason;

	snprintf(omission.detail, sizeof(omission.detail), "%s", detail ? detail : "");
	for (reason = 1; reason < IOT_OMISSION_END; reason++)
		if (!strcmp(iot_omission_name(reason), why))
			return add_omission(writer, reason, &omission, error);
	return api_fail_because(error, -EINVAL, writer->path, "unknown reason of an omission");
}

int iotape_writer_inherit(struct iotape_writer *writer, const struct iotape_reader *reader,
			  struct iotape_error *error)
{
	struct iot_omission omission;
	u32 reason;
	int err = 0;

	if (!reader->is_at_end)
		return api_fail_because(error, -EAGAIN, reader->path, "has not been read to its end");
	for (reason = 1; reason < IOT_OMISSION_END && !err; reason++) {
		omission = reader->omissions.of[reason];
		omission.count -= reader->stated.of[reason].count;
		if (reason == IOT_OMISSION_lost) /* the copy of the record `end` counts these */
			omission.count -= omission.count < reader->end_lost ? omission.count : reader->end_lost;
		err = add_omission(writer, reason, &omission, error);
	}
	return err;
}

int iotape_writer_finish(struct iotape_writer *writer, struct iotape_error *error)
{
	int err;

	if (writer->is_finished)
		return api_fail_because(error, -EINVAL, writer->path, "the trace is finished");
	err = iot_writer_finish(writer->writer);
	if (err)
		return api_fail(error, err, writer->path);
	writer->is_finished = true;
	return 0;
}
