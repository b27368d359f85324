/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - one run of the program, as its trace has it: private to this directory.
 */
#ifndef IOTAPE_DISCOVER_RUN_H
#define IOTAPE_DISCOVER_RUN_H

#include "lib/iotape.h"
#include "paths.h"

#define RUN_NONE 0xffffffffu

/**
 * struct place - an operation that each run has
 * @enter_ns, @end_ns: when
 * @runtime_ns, @oncpu_ns: as in its record
 * @op: number in its task
 * @kind: of its record
 * @path: of its object, "" if it has none; of the table of the run
 */
struct place {
	u64 enter_ns;
	u64 end_ns;
	u64 runtime_ns;
	u64 oncpu_ns;
	u32 op;
	u32 kind;
	const char *path;
};

/* A delay of a task. */
struct delay {
	u64 begin_ns;
	u64 end_ns;
	u32 task;
	u32 op;
	u32 ending;
};

/* A node of the job, and the ids of its tasks. */
struct run_node {
	char name[65];
	u32 first;
	u32 last;
};

/**
 * struct run_task - a task of a run
 * @id, @parent, @why: as in its record
 * @nth: number among the tasks that its parent created, from 1
 * @twin: index of the same task in the run without delays, RUN_NONE if there is none
 * @begin_ns: when it was first seen
 * @node: index of its node; 0, too, if there is one only
 */
struct run_task {
	u32 id;
	u32 parent;
	u32 why;
	u32 nth;
	u32 twin;
	u64 begin_ns;
	u32 node;
	char command[64];
	struct place *places;
	u32 count;
	u32 room;
};

/**
 * struct run - a run
 * @path: of its trace
 * @paths: of its places, not owned
 * @tasks: in the order of their ids
 * @last: index of the task of the last record, while the trace is read
 * @delays: in the order of their ends
 * @nodes: if there are several
 */
struct run {
	char *path;
	struct run_paths *paths;
	struct run_task *tasks;
	u32 task_count;
	u32 task_room;
	u32 last;
	struct delay *delays;
	u32 delay_count;
	u32 delay_room;
	struct run_node *nodes;
	u32 node_count;
	u32 node_room;
	u64 begin_ns;
	u64 end_ns;
};

int run_load(struct run *run, const char *path, struct run_paths *paths, struct iot_reject *reject);
void run_free(struct run *run);
u32 run_task_find(const struct run *run, u32 id);
u64 run_margin_ns(const struct run *run, u32 task, u32 other);
u32 run_place_until(const struct run_task *task, u32 op);
int run_match(struct run *run, const struct run *base, char *why, size_t room);

#endif
