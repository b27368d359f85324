// SPDX-License-Identifier: GPL-2.0-only
/*
 * anonymize.c - read a trace, replace, write another one.
 */
#include <errno.h>
#include <string.h>

#include "state.h"

/* An anonymized trace begins at this moment: 2000-01-01 00:00:00 UTC. */
#define EPOCH_NS 946684800000000000ull

/* Omissions that the reader detects, and that no record of the trace states. */
static const enum iot_omission_reason noticed[] = {
	IOT_OMISSION_unfinished,
	IOT_OMISSION_torn,
	IOT_OMISSION_lost,
	IOT_OMISSION_missing,
	IOT_OMISSION_unknown,
	IOT_OMISSION_unstated,
};

static int fail_write(const struct anonymize *a, int err)
{
	if (err)
		a->options->say("%s: %s", a->options->output, strerror(-err));
	return err;
}

static int fail_read(const struct anonymize *a, int err, const struct iot_reject *reject)
{
	if (!reject->reason || reject->reason == IOT_REJECT_io || reject->reason == IOT_REJECT_memory)
		a->options->say("%s: %s", a->options->input, strerror(-err));
	else
		a->options->say("%s:0x%llx: %s", a->options->input, (unsigned long long)reject->offset_bytes,
				iot_reject_sentence(reject));
	return err;
}

static int put_record(struct anonymize *a, struct iot_writer *writer, struct iot_record *record)
{
	int err;

	a->text.count = 0;
	if (record->tail_bytes && !anon_replace_tail(a, record))
		return 0;
	if (a->text.is_too_long) {
		a->options->say("%s: a target of a symbolic link becomes longer than %d bytes", a->options->input,
				IOT_TAIL_MAX_BYTES);
		return -ENAMETOOLONG;
	}
	err = anon_replace_ids(a, record);
	if (err)
		return fail_write(a, err);
	a->result.records++;
	return fail_write(a, iot_writer_record(writer, record));
}

/* The new trace is whole in itself, so facts must state the omissions of the old one. */
static int put_omissions(struct anonymize *a, struct iot_writer *writer, struct iot_omissions *omissions,
			 const struct iot_trace_info *info, u64 time_ns)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	size_t i;
	int err = 0;

	iot_omissions_finish(omissions, info);
	for (i = 0; i < sizeof(noticed) / sizeof(noticed[0]) && !err; i++) {
		if (!omissions->is_stated[noticed[i]] && iot_omission_fact(omissions, noticed[i], text))
			err = iot_writer_fact(writer, time_ns, text);
	}
	return fail_write(a, err);
}

static int copy_records(struct anonymize *a, struct iot_reader *reader, struct iot_writer *writer)
{
	struct iot_omissions omissions = {};
	struct iot_reject reject = {};
	struct iot_trace_info info;
	struct iot_record record;
	u64 end_ns = 0;
	int n, err = 0;

	while (!err && (n = iot_reader_next(reader, &record, &reject)) > 0) {
		iot_omissions_take(&omissions, &record);
		end_ns = iot_record_end_ns(&record);
		err = put_record(a, writer, &record);
	}
	if (err)
		return err;
	if (n < 0)
		return fail_read(a, n, &reject);
	iot_reader_info(reader, &info);
	return put_omissions(a, writer, &omissions, &info, end_ns);
}

static int write_trace(struct anonymize *a, struct iot_reader *reader)
{
	struct iot_trace_info info;
	struct iot_writer *writer;
	u64 real_ns;
	int err;

	iot_reader_info(reader, &info);
	real_ns = info.real_ns;
	if (a->options->treatment[ANON_FIELD_times] != ANON_KEEP) {
		a->wall_shift_ns = EPOCH_NS - info.real_ns;
		real_ns = EPOCH_NS;
	}
	err = fail_write(a, iot_writer_open_at(a->options->output, info.capture, real_ns, info.mono_ns, &writer));
	if (err)
		return err;
	err = copy_records(a, reader, writer);
	if (!err)
		err = fail_write(a, iot_writer_finish(writer));
	if (err)
		iot_writer_discard(writer);
	iot_writer_close(writer);
	return err;
}

/**
 * anonymize_trace() - write a trace without identities of people and projects
 * @options: the traces and the treatment
 * @result: out: counts
 *
 * Memory grows with the number of users and groups only. A trace that fails half-way is removed.
 *
 * Return: 0 or a negative errno, behind one sentence through @options->say.
 */
int anonymize_trace(const struct anon_options *options, struct anon_result *result)
{
	static struct anonymize a;
	struct iot_reject reject = {};
	struct iot_reader *reader;
	int err;

	a = (struct anonymize){ .options = options };
	if (iot_file_is_same(options->input, options->output)) {
		options->say("%s: is both input and output", options->output);
		return -EINVAL;
	}
	err = iot_reader_open(options->input, &reader, &reject);
	if (err)
		return fail_read(&a, err, &reject);
	err = write_trace(&a, reader);
	iot_reader_close(reader);
	anon_free_ids(&a);
	*result = a.result;
	return err;
}
