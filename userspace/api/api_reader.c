// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * api_reader.c - a trace that is read, for users of libiotape.
 */
#include <stdlib.h>

#include "api.h"

/* If there are several roots, paths are those of the one tree that they are in. */
static int open_names(struct iotape_reader *reader, const char *path, struct iotape_error *error)
{
	struct iot_reject reject = { 0 };
	const struct iot_record *above;
	u32 i, count;
	int err = iot_roots_open(path, &reader->roots, &reject);

	if (err)
		return api_refuse(error, err, path, &reject);
	err = iot_names_open(&reader->names);
	above = iot_roots_records(reader->roots, &count);
	for (i = 0; i < count && !err; i++)
		err = iot_names_before(reader->names, &above[i]);
	return err ? api_fail(error, err, path) : 0;
}

static int know_names(struct iotape_reader *reader, const struct iot_record *record)
{
	struct iot_record named = *record;

	iot_roots_apply(reader->roots, &named);
	return iot_names_before(reader->names, &named);
}

static int open_parts(struct iotape_reader *reader, const char *path, unsigned int flags,
		      struct iotape_error *error)
{
	struct iot_reject reject = { 0 };
	int err;

	reader->path = strdup(path);
	if (!reader->path)
		return api_fail(error, -ENOMEM, path);
	err = iot_reader_open(path, &reader->reader, &reject);
	if (err)
		return api_refuse(error, err, path, &reject);
	return flags & IOTAPE_READER_PATHS ? open_names(reader, path, error) : 0;
}

int iotape_reader_open(const char *path, unsigned int flags, struct iotape_reader **reader,
		       struct iotape_error *error)
{
	struct iotape_reader *r;
	int err;

	*reader = NULL;
	if (flags & ~IOTAPE_READER_PATHS)
		return api_fail_because(error, -EINVAL, path, "unknown flags of iotape_reader_open()");
	r = calloc(1, sizeof(*r));
	if (!r)
		return api_fail(error, -ENOMEM, path);
	err = open_parts(r, path, flags, error);
	if (err) {
		iotape_reader_close(r);
		return err;
	}
	*reader = r;
	return 0;
}

void iotape_reader_close(struct iotape_reader *reader)
{
	if (!reader)
		return;
	iot_names_close(reader->names);
	iot_roots_close(reader->roots);
	iot_reader_close(reader->reader);
	api_paths_close(&reader->paths);
	free(reader->path);
	free(reader);
}

/* Facts can be read before everything else is known; a copy of them repeats their statements. */
static void finish_omissions(struct iotape_reader *reader)
{
	struct iot_trace_info info;

	reader->is_at_end = true;
	reader->stated = reader->omissions;
	iot_reader_info(reader->reader, &info);
	iot_omissions_finish(&reader->omissions, &info);
}

static bool is_source_log(const struct iot_record *record)
{
	static const char fact[] = "source=";

	return record->kind == IOT_KIND_fact && record->tail_bytes >= sizeof(fact) - 1 &&
	       !memcmp(record->tail, fact, sizeof(fact) - 1);
}

/* The statement of a record about the whole trace, and its known fields. */
static void take_record(struct iotape_reader *reader, const struct iot_record *r)
{
	iot_omissions_take(&reader->omissions, r);
	if (r->kind == IOT_KIND_end)
		reader->end_lost = r->end.lost;
	reader->is_log |= is_source_log(r);
	reader->record.absent = iot_reader_absent(reader->reader, r);
	if (reader->is_log)
		reader->record.absent |= api_absent_in_logs(r);
	reader->has_record = true;
}

static int read_next(struct iotape_reader *reader, struct iotape_error *error)
{
	struct iot_record *r = &reader->record.record;
	struct iot_reject reject = { 0 };
	int err = 0;

	if (reader->names && reader->has_record)
		err = iot_names_after(reader->names, r);
	reader->has_record = false;
	if (err)
		return api_fail(error, err, reader->path);
	if (reader->is_at_end)
		return 0;
	err = iot_reader_next(reader->reader, r, &reject);
	if (err < 0)
		return api_refuse(error, err, reader->path, &reject);
	if (!err) {
		finish_omissions(reader);
		return 0;
	}
	if (reader->names && (err = know_names(reader, r)) < 0)
		return api_fail(error, err, reader->path);
	take_record(reader, r);
	return 1;
}

int iotape_reader_next(struct iotape_reader *reader, const struct iotape_record **record,
		       struct iotape_error *error)
{
	int result = reader->failure.code;

	if (!result)
		result = read_next(reader, &reader->failure);
	if (result < 0 && error)
		*error = reader->failure;
	if (result > 0)
		*record = &reader->record;
	return result;
}

const struct iotape_record *iotape_reader_record(const struct iotape_reader *reader)
{
	return reader->has_record ? &reader->record : NULL;
}

const char *iotape_reader_path(struct iotape_reader *reader, int *is_guess)
{
	struct iot_label label = { .path = "" };

	if (reader->names && reader->has_record)
		label = iot_names_of_record(reader->names, &reader->record.record);
	if (is_guess)
		*is_guess = label.is_guess;
	return label.path[0] ? label.path : NULL;
}

int iotape_reader_info(const struct iotape_reader *reader, struct iotape_info *info, size_t info_bytes)
{
	struct iotape_info all = { { 0 } };
	struct iot_trace_info from;

	if (info_bytes > sizeof(all))
		return -EINVAL; /* a caller that was built for a later version */
	iot_reader_info(reader->reader, &from);
	memcpy(all.capture, from.capture, sizeof(all.capture));
	all.real_ns = from.real_ns;
	all.mono_ns = from.mono_ns;
	all.bytes = from.bytes;
	all.records = from.records;
	all.lost = from.lost;
	all.missing = from.missing;
	all.unknown = from.unknown;
	all.is_complete = from.is_complete;
	all.is_torn = from.is_torn;
	memcpy(info, &all, info_bytes);
	return 0;
}

int iotape_reader_omission(struct iotape_reader *reader, size_t index, struct iotape_omission *omission,
			   size_t omission_bytes)
{
	struct iotape_omission one = { 0 };
	u32 reason;

	if (!reader->is_at_end)
		return -EAGAIN;
	if (omission_bytes > sizeof(one))
		return -EINVAL;
	for (reason = 1; reason < IOT_OMISSION_END; reason++)
		if (reader->omissions.of[reason].count && !index--)
			break;
	if (reason == IOT_OMISSION_END)
		return 0;
	iot_omission_text(&reader->omissions, reason, reader->sentence);
	one.name = iot_omission_name(reason);
	one.sentence = reader->sentence;
	one.count = reader->omissions.of[reason].count;
	one.operations = reader->omissions.of[reason].operations;
	one.bytes = reader->omissions.of[reason].bytes;
	memcpy(omission, &one, omission_bytes);
	return 1;
}
