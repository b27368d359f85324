/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * actors.h - the process, rank, node and user of each task of a trace.
 */
#ifndef IOTAPE_ACTORS_H
#define IOTAPE_ACTORS_H

#include <stdbool.h>
#include <uthash.h>

#include "lib/iotape.h"

#define ACTOR_UNKNOWN (~0u)

/**
 * struct actor - the task of an operation
 * @task: its id
 * @pid, @tgid: thread id and process id; 0 if not known, as in a replay
 * @uid: effective user id at its start; ACTOR_UNKNOWN if not known
 * @node: index of a node of struct actors, or ACTOR_UNKNOWN
 * @rank: in MPI_COMM_WORLD, or ACTOR_UNKNOWN
 * @command: "" if not known
 */
struct actor {
	UT_hash_handle hh;
	u32 task;
	u32 pid;
	u32 tgid;
	u32 uid;
	u32 node;
	u32 rank;
	char command[65];
};

/* Tasks of a node. */
struct actor_range {
	u32 first;
	u32 last;
	u32 node;
};

/**
 * struct actors - the tasks of a trace
 * @tasks: by id
 * @nodes: names of the nodes
 * @origin_ns: monotonic clock at the start of the trace
 * @is_imported: the trace is an imported log: only the first operation of a system call has a duration
 * @has_ranks: some task is of a rank
 * @is_by_command: operations were counted, and a task stands for all with its command
 */
struct actors {
	struct actor *tasks;
	char **nodes;
	u32 node_count;
	struct actor_range *ranges;
	u32 range_count;
	u64 origin_ns;
	bool is_imported;
	bool has_ranks;
	bool is_by_command;
};

int actors_read(const char *path, struct actors *actors, struct iot_reject *reject);
void actors_free(struct actors *actors);
const struct actor *actors_find(const struct actors *actors, u32 task);
u64 actor_process(const struct actor *actor);
const char *actors_node_name(const struct actors *actors, const struct actor *actor);
void actors_name(const struct actors *actors, u32 task, u32 pid, char *name, size_t size_bytes);

#endif
