/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tree_nodes.h - the nodes of a tree: private to tree.c and tree_observations.c.
 */
#ifndef IOTAPE_TREE_NODES_H
#define IOTAPE_TREE_NODES_H

#include <uthash.h>

#include "tree.h"

enum node_state {
	NODE_UNKNOWN, /* mentioned, but not looked up */
	NODE_ABSENT,  /* did not exist at the beginning */
	NODE_PRESENT, /* did */
};

/* An operation of the trace; one that others are nested in stands for those. */
struct observer {
	u32 task;
	u32 op; /* 0: none */
};

/**
 * struct observation - the object that an operation found under a name, while the first operation on it was under way
 * @next: of the same node
 */
struct observation {
	struct observation *next;
	struct observer by;
	enum node_state state;
	struct tree_object *object;
};

struct arrival {
	struct arrival *next;
	struct tree_object *object;
};

/**
 * struct node - one component in one directory
 * @type: from a directory entry, if the object is unknown
 * @object: NULL if it is not known, or there is none
 * @first_by: first operation on it, of those that have ended
 * @until_ns: its end
 * @rivals: those that changed the name and began before that
 * @arrivals: objects that arrived at the name, without those that the trace created
 * @is_disputed: it is not known yet which of all these was the first
 * @path: at the beginning; set at the end
 * @key: id of the directory, component; a zero byte follows
 */
struct node {
	UT_hash_handle hh;
	enum node_state state;
	u32 type;
	struct tree_object *object;
	struct observer first_by;
	u64 until_ns;
	struct observation *rivals;
	struct arrival *arrivals;
	bool is_disputed;
	char *path;
	size_t key_bytes;
	char key[];
};

/* A name that is not settled yet, and an operation that may have been the first on it. */
struct dispute;

struct tree_name {
	UT_hash_handle hh;
	u64 id;
	struct node *node;
};

struct tree_object {
	UT_hash_handle hh;
	u64 id;
	u64 name;
	struct node *first;
	struct node *placed; /* that was its name, without doubt */
	bool is_known;
	bool is_created;
	u32 mode;
	u32 uid;
	u32 gid;
	u64 rdev;
	u64 size_bytes;
	u64 cached_pages;
	char *target;
};

/* An entry that was read from a directory which is not known yet. */
struct pending {
	struct pending *next;
	u32 task;
	u32 op;
	u32 type;
	size_t bytes;
	char name[];
};

/**
 * struct tree - observations so far
 * @root: of the first mount
 * @observed: the current record
 * @ids: meaning of object ids at that time; NULL when the trace has been read
 * @has_placed: objects that were only announced have their places
 * @disputes: names with several operations that may have been the first
 */
struct tree {
	struct node *nodes;
	struct tree_name *names;
	struct tree_object *objects;
	struct pending *pending;
	struct dispute *disputes;
	u64 root;
	const struct iot_record *observed;
	struct iot_names *ids;
	struct tree_entry *entries;
	size_t entry_count;
	bool has_placed;
	bool is_short_of_memory;
};

/* tree.c */
struct node *tree_node_of(struct tree *tree, u64 name);
struct tree_object *tree_object_of(struct tree *tree, u64 id);
void *tree_allocate(struct tree *tree, size_t bytes);

/* tree_observations.c */
void tree_found(struct tree *tree, u64 name, u64 id, bool is_change);
void tree_missed(struct tree *tree, u64 name, bool is_change);
void tree_note_arrival(struct tree *tree, u64 name, u64 id);
void tree_listed(struct tree *tree, struct node *node, u32 type);
void tree_free_observations(struct tree *tree);

#endif
