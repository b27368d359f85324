// SPDX-License-Identifier: GPL-2.0-only
/*
 * parts.c - the outcomes of the nodes of one replay become those of the whole.
 *
 * Nothing has to be renamed: tasks, objects and names are those of the program on every node, and
 * each node has announced all of them. So the announcements of the first node are kept, and the
 * operations of all; facts state the placement of tasks. Nodes with the same clock keep their
 * times. For the others, node 0 has queried the time there, and the bounds from its queries and the
 * answers are fitted like those of messages.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define REPLAY_NODES_MAX (1u << 20)

/* -- do they belong together? ----------------------------------------------------------------------- */

static int refuse(const struct merge *merge, u32 input, const char *what, u32 other)
{
	merge->options.say("%s: is of %s, and %s is not", merge->inputs[input].path, what,
			   merge->inputs[other].path);
	return -EINVAL;
}

/* "1 of 3" */
static int read_number(struct merge *merge, u32 number)
{
	struct merge_input *input = &merge->inputs[number];
	u32 count;

	if (!input->part ||
	    sscanf(input->part, "%u of %u", &input->part_number, &count) != 2 ||
	    input->part_number >= count || count > REPLAY_NODES_MAX) {
		merge->options.say("%s: is not one of the outcomes of several nodes", input->path);
		return -EINVAL;
	}
	merge->part_count = count;
	return 0;
}

static int check_pair(const struct merge *merge, u32 number, u32 other)
{
	const struct merge_input *a = &merge->inputs[number], *b = &merge->inputs[other];

	if (strcmp(a->run ?: "", b->run ?: "")) {
		merge->options.say("%s: is of another replay than %s", a->path, b->path);
		return -EINVAL;
	}
	if (a->part_number != b->part_number)
		return 0;
	merge->options.say("%s: is of node %u, as is %s", a->path, a->part_number, b->path);
	return -EINVAL;
}

/**
 * parts_check() - are the traces outcomes of nodes, all or none of them? Then, of one replay?
 */
int parts_check(struct merge *merge)
{
	u32 i, j;
	int err = 0;

	for (i = 1; i < merge->input_count; i++)
		if (!merge->inputs[i].replay != !merge->inputs[0].replay)
			return refuse(merge, merge->inputs[i].replay ? i : 0, "a replay",
				      merge->inputs[i].replay ? 0 : i);
	merge->is_of_replay = merge->input_count && merge->inputs[0].replay;
	for (i = 0; i < merge->input_count && merge->is_of_replay && !err; i++) {
		err = read_number(merge, i);
		for (j = 0; j < i && !err; j++)
			err = check_pair(merge, i, j);
	}
	return err;
}

/**
 * parts_name() - the name of a node of a replay: its number, since several may be on one host
 *
 * Return: the name, freed by the caller; NULL if out of memory.
 */
char *parts_name(const struct merge_input *input)
{
	char *name;

	return asprintf(&name, "%u", input->part_number) < 0 ? NULL : name;
}

/* -- placement of tasks ------------------------------------------------------------------------ */

/**
 * parts_see_task() - a task was performed on a node, which was not known yet
 */
