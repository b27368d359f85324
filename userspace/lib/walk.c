// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * walk.c - a whole trace, record by record, with the names of the objects of records.
 */
#include "iotape.h"

#include <errno.h>

/* The receiver of each record. */
struct walk {
	struct iot_names *names;
	iot_walk_fn fn;
	void *context;
	struct iot_reject *reject;
};

static int take(const struct walk *walk, const struct iot_record *record)
{
	int err = iot_names_before(walk->names, record);

	if (!err)
		err = walk->fn(walk->context, walk->names, record);
	if (!err)
		err = iot_names_after(walk->names, record);
	if (err == -ENOMEM)
		iot_refuse(walk->reject, IOT_REJECT_memory, 0);
	if (err == -EOPNOTSUPP)
		iot_refuse(walk->reject, IOT_REJECT_counted, 0);
	return err;
}

static int walk_records(const struct walk *walk, struct iot_reader *reader, const struct iot_roots *roots)
{
	const struct iot_record *above;
	struct iot_record record;
	u32 i, count;
	int err = 0;

	above = iot_roots_records(roots, &count);
	for (i = 0; i < count && !err; i++)
		err = take(walk, &above[i]);
	while (!err && (err = iot_reader_next(reader, &record, walk->reject)) > 0) {
		iot_roots_apply(roots, &record);
		err = take(walk, &record);
	}
	return err;
}

/**
 * iot_record_is_counted() - does a record show that operations were counted and not recorded?
 * @record: any of a trace
 *
 * Return: true for one of the first records of such a trace, and for counters.
 */
bool iot_record_is_counted(const struct iot_record *record)
{
	static const char fact[] = IOT_FACT_COUNTERS "=";

	if (record->kind == IOT_KIND_fact)
		return record->tail_bytes >= sizeof(fact) - 1 && !memcmp(record->tail, fact, sizeof(fact) - 1);
	return record->kind == IOT_KIND_counted || record->kind == IOT_KIND_bucket;
}

/**
 * iot_fact_is_by_command() - does a fact state that a task of counted operations stands for all with its command?
 * @fact: text of the form key=value
 */
bool iot_fact_is_by_command(const char *fact)
{
	static const char key[] = IOT_FACT_COUNTERS_BY "=";
	const char *word = fact + sizeof(key) - 1;

	if (strncmp(fact, key, sizeof(key) - 1))
		return false;
	for (; *word; word += strcspn(word, ","), word += *word == ',')
		if (strcspn(word, ",") == strlen("command") && !strncmp(word, "command", strlen("command")))
			return true;
	return false;
}

/**
 * iot_trace_walk() - call a function for each record of a trace, in order of time
 * @path: of the trace
 * @fn: called; an error of it, a negative errno, ends the walk
 * @context: for @fn
 * @info: out: facts about the trace, complete after the last record; may be NULL
 * @reject: filled in if the trace is refused, or @fn returned -ENOMEM, or -EOPNOTSUPP because operations were counted
 *
 * If the trace has several roots, @fn sees one tree, see roots.c.
 *
 * Return: 0 or a negative errno, that of @fn included.
 */
int iot_trace_walk(const char *path, iot_walk_fn fn, void *context, struct iot_trace_info *info,
		   struct iot_reject *reject)
{
	return iot_trace_walk_need(path, NULL, fn, context, info, reject);
}

/**
 * iot_trace_walk_need() - call a function for the records of a trace that it needs, and perhaps for others
 * @path: of the trace
 * @need: those records; NULL: all
 * @fn: called; an error of it, a negative errno, ends the walk
 * @context: for @fn
 * @info: out: facts about the trace, complete after the last record; may be NULL
 * @reject: as iot_trace_walk()
 *
 * Return: 0 or a negative errno, that of @fn included.
 */
int iot_trace_walk_need(const char *path, const struct iot_need *need, iot_walk_fn fn, void *context,
			struct iot_trace_info *info, struct iot_reject *reject)
{
	struct walk walk = { .fn = fn, .context = context, .reject = reject };
	struct iot_reader *reader;
	struct iot_roots *roots;
	int err = iot_roots_open(path, &roots, reject);

	if (err)
		return err;
	err = iot_reader_open(path, &reader, reject);
	if (err)
		goto err_reader;
	if (need)
		iot_reader_need(reader, need);
	err = iot_names_open(&walk.names);
	if (err)
		iot_refuse(reject, IOT_REJECT_memory, 0);
	else
		err = walk_records(&walk, reader, roots);
	if (info)
		iot_reader_info(reader, info);
	iot_names_close(walk.names);
	iot_reader_close(reader);
err_reader:
	iot_roots_close(roots);
	return err;
}
