// SPDX-License-Identifier: GPL-2.0-only
/*
 * identities.c - ids and times of a node become those of the whole.
 *
 * Each node counts its tasks, objects, handles and so on for itself. In the new trace the ids of
 * the second node follow those of the first, and so on, in the same order. Of one node nothing
 * is changed. The nodes of a replay have the ids of its program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define PROCESSES_MAX (1u << 22) /* Linux has no more process ids than that */

static const char *const ids_names[] = { "tasks", "processes", "objects", "handles", "names",
					 "mappings", "requests" };

/* Process ids are kept on the first node, and can be derived on the others. */
static bool keep_process_ids(struct merge *merge)
{
	u32 node;

	for (node = 0; node < merge->node_count; node++)
		if (merge->nodes[node].ids[IDS_process].max >= PROCESSES_MAX)
			return false;
	if (merge->node_count > ~0u / PROCESSES_MAX)
		return false;
	for (node = 0; node < merge->node_count; node++) {
		struct id_range *range = &merge->nodes[node].ids[IDS_process];

		range->base = (u64)node * PROCESSES_MAX;
		range->min = 0;
	}
	return true;
}

/**
 * merge_identities() - decide which ids become which
 */
int merge_identities(struct merge *merge)
{
	u32 ids, node;

	if (!merge_is_cluster(merge) || merge->is_of_replay)
		return 0;
	for (ids = 0; ids < IDS_COUNT; ids++) {
		u64 most = ids <= IDS_process ? ~0u : ~0ull, next = 1;

		if (ids == IDS_process && keep_process_ids(merge))
			continue;
		for (node = 0; node < merge->node_count; node++) {
			struct id_range *range = &merge->nodes[node].ids[ids];

			range->base = next;
			if (!range->max)
				continue;
			if (range->max - range->min >= most - next - 2) {
				merge->options.say("%s: the ids of %s are too many for one trace",
						   merge->nodes[node].name, ids_names[ids]);
				return -EOVERFLOW;
			}
			next += range->max - range->min + 1;
		}
		if (ids == IDS_name)
			merge->root_name = next;
		if (ids == IDS_object)
			merge->root_object = next;
	}
	return 0;
}

/**
 * merge_new_id() - the id in the new trace for an id of a node
 */
u64 merge_new_id(const struct merge_node *node, enum merge_ids ids, u64 id)
{
	const struct id_range *range = &node->ids[ids];

	return id ? id - range->min + range->base : 0;
}

static void rewrite_ids(const struct merge_node *node, struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		const struct iot_field *field = &info->fields[i];
		enum merge_ids ids = merge_ids_of(record->kind, field);

		if (ids != IDS_COUNT)
			iot_field_set(record, field, merge_new_id(node, ids, iot_field_get(record, field)));
	}
	if (record->kind == IOT_KIND_task) {
		record->task.pid = (u32)merge_new_id(node, IDS_process, record->task.pid);
		record->task.tgid = (u32)merge_new_id(node, IDS_process, record->task.tgid);
	}
}

static void rewrite_times(const struct merge *merge, u32 node, struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	u64 end_ns = clocks_map(merge->clocks, node, iot_record_end_ns(record));
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (info->fields[i].class == IOT_CLASS_instant)
			iot_field_set(record, &info->fields[i],
				      clocks_map(merge->clocks, node,
						 iot_field_get(record, &info->fields[i])));
	if (iot_kind_is_span(info))
		iot_field_set(record, &info->fields[1],
			      end_ns - iot_field_get(record, &info->fields[0]));
}

/* Return: 1 if it was already announced, 0 if it is kept. */
static int rewrite_fact(const struct merge *merge, struct merge_input *input)
{
	struct iot_record *record = &input->record;
	const struct merge_fact *fact = NULL;
	int bytes;

	if (record->tail_bytes)
		HASH_FIND(hh, merge->facts, record->tail, record->tail_bytes, fact);
	if (fact && fact->nodes == merge->node_count && !merge_is_partial(record))
		return fact->first_node != input->node;
	bytes = snprintf(input->text, sizeof(input->text), "node.%s.%.*s",
			 merge->nodes[input->node].name, record->tail_bytes,
			 (const char *)record->tail);
	record->tail = (const u8 *)input->text;
	record->tail_bytes = (u16)(bytes < (int)sizeof(input->text) ? bytes : (int)sizeof(input->text) - 1);
	return 0;
}

/**
 * merge_retime() - give the record of a trace its time
 */
void merge_retime(const struct merge *merge, struct merge_input *input)
{
	if (merge_is_cluster(merge) && !merge->nodes[input->node].has_same_clock)
		rewrite_times(merge, input->node, &input->record);
}

/**
 * merge_rewrite() - translate the next record of a trace to the new trace
 *
 * Return: 0; 1 if it is left out; or a negative errno.
 */
int merge_rewrite(struct merge *merge, struct merge_input *input)
{
	struct iot_record *record = &input->record;
	bool is_left_out;

	if (!merge_is_cluster(merge))
		return 0;
	if (merge->is_of_replay && parts_keeps(merge, input, &is_left_out))
		return is_left_out;
	if (record->kind == IOT_KIND_fact)
		return rewrite_fact(merge, input);
	rewrite_ids(&merge->nodes[input->node], record);
	return shared_rewrite(merge, input, record);
}
