// SPDX-License-Identifier: GPL-2.0-only
/*
 * collection.c - the first and last records of every trace, and traces whose records come from no kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "collectord.h"
#include "sink.h"
#include "sink_files.h"

/**
 * sink_describe() - write the first records of a trace
 * @sink: the trace
 * @options: its facts and, of a replay, its program
 *
 * Return: 0 or a negative errno.
 */
int sink_describe(struct sink *sink, const struct collector_options *options)
{
	const char *const *facts = options->facts;
	int err = sink_clock(sink);

	for (; *facts && !err; facts++)
		err = sink_fact(sink, *facts);
	if (!err && options->program)
		err = sink_program(sink, options->program);
	if (!err)
		err = sink_files_describe(sink);
	if (!err)
		err = sink_memory(sink);
	return err ? err : sink_flush(sink, true);
}

/**
 * sink_conclude() - write the last records of a trace
 * @sink: the trace
 * @last_fact: see struct collector_options
 * @end: totals of the source of the records
 * @reason: why it ended, "" if as planned
 *
 * Return: 0 or a negative errno.
 */
int sink_conclude(struct sink *sink, const char *last_fact, const struct iot_message_end *end,
		  const char *reason)
{
	bool is_stated = last_fact && *last_fact, is_partial = is_stated && !strncmp(last_fact, "partial=", 8);
	char partial[512];
	int err = sink_clock(sink);

	snprintf(partial, sizeof(partial), "partial=%s", reason);
	if (!err)
		err = sink_memory(sink);
	if (!err && is_stated)
		err = sink_fact(sink, last_fact);
	if (!err && *reason && !is_partial)
		err = sink_fact(sink, partial);
	return err ? err : sink_finish(sink, end, reason);
}

/**
 * struct collection - a trace whose records are made in this process
 */
struct collection {
	struct sink *sink;
	const char *last_fact;
};

/**
 * collection_open() - begin a trace
 * @options: path, facts, last_fact and program are used
 * @collection: out: to be freed by collection_close()
 *
 * Return: 0 or a negative errno.
 */
int collection_open(const struct collector_options *options, struct collection **collection)
{
	struct collection *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->last_fact = options->last_fact;
	err = sink_open(options->path, 0, &c->sink);
	if (!err)
		err = sink_describe(c->sink, options);
	if (err) {
		sink_close(c->sink);
		free(c);
		return err;
	}
	*collection = c;
	return 0;
}

/**
 * collection_add() - add a chunk of records of one stream
 * @collection: the trace
 * @what: as for iot_writer_chunk()
 * @records: the records
 *
 * Return: 0 or a negative errno.
 */
int collection_add(struct collection *collection, const struct iot_chunk_head *what,
		   const void *records)
{
	return sink_chunk(collection->sink, what, records);
}

/**
 * collection_close() - finish the trace, and free
 * @collection: the trace
 * @lost: records that were made and could not be added
 *
 * Return: 0 or a negative errno.
 */
int collection_close(struct collection *collection, uint64_t lost)
{
	struct collector_result result;
	struct iot_message_end end = {};
	int err;

	sink_result(collection->sink, &result);
	end.records = cpu_to_le64(result.records);
	end.lost = cpu_to_le64(lost);
	err = sink_conclude(collection->sink, collection->last_fact, &end, "");
	sink_close(collection->sink);
	free(collection);
	return err;
}
