// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - the second reading: all records in one order, each trace a stream of the new one.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define FACT_BYTES 1024

static int write_failed(const struct merge *merge, int err)
{
	return err ? merge_fail(merge, merge->options.output, err) : 0;
}

static int next_record(struct merge *merge, struct merge_input *input)
{
	struct iot_reject reject = {};
	int n = iot_reader_next(input->reader, &input->record, &reject);

	input->has_record = n > 0;
	if (n > 0) {
		merge_retime(merge, input);
		input->end_ns = iot_record_end_ns(&input->record);
	}
	return n < 0 ? merge_fail_reject(merge, input->path, n, &reject) : 0;
}

/* -- chunks ---------------------------------------------------------------------------------- */

static int flush(struct merge *merge, struct merge_input *input)
{
	struct iot_trace_info info;
	int err;

	if (!input->chunk_bytes)
		return 0;
	iot_reader_info(input->reader, &info);
	input->head.raw_bytes = cpu_to_le32(input->chunk_bytes);
	input->head.stream = cpu_to_le32((u32)(input - merge->inputs));
	input->head.lost = cpu_to_le64(info.lost + info.missing);
	err = iot_writer_chunk(merge->writer, &input->head, input->chunk);
	input->sequence += le32_to_cpu(input->head.count);
	input->chunk_bytes = 0;
	return write_failed(merge, err);
}

static int put(struct merge *merge, struct merge_input *input)
{
	int n, err = 0;

	if (input->chunk_bytes + IOT_RECORD_MAX_BYTES > MERGE_CHUNK_BYTES)
		err = flush(merge, input);
	if (err)
		return err;
	n = iot_record_encode(input->chunk + input->chunk_bytes,
			      MERGE_CHUNK_BYTES - input->chunk_bytes, &input->record);
	if (n < 0) {
		merge->options.say("%s: a record cannot be encoded", input->path);
		return n;
	}
	if (!input->chunk_bytes)
		input->head = (struct iot_chunk_head){
			.sequence = cpu_to_le64(input->sequence),
			.first_ns = cpu_to_le64(input->end_ns),
		};
	input->head.count = cpu_to_le32(le32_to_cpu(input->head.count) + 1);
	input->head.last_ns = cpu_to_le64(input->end_ns);
	input->chunk_bytes += (u32)n;
	merge->result.records++;
	merge->end_ns = input->end_ns;
	return 0;
}

/* -- records of our own ---------------------------------------------------------------------- */

