/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nodes.h - the structure of the operations of tasks: runs and loops, without how often they are repeated and without
 * operands. Equal parts are one node.
 */
#ifndef IOTAPE_PATTERN_NODES_H
#define IOTAPE_PATTERN_NODES_H

#include "shape.h"

#define NODE_COLUMNS_MAX (1u << 24) /* of a structure */
#define NODE_DEPTH_MAX	 64

/**
 * enum node_type - types of nodes
 * @NODE_RUN: one or more operations of a shape
 * @NODE_LOOP: two or more iterations of a body
 * @NODE_LIST: all operations of a task
 */
enum node_type { NODE_RUN, NODE_LOOP, NODE_LIST, NODE_TYPES };

struct node_entry;

/**
 * struct node - a part of a structure
 * @shape: of a run
 * @body, @body_count: nodes of a loop or list, in order; each was added before this one
 * @body_hash: of the body
 * @depth: of loops in it, itself included
 * @columns: sequences of numbers that the part has: the counts and then the operands of a run; the counts of
 *	a loop and then those of its body
 * @runs: in it
 */
struct node {
	enum node_type type;
	u32 shape;
	const u32 *body;
	u32 body_count;
	u64 body_hash;
	u32 depth;
	u32 columns;
	u32 runs;
};

/**
 * struct nodes - a set of nodes; all zero is an empty one
 */
struct nodes {
	struct node_entry *table;
	struct node_entry **entries;
	u32 count;
	u32 room;
};

int nodes_add(struct nodes *nodes, const struct shapes *shapes, enum node_type type, const u32 *body, u32 body_count,
	      u32 *index);
const struct node *nodes_at(const struct nodes *nodes, u32 index);
void nodes_free(struct nodes *nodes);
u64 node_hash_add(u64 hash, u32 node);

#define NODE_HASH_FACTOR 0x9e3779b97f4a7c15ull

/* fold.c */
int fold(struct nodes *nodes, const struct shapes *shapes, const struct numbers *operations, u32 *root,
	 struct numbers *counts);

#endif
