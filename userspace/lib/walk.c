// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * walk.c - a whole trace, record by record, with the names of what records are about.
 */
#include "iotape.h"

#include <errno.h>

static int walk_records(struct iot_reader *reader, struct iot_names *names, iot_walk_fn fn,
			void *context, struct iot_reject *reject)
{
	struct iot_record record;
	int err;

	while ((err = iot_reader_next(reader, &record, reject)) > 0) {
		err = iot_names_before(names, &record);
		if (!err)
			err = fn(context, names, &record);
		if (!err)
			err = iot_names_after(names, &record);
		if (err == -ENOMEM)
			iot_refuse(reject, IOT_REJECT_memory, 0);
		if (err)
			return err;
	}
	return err;
}

/**
 * iot_trace_walk() - call a function for each record of a trace, in order of time
 * @path: of the trace
 * @fn: called; an error of it, a negative errno, ends the walk
 * @context: for @fn
 * @info: out: what the trace says of itself, complete after the last record; may be NULL
 * @reject: filled in if the trace is refused or @fn returned -ENOMEM
 *
 * Return: 0 or a negative errno, that of @fn included.
 */
int iot_trace_walk(const char *path, iot_walk_fn fn, void *context, struct iot_trace_info *info,
		   struct iot_reject *reject)
{
	struct iot_reader *reader;
	struct iot_names *names;
	int err = iot_reader_open(path, &reader, reject);

	if (err)
		return err;
	err = iot_names_open(&names);
	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	else
		err = walk_records(reader, names, fn, context, reject);
	if (info)
		iot_reader_info(reader, info);
	iot_names_close(names);
	iot_reader_close(reader);
	return err;
}