int parts_see_task(struct merge_node *node, u32 task)
{
	u32 *performed = node->performed;

	if (node->performed_count == node->performed_room) {
		u32 room = node->performed_room ? 2 * node->performed_room : 64;

		performed = reallocarray(performed, room, sizeof(*performed));
		if (!performed)
			return -ENOMEM;
		node->performed = performed;
		node->performed_room = room;
	}
	performed[node->performed_count++] = task;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/**
 * parts_list_tasks() - the tasks of a node, as many as there is room for
 * @node: surveyed
 * @at: in and out: index of the first that is not listed yet
 * @text: out: "1-3,7"
 * @room: for it, at least 32 bytes
 *
 * Return: is there any?
 */
bool parts_list_tasks(struct merge_node *node, u32 *at, char *text, size_t room)
{
	u32 first = *at, last;
	size_t bytes = 0;

	if (!first && node->performed_count)
		qsort(node->performed, node->performed_count, sizeof(u32), compare_numbers);
	for (; first < node->performed_count && room - bytes > 32; first = last + 1) {
		for (last = first; last + 1 < node->performed_count &&
				   node->performed[last + 1] == node->performed[last] + 1;)
			last++;
		bytes += (size_t)snprintf(text + bytes, room - bytes, "%s%u", bytes ? "," : "",
					  node->performed[first]);
		if (last > first)
			bytes += (size_t)snprintf(text + bytes, room - bytes, "-%u",
						  node->performed[last]);
	}
	*at = first;
	return bytes;
}

static bool begins_with(const struct iot_record *record, const char *key)
{
	return record->tail_bytes >= strlen(key) && !memcmp(record->tail, key, strlen(key));
}

/* The facts about a replay as a whole are those of node 0, or of the first existing node. */
static bool is_of_all(const struct iot_record *record)
{
	static const char *const keys[] = { "replay=", "target=", "engine=", "pace=", "data=" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (begins_with(record, keys[i]))
			return true;
	return false;
}

/**
 * parts_keeps() - is a record of a node one of the whole as it is?
 * @is_left_out: out: another node has stated it
 */
bool parts_keeps(const struct merge *merge, const struct merge_input *input, bool *is_left_out)
{
	const struct iot_record *record = &input->record;
	bool is_first = input->node == merge->reference;

	switch (record->kind) {
	case IOT_KIND_task:
	case IOT_KIND_name:
	case IOT_KIND_object:
		*is_left_out = !is_first;
		return true;
	case IOT_KIND_fact:
		*is_left_out = begins_with(record, "node=") || begins_with(record, "ranks=");
		return *is_left_out || (is_first && is_of_all(record));
	default:
		*is_left_out = false;
		return true;
	}
}

/* -- clocks ------------------------------------------------------------------------------------------- */

/* The request was sent at @sent_ns, the answer is @seen_ns, and it arrived at @back_ns. */
static int bound(struct merge *merge, u32 node, const struct merge_sample *sample)
{
	u32 there, back;
	int err = clocks_meeting(merge->clocks, &there);

	if (!err)
		err = clocks_arrive(merge->clocks, there, merge->reference, sample->sent_ns);
	if (!err)
		err = clocks_leave(merge->clocks, there, node, sample->seen_ns);
	if (!err)
		err = clocks_meeting(merge->clocks, &back);
	if (!err)
		err = clocks_arrive(merge->clocks, back, node, sample->seen_ns);
	return err ? err : clocks_leave(merge->clocks, back, merge->reference, sample->back_ns);
}

static int bound_input(struct merge *merge, const struct merge_input *input)
{
	struct merge_sample sample = {};
	size_t i;
	int err = 0;

	if (input->sample && sscanf(input->sample, "%llu %llu %llu", (unsigned long long *)&sample.sent_ns,
				    (unsigned long long *)&sample.seen_ns,
				    (unsigned long long *)&sample.back_ns) == 3)
		err = bound(merge, input->node, &sample);
	for (i = 0; i < merge->options.sample_count && !err; i++)
		if (merge->options.samples[i].node == input->part_number)
			err = bound(merge, input->node, &merge->options.samples[i]);
	return err;
}

/**
 * parts_reference() - the node whose clock counts: node 0, or the first that is there
 *
 * The samples are by the clock of node 0: without it, nothing but wall clocks is left.
 */
u32 parts_reference(const struct merge *merge)
{
	u32 i, first = 0;

	for (i = 1; i < merge->input_count; i++)
		if (merge->inputs[i].part_number < merge->inputs[first].part_number)
			first = i;
	return merge->inputs[first].node;
}

/**
 * parts_bound() - add the bounds of the clocks of nodes, before they are fitted
 */
int parts_bound(struct merge *merge)
{
	const struct merge_input *first = &merge->inputs[merge->nodes[merge->reference].first];
	u32 i;
	int err = 0;

	for (i = 0; i < merge->input_count && !err; i++) {
		struct merge_input *input = &merge->inputs[i];

		if (input == first)
			continue;
		merge->nodes[input->node].has_same_clock = input->clock && first->clock &&
							   !strcmp(input->clock, first->clock);
		if (!merge->nodes[input->node].has_same_clock && !first->part_number)
			err = bound_input(merge, input);
	}
	return err;
}

/* -- all of it ------------------------------------------------------------------------------------------ */

/**
 * parts_take_stock() - report missing parts, after all are read
 */
void parts_take_stock(struct merge *merge)
{
	const struct merge_input *first = &merge->inputs[0];
	u32 i, number;

	for (number = 0; number < merge->part_count; number++) {
		for (i = 0; i < merge->input_count && merge->inputs[i].part_number != number; i++)
			;
		if (i < merge->input_count)
			continue;
		merge->result.missing_nodes++;
		merge->options.say("%s: of the %u nodes of its replay, there are no outcomes of node %u",
				   first->path, merge->part_count, number);
	}
}
