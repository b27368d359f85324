// SPDX-License-Identifier: GPL-2.0-only
/*
 * traces.c - mutated traces through reader, names and text.
 *
 *	traces [OPTION]... TRACE...	see fuzz_options()
 */
#include <stdlib.h>

#include "lib/iotape.h"
#include "make_trace.h"

static void print_record(struct iot_names *names, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	char text[256], escaped[4 * IOT_TAIL_MAX_BYTES + 1];
	u32 f;

	for (f = 0; f < info->field_count; f++) {
		u64 value = iot_field_get(record, &info->fields[f]);
		int n = iot_text_field(text, 2 + value % (sizeof(text) - 2), record, &info->fields[f]);

		if (strlen(text) != (size_t)n)
			abort();
		if (info->fields[f].class == IOT_CLASS_name && strlen(iot_names_path(names, value)) >= IOT_PROGRAM_PATH_MAX)
			abort();
	}
	iot_text_bytes(escaped, sizeof(escaped), record->tail, record->tail_bytes);
	if (strpbrk(escaped, " \n\033"))
		abort();
	(void)iot_record_end_ns(record);
}

static int feed(const char *path, struct rng *rng, struct iot_reject *reject)
{
	struct iot_names *names;
	struct iot_reader *reader;
	struct iot_record record;
	struct iot_trace_info info;
	int err = iot_reader_open(path, &reader, reject);

	if (err)
		return err;
	if (iot_names_open(&names))
		abort();
	while ((err = iot_reader_next(reader, &record, reject)) > 0) {
		iot_names_before(names, &record);
		(void)iot_names_of_record(names, &record);
		if (rng_one_in(rng, 4))
			print_record(names, &record);
		(void)iot_names_object(names, rng_below(rng, 10));
		(void)iot_names_identity(names, rng_below(rng, 10));
		iot_names_after(names, &record);
	}
	iot_reader_info(reader, &info);
	iot_names_close(names);
	iot_reader_close(reader);
	return err;
}

/* A trace that the reader refuses is not one that is intact and finished. */
static void check(const char *path, int err)
{
	struct iot_condition condition;
	struct iot_reject reject = {};

	if (!iot_trace_verify(path, &condition, &reject) && err && !condition.damages && !condition.is_torn &&
	    condition.is_complete)
		abort();
}

static int feed_made(struct trace_bytes *input, struct rng *rng, struct iot_reject *reject)
{
	const char *path = trace_path(input->bytes, input->count);
	int err = feed(path, rng, reject);

	check(path, err);
	return err;
}

int main(int argc, char **argv)
{
	static const u32 unreachable[] = { IOT_REJECT_io, IOT_REJECT_memory, 0 };
	struct tally tally = { .what = "traces" };

	if (fuzz_traces(argc, argv, &tally, feed_made))
		return 1;
	return tally_report(&tally, IOT_REJECT_trace_magic, IOT_REJECT_index, unreachable);
}