static int __attribute__((format(printf, 3, 4)))
put_fact(struct merge *merge, u64 time_ns, const char *format, ...)
{
	char text[FACT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	merge->result.records++;
	return iot_writer_fact(merge->writer, time_ns, text);
}

static const char *source_name(enum clock_source source)
{
#define SOURCE_NAME(name, sentence) [CLOCK_SOURCE_##name] = #name,
	static const char *const names[] = { CLOCK_SOURCES(SOURCE_NAME) };
#undef SOURCE_NAME

	return names[source];
}

/* The ids of a recording follow each other; those of a replay may need more than one fact. */
static int put_node_tasks(struct merge *merge, struct merge_node *node, u64 time_ns)
{
	const struct id_range *tasks = &node->ids[IDS_task];
	char list[FACT_BYTES - 256];
	u32 at = 0;
	int err = 0;

	if (tasks->max)
		err = put_fact(merge, time_ns, "node.%s.tasks=%llu-%llu", node->name,
			       (unsigned long long)tasks->base,
			       (unsigned long long)(tasks->base + tasks->max - tasks->min));
	while (!err && parts_list_tasks(node, &at, list, sizeof(list)))
		err = put_fact(merge, time_ns, "node.%s.tasks=%s", node->name, list);
	return err;
}

static int put_node_facts(struct merge *merge, u32 number, u64 time_ns)
{
	struct merge_node *node = &merge->nodes[number];
	const struct clock_fit *fit = &node->result.clock;
	int err = put_fact(merge, time_ns, "node.%s.ranks=%s", node->name, node->result.ranks);

	if (!err)
		err = put_node_tasks(merge, node, time_ns);
	if (!err)
		err = put_fact(merge, time_ns,
			       "node.%s.clock=%s offset_ns=%lld drift_ppb=%lld margin_ns=%lld "
			       "bounds=%llu corrected=%llu corrected_max_ns=%llu contradicted=%llu",
			       node->name, node->has_same_clock ? "same" : source_name(fit->source), (long long)fit->offset_ns,
			       (long long)fit->drift_ppb, (long long)fit->margin_ns,
			       (unsigned long long)fit->bounds, (unsigned long long)fit->corrected,
			       (unsigned long long)fit->corrected_max_ns,
			       (unsigned long long)fit->contradicted);
	return err;
}

/* The parent of the directories of nodes. */
static int put_root(struct merge *merge, u64 time_ns)
{
	struct iot_record name = {
		.kind = IOT_KIND_name,
		.name = { .time_ns = time_ns, .name = merge->root_name },
	};
	struct iot_record object = {
		.kind = IOT_KIND_object,
		.object = { .time_ns = time_ns, .object = merge->root_object,
			    .name = merge->root_name, .type = IOT_TYPE_dir, .mode = 040755,
			    .nlink = 2 },
	};
	int err = iot_writer_record(merge->writer, &name);

	merge->result.records += 2;
	return err ? err : iot_writer_record(merge->writer, &object);
}

/* Has a node files that are not in shared directories? Only these need a directory above. */
static bool has_own_files(const struct merge *merge, u32 node)
{
	bool is_shared = false;
	u32 i;

	for (i = 0; i < merge->mount_count; i++) {
		if (merge->mounts[i].node != node)
			continue;
		if (!merge->mounts[i].is_shared)
			return true;
		is_shared = true;
	}
	return merge->nodes[node].ids[IDS_name].max && !is_shared;
}

static bool needs_root(const struct merge *merge)
{
	u32 i;

	for (i = 0; i < merge->node_count; i++)
		if (has_own_files(merge, i))
			return true;
	return false;
}

static int put_beginning(struct merge *merge, u64 time_ns)
{
	u32 i;
	int err;

	if (!merge_is_cluster(merge))
		return 0;
	err = put_fact(merge, time_ns, "nodes=%u", merge->node_count);
	for (i = 0; i < merge->node_count && !err; i++)
		err = put_node_facts(merge, i, time_ns);
	for (i = 0; i < merge->mount_count && !err; i++)
		if (merge->mounts[i].is_shared && merge->mounts[i].share == i)
			err = put_fact(merge, time_ns, "shared=%s", merge->mounts[i].path);
	if (!err && !merge->is_of_replay && needs_root(merge))
		err = put_root(merge, time_ns);
	return write_failed(merge, err);
}

/* Return: is anything? */
static bool state_what_is_missing(const struct merge *merge, char *why, size_t room)
{
	const struct merge_result *result = &merge->result;

	if (!merge->is_of_replay && (result->unfinished || result->missing_ranks))
		snprintf(why, room, "%llu processes exited without MPI_Finalize, %llu ranks have no trace",
			 (unsigned long long)result->unfinished,
			 (unsigned long long)result->missing_ranks);
	else if (merge->options.partial)
		snprintf(why, room, "%s", merge->options.partial);
	else if (result->unfinished || result->missing_nodes)
		snprintf(why, room, "%llu nodes did not finish the replay, %llu have no outcomes",
			 (unsigned long long)result->unfinished,
			 (unsigned long long)result->missing_nodes);
	return why[0];
}

/*
 * Whether the new trace states this omission for all of them. It does not state an omission that
 * its own records show.
 */
static bool is_stated(const struct merge *merge, enum iot_omission_reason reason)
{
	switch (reason) {
	case IOT_OMISSION_lost:
	case IOT_OMISSION_missing:
		return false;
	case IOT_OMISSION_partial: /* of one node, the facts `partial` are still there */
		return merge_is_cluster(merge);
	default:
		return true;
	}
}

/* Also that a filter excluded nothing: with the facts about the filter alone, the number would be unknown. */
static bool write_omission(const struct merge *merge, enum iot_omission_reason reason, char text[IOT_OMISSION_TEXT_BYTES])
{
	if (iot_omission_fact(&merge->result.omissions, reason, text))
		return true;
	snprintf(text, IOT_OMISSION_TEXT_BYTES, "omission.%s=0 0 0", iot_omission_name(reason));
	return merge->result.omissions.is_stated[reason];
}

static int put_omissions(struct merge *merge)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	int err = 0;
	u32 i;

	for (i = 1; i < IOT_OMISSION_END && !err && !merge->is_of_replay; i++)
		if (is_stated(merge, i) && write_omission(merge, i, text))
			err = put_fact(merge, merge->end_ns, "%s", text);
	return err;
}

