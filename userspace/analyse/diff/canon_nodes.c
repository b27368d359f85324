// SPDX-License-Identifier: GPL-2.0-only
/*
 * canon_nodes.c - the nodes of a merged trace.
 *
 * An operation that finds no object under a name has generation 0 if its own node has never known one: whether other nodes had an object
 * under this name by then depends on the fitted clocks. So the operations of a task are the same whether its node is alone in a trace or not.
 */
#include <stdlib.h>
#include <uthash.h>

#include "canon_reading.h"

/* Tasks of a node, by id, and its number in the order of the names. */
struct range {
	char *name;
	u32 first;
	u32 last;
	u32 number;
};

/* A path that a node knows an object of; paths live as long as the operations. */
struct known {
	UT_hash_handle hh;
	struct known_key {
		const char *path;
		u64 node;
	} key;
};

/**
 * struct canon_nodes - the nodes of a merged trace
 * @ranges: of tasks, @count of them
 * @is_sorted: by the first task; they have their numbers
 * @known: paths of which a node knows an object
 */
struct canon_nodes {
	struct range *ranges;
	u32 count;
	bool is_sorted;
	struct known *known;
};

/* -- facts --------------------------------------------------------------------------------------------------------- */

static int add_range(struct canon_nodes *nodes, char *name, u32 first, u32 last)
{
	struct range *ranges = reallocarray(nodes->ranges, nodes->count + 1ul, sizeof(*ranges));

	if (ranges)
		nodes->ranges = ranges;
	if (!name || !ranges) {
		free(name);
		return -ENOMEM;
	}
	ranges[nodes->count++] = (struct range){ .name = name, .first = first, .last = last };
	nodes->is_sorted = false;
	return 0;
}

/**
 * canon_take_node() - a fact that may list the tasks of a node: node.NAME.tasks=1-3,7
 * @canon: gets them
 * @r: the fact
 *
 * Return: 0 or -ENOMEM.
 */
int canon_take_node(struct canon *canon, const struct iot_record *r)
{
	char text[IOT_TAIL_MAX_BYTES + 1], *list, *at;
	unsigned int first, last;
	int bytes, err = 0;

	if (r->tail_bytes < 5 || memcmp(r->tail, "node.", 5))
		return 0;
	memcpy(text, r->tail, r->tail_bytes);
	text[r->tail_bytes] = 0;
	list = strstr(text, ".tasks=");
	if (!list)
		return 0;
	*list = 0;
	if (!canon->nodes)
		canon->nodes = calloc(1, sizeof(*canon->nodes));
	if (!canon->nodes)
		return -ENOMEM;
	for (at = list + strlen(".tasks="); !err && sscanf(at, "%u%n", &first, &bytes) == 1; at += *at == ',') {
		at += bytes;
		last = first;
		if (sscanf(at, "-%u%n", &last, &bytes) == 1)
			at += bytes;
		err = add_range(canon->nodes, strdup(text + 5), first, last);
	}
	return err;
}

static int compare_names(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static void sort(struct canon_nodes *nodes)
{
	struct range *ranges = nodes->ranges;
	u32 i;

	qsort(ranges, nodes->count, sizeof(*ranges), compare_names);
	for (i = 0; i < nodes->count; i++)
		ranges[i].number = i && !strcmp(ranges[i - 1].name, ranges[i].name) ? ranges[i - 1].number : i + 1;
	qsort(ranges, nodes->count, sizeof(*ranges), compare_tasks);
	nodes->is_sorted = true;
}

/**
 * canon_node_of() - the node of a task
 * @canon: of the trace
 * @task: its id
 *
 * Return: a number in the order of the names of nodes, from 1; 0 if none is known.
 */
u32 canon_node_of(const struct canon *canon, u32 task)
{
	struct canon_nodes *nodes = canon->nodes;
	u32 low = 0, high, middle;

	if (!nodes || !nodes->count)
		return 0;
	if (!nodes->is_sorted)
		sort(nodes);
	for (high = nodes->count; low < high;) { /* to the first range behind the task */
		middle = low + (high - low) / 2;
		if (nodes->ranges[middle].first <= task)
			low = middle + 1;
		else
			high = middle;
	}
	return low && task <= nodes->ranges[low - 1].last ? nodes->ranges[low - 1].number : 0;
}

/* -- generations ------------------------------------------------------------------------------------------------- */

static bool is_known(const struct canon_nodes *nodes, const struct known_key *key)
{
	struct known *known;

	HASH_FIND(hh, nodes->known, key, sizeof(*key), known);
	return known;
}

static int know(struct canon_nodes *nodes, const char *path, u32 node)
{
	const struct known_key key = { .path = path, .node = node };
	struct known *known;

	if (is_known(nodes, &key))
		return 0;
	known = calloc(1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	known->key = key;
	HASH_ADD(hh, nodes->known, key, sizeof(known->key), known);
	return 0;
}

/* The first field of a class, 0 if there is none. */
static u64 first_of_class(const struct iot_record *r, enum iot_class class)
{
	const struct iot_kind_info *info = iot_kind_info(r->kind);
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (info->fields[i].class == class)
			return iot_field_get(r, &info->fields[i]);
	return 0;
}

/**
 * canon_localize() - the generation of an operation by a name
 * @s: where the reading is
 * @op: the operation; its generation becomes 0 if it found no object, and its node knew none before
 *
 * Return: 0 or -ENOMEM.
 */
int canon_localize(struct reading_state *s, struct canon_op *op)
{
	const struct iot_record *r = s->record;
	struct canon_nodes *nodes = s->canon->nodes;
	struct known_key key = { .path = op->path };
	int err;

	if (!nodes || !first_of_class(r, IOT_CLASS_name))
		return 0;
	key.node = canon_node_of(s->canon, r->op.task);
	if (r->op.result < 0) {
		if (!first_of_class(r, IOT_CLASS_object) && !is_known(nodes, &key))
			op->generation = 0;
		return 0;
	}
	err = know(nodes, op->path, (u32)key.node);
	if (!err && (r->kind == IOT_KIND_rename || r->kind == IOT_KIND_link))
		err = know(nodes, op->path2, (u32)key.node);
	return err;
}

/**
 * canon_free_nodes() - free the memory of this file
 */
void canon_free_nodes(struct canon *canon)
{
	struct canon_nodes *nodes = canon->nodes;
	struct known *known, *next;
	u32 i;

	if (!nodes)
		return;
	HASH_ITER (hh, nodes->known, known, next) {
		HASH_DEL(nodes->known, known);
		free(known);
	}
	for (i = 0; i < nodes->count; i++)
		free(nodes->ranges[i].name);
	free(nodes->ranges);
	free(nodes);
}
