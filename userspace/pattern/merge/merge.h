/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge.h - the state of a merge of patterns. Private to this directory.
 *
 * The parts of a job become the pattern that the merged trace of the job has: tasks in the order of ranks, names as on all nodes, and
 * loops and groups in the order in which they would have been found. Operations are not unrolled, except one after the other for the hash.
 *
 * Functions return 0, -EOPNOTSUPP with the reason in the refusal, -EBADMSG if a part is not sound, or -ENOMEM.
 */
#ifndef IOTAPE_PATTERN_MERGE_H
#define IOTAPE_PATTERN_MERGE_H

#include "pattern/assembly.h"
#include "pattern/task_walk.h"

#define MERGE_NONE UINT32_MAX

/**
 * struct merge_shape - a shape of a source in the merged pattern
 * @bytes: of it
 * @numbers: of the name of the node, in both names
 * @is_mapped, @index: its number, once it is known
 */
struct merge_shape {
	struct bytes bytes;
	struct numbers numbers[2];
	bool is_mapped;
	u32 index;
};

/**
 * struct merge_source - a pattern that is merged
 * @pattern, @name: of it
 * @prefix: name of the node whose directory its files come to, NULL if names stay
 * @facts: of its tasks, by position
 * @places: from events_find_tasks()
 * @nodes: in the merged part, by node of its own
 * @node_of: node of its own, by position
 * @task_count: without names that look-ups found
 * @positions: in the merged pattern, by position
 * @shapes: by number
 * @node_map: of its structure, in the merged one, @node_map_count of them
 * @has_rests: it has tasks that are of no rank
 */
struct merge_source {
	const struct pattern *pattern;
	const char *name;
	const char *prefix;
	u64 *facts[TASK_FACT_COUNT];
	u64 *places;
	u32 *nodes;
	u64 *node_of;
	u64 task_count;
	u64 *positions;
	struct merge_shape *shapes;
	u32 *node_map;
	u32 node_map_count;
	bool has_rests;
};

/* A task of the merged pattern. */
struct merge_task {
	u32 source;
	u32 node;
	u64 position; /* in the source */
	u64 rank;     /* UINT64_MAX: of none */
};

/**
 * struct merge - parts that become one
 * @sources: the parts; behind them, with @has_found, the names that look-ups found
 * @widths: of the numbers in all names
 * @part: what the result is a part of
 * @pattern: the result
 * @is_cluster: there are several nodes
 */
struct merge {
	const struct pattern_merge_options *options;
	struct merge_source *sources;
	u32 source_count;
	bool has_found;
	struct pattern *found;
	struct widths *widths;
	struct part *part;
	struct merge_task *tasks;
	u64 task_count;
	struct pattern *pattern;
	bool is_cluster;
	struct pattern_refusal *refusal;
};

int __attribute__((format(printf, 2, 3))) merge_refuse(struct merge *m, const char *format, ...);

/* merge_sources.c */
int merge_open_source(struct merge *m, u32 index, const struct pattern *pattern, const char *name);
void merge_close_source(struct merge_source *source);
int merge_order_tasks(struct merge *m);

/* merge_nodes.c */
int merge_part(struct merge *m);

/* merge_names.c */
int merge_learn_names(struct merge *m);
int merge_rename(struct merge *m);
int merge_found(struct merge *m);

/* merge_groups.c */
int merge_groups(struct merge *m);

/* merge_files.c */
int merge_check_files(struct merge *m);

#endif