static int put_end(struct merge *merge)
{
	char why[512] = "";
	struct iot_record end = { .kind = IOT_KIND_end };
	struct merge_result *result = &merge->result;
	int err = put_omissions(merge);

	if (state_what_is_missing(merge, why, sizeof(why))) {
		iot_omissions_add(&result->omissions, IOT_OMISSION_partial, 1, IOT_OMISSION_UNKNOWN,
				  IOT_OMISSION_UNKNOWN, why);
		if (!err)
			err = put_fact(merge, merge->end_ns, "partial=%s", why);
	}
	end.tail = (const u8 *)why;
	end.tail_bytes = (u16)strlen(why);
	end.end.time_ns = merge->end_ns;
	end.end.records = result->records;
	end.end.lost = result->lost;
	if (!err)
		err = iot_writer_record(merge->writer, &end);
	return write_failed(merge, err ? err : iot_writer_finish(merge->writer));
}

/* -- one order --------------------------------------------------------------------------------- */

/* Among those that end at the same time, traces keep their order. */
static bool is_before(const struct merge_input *a, const struct merge_input *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a < b;
}

static void heap_sink(struct merge *merge, u32 at)
{
	struct merge_input **heap = merge->heap, *input = heap[at];
	u32 child;

	while ((child = 2 * at + 1) < merge->heap_count) {
		if (child + 1 < merge->heap_count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], input))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = input;
}

static int heap_fill(struct merge *merge)
{
	u32 i;

	merge->heap = calloc(merge->input_count, sizeof(struct merge_input *));
	if (!merge->heap)
		return merge_fail(merge, merge->options.output, -ENOMEM);
	for (i = 0; i < merge->input_count; i++)
		if (merge->inputs[i].has_record)
			merge->heap[merge->heap_count++] = &merge->inputs[i];
	for (i = merge->heap_count / 2; i > 0; i--)
		heap_sink(merge, i - 1);
	return 0;
}

static int take(struct merge *merge, struct merge_input *input)
{
	int err;

	if (input->record.kind == IOT_KIND_end) /* that of one is not that of all */
		return 0;
	if (input->record.kind == IOT_KIND_fact && !merge->is_of_replay &&
	    merge_is_omission(&input->record)) /* nor is this */
		return 0;
	err = merge_rewrite(merge, input);
	if (err < 0)
		return merge_fail(merge, input->path, err);
	if (err)
		return 0;
	err = put(merge, input);
	if (merge->shared)
		shared_after(merge, &input->record);
	return err;
}

static int write_records(struct merge *merge)
{
	struct merge_input *input;
	u32 i;
	int err = 0;

	while (!err && merge->heap_count) {
		input = merge->heap[0];
		err = take(merge, input);
		if (!err)
			err = next_record(merge, input);
		if (!input->has_record)
			merge->heap[0] = merge->heap[--merge->heap_count];
		if (merge->heap_count)
			heap_sink(merge, 0);
	}
	for (i = 0; i < merge->input_count && !err; i++)
		err = flush(merge, &merge->inputs[i]);
	return err;
}

/* The new trace begins with the first one of the reference, and has its id. */
static int begin(struct merge *merge)
{
	const struct merge_input *first;
	u64 begin_ns;
	u32 i;
	int err = 0;

	for (i = 0; i < merge->input_count && !err; i++) {
		struct merge_input *input = &merge->inputs[i];

		err = merge_input_open(merge, i);
		input->chunk = malloc(MERGE_CHUNK_BYTES);
		if (!err && !input->chunk)
			err = merge_fail(merge, input->path, -ENOMEM);
		if (!err)
			err = next_record(merge, input);
	}
	if (!err)
		err = heap_fill(merge);
	if (err)
		return err;
	first = &merge->inputs[merge->nodes[merge->reference].first];
	err = write_failed(merge, iot_writer_open_at(merge->options.output, first->info.capture,
						     first->info.real_ns, first->info.mono_ns,
						     &merge->writer));
	begin_ns = merge->heap_count ? merge->heap[0]->end_ns : 0;
	return err ? err : put_beginning(merge, begin_ns ? begin_ns - 1 : 0);
}

/**
 * merge_write() - write the new trace
 */
int merge_write(struct merge *merge)
{
	int err = begin(merge);

	if (!err)
		err = write_records(merge);
	if (!err)
		err = merge_take_stock(merge);
	if (!err)
		err = put_end(merge);
	if (err && merge->writer)
		iot_writer_discard(merge->writer);
	return err;
}
