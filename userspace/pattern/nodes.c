// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes.c - sets of nodes.
 */
#include "nodes.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->is_lost = true)
#include <uthash.h>

/* @is_lost: there was no memory to add it. */
struct node_entry {
	UT_hash_handle hh;
	u32 index;
	bool is_lost;
	struct node node;
	u32 key[]; /* type, and the shape or the body */
};

/**
 * node_hash_add() - the hash of a sequence of nodes with one more at its end
 */
u64 node_hash_add(u64 hash, u32 node)
{
	u64 mixed = ((u64)node + 1) * 0xbf58476d1ce4e5b9ull;

	return hash * NODE_HASH_FACTOR + (mixed ^ mixed >> 29);
}

/* Depth and columns follow from the body. Return: whether the node is sound. */
static bool set_sums(const struct nodes *nodes, const struct shapes *shapes, struct node *node)
{
	u64 columns = node->type == NODE_LIST ? 0 : 1;
	u32 i;

	if (node->type == NODE_RUN) {
		if (node->shape >= shapes->count)
			return false;
		columns += shapes_at(shapes, node->shape)->operand_count;
		node->runs = 1;
	}
	for (i = 0; i < node->body_count; i++) {
		const struct node *part;

		if (node->body[i] >= nodes->count)
			return false;
		part = nodes_at(nodes, node->body[i]);
		if (part->type == NODE_LIST)
			return false;
		columns += part->columns;
		node->runs += part->runs;
		node->depth = part->depth > node->depth ? part->depth : node->depth;
		node->body_hash = node_hash_add(node->body_hash, node->body[i]);
		if (columns > NODE_COLUMNS_MAX)
			return false;
	}
	node->depth += node->type == NODE_LOOP;
	node->columns = (u32)columns;
	return node->depth <= NODE_DEPTH_MAX && (node->type != NODE_LOOP || node->body_count);
}

static int grow(struct nodes *nodes)
{
	u32 room = nodes->room ? 2 * nodes->room : 64;
	struct node_entry **entries = reallocarray(nodes->entries, room, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	nodes->entries = entries;
	nodes->room = room;
	return 0;
}

static struct node_entry *make_entry(enum node_type type, const u32 *body, u32 body_count)
{
	struct node_entry *entry = calloc(1, sizeof(*entry) + ((size_t)body_count + 1) * sizeof(u32));

	if (!entry)
		return NULL;
	entry->key[0] = type;
	if (body_count)
		memcpy(entry->key + 1, body, body_count * sizeof(u32));
	entry->node.type = type;
	if (type == NODE_RUN) {
		entry->node.shape = body[0];
	} else {
		entry->node.body = entry->key + 1;
		entry->node.body_count = body_count;
	}
	return entry;
}

/**
 * nodes_add() - the number of a node, which is added if it is new
 * @nodes: the set
 * @shapes: that runs are of
 * @type: of the node
 * @body: its nodes; of a run, its shape
 * @body_count: their number; of a run, 1
 * @index: out: its number
 *
 * Return: 0, -EINVAL if it is not sound, or -ENOMEM.
 */
int nodes_add(struct nodes *nodes, const struct shapes *shapes, enum node_type type, const u32 *body, u32 body_count,
	      u32 *index)
{
	struct node_entry *entry = make_entry(type, body, body_count), *found;
	size_t bytes = ((size_t)body_count + 1) * sizeof(u32);

	if (!entry)
		return -ENOMEM;
	HASH_FIND(hh, nodes->table, entry->key, bytes, found);
	if (found) {
		free(entry);
		*index = found->index;
		return 0;
	}
	if (!set_sums(nodes, shapes, &entry->node)) {
		free(entry);
		return -EINVAL;
	}
	if (nodes->count == nodes->room && grow(nodes)) {
		free(entry);
		return -ENOMEM;
	}
	entry->index = nodes->count;
	HASH_ADD(hh, nodes->table, key, bytes, entry);
	if (entry->is_lost) {
		free(entry);
		return -ENOMEM;
	}
	nodes->entries[nodes->count++] = entry;
	*index = entry->index;
	return 0;
}

/**
 * nodes_at() - a node by its number
 */
const struct node *nodes_at(const struct nodes *nodes, u32 index)
{
	return &nodes->entries[index]->node;
}

/**
 * nodes_free() - free all nodes of a set
 */
void nodes_free(struct nodes *nodes)
{
	u32 i;

	HASH_CLEAR(hh, nodes->table);
	for (i = 0; i < nodes->count; i++)
		free(nodes->entries[i]);
	free(nodes->entries);
	*nodes = (struct nodes){};
}
