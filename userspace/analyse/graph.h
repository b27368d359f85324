/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * graph.h - a trace as a graph: tasks, their operations in order, and edges between them.
 *
 * Made by load.c from a trace; the passes add to it, one file each:
 *
 *	life.c		a task begins when it was made, a parent goes on when a child ended
 *	mpi.c		messages and collectives
 *	resources.c	names, files, handles, mappings: what must not change its order
 *	think.c		time between operations, compute and pause
 *	prune.c		edges that follow from others go
 *
 * An edge says that an operation must have ended before another one starts; its two
 * operations did not overlap in the trace, but for the two halves of MPI calls, whose
 * order MPI itself guarantees.
 */
#ifndef IOTAPE_GRAPH_H
#define IOTAPE_GRAPH_H

#include "lib/iotape.h"

#define GRAPH_NONE 0xffffffffu

/* Why an edge is there. C(name, sentence) */
#define EDGE_CAUSES(C)                                                        \
	C(life, "fork, exec and exit")                                        \
	C(mpi, "messages and collectives")                                    \
	C(name, "a name means the same object as in the trace")               \
	C(entries, "a directory has the same entries as in the trace")        \
	C(size, "a file has the same size as in the trace")                   \
	C(handle, "a handle or mapping is used while it exists, in the same state")

enum edge_cause {
#define EDGE_CAUSE_VALUE(name, sentence) EDGE_##name,
	EDGE_CAUSES(EDGE_CAUSE_VALUE)
#undef EDGE_CAUSE_VALUE
	EDGE_CAUSE_COUNT
};

extern const char *const edge_cause_names[EDGE_CAUSE_COUNT];

/**
 * struct graph_edge - a wait: the operation that has it in its list waits for another
 * @task: index of the other's task; GRAPH_NONE: wait for hub @index
 * @index: of the other in its task
 * @cause: why
 * @next: the next wait of the same operation, GRAPH_NONE if none
 */
struct graph_edge {
	u32 task;
	u32 index;
	u32 cause;
	u32 next;
};

/* What a leave waits for, if not for a message. */
enum graph_leave {
	LEAVE_MPI,
	LEAVE_MADE,  /* the fork or exec that made its task */
	LEAVE_ENDED, /* the end of a task that its task made */
};

/**
 * struct graph_op - an operation, or half of an MPI call, or an event of a task's life
 * @kind: of its record, or an enum iot_play
 * @number: of the operation in the trace's task, 0 if there is none
 * @path, @path2: paths or texts it uses, NULL if none; live as long as the graph
 * @object, @handle, @other: ids of the trace; @other is a second handle, or a mapping
 * @edges: first of its waits, GRAPH_NONE if none
 * @event: of halves of MPI calls, the call in graph.mpi; of fork and exec, the new task's
 *	id; of a leave that waits for the end of a task, that task's id
 * @flags: of a leave that belongs to no MPI call, an enum graph_leave
 */
struct graph_op {
	u64 enter_ns;
	u64 end_ns;
	u64 runtime_ns;
	u64 oncpu_ns;
	u64 compute_ns;
	u64 pause_ns;
	const char *path;
	const char *path2;
	u64 object;
	u64 handle;
	u64 other;
	u64 offset_bytes;
	u64 length_bytes;
	u64 extra;
	u64 old_size_bytes;
	s64 result;
	u32 flags;
	u32 mode;
	u32 uid;
	u32 gid;
	u32 number;
	u32 edges;
	u32 event;
	u16 kind;
};

/**
 * struct graph_task - a task of the trace
 * @id: in the trace
 * @tgid: its process
 * @parent: id of the task that made it, or that it was before exec; 0 if not known
 * @why: an enum iot_reason
 * @begin_ns: when it was first seen
 * @exec_into: id of the task that it became by exec, 0 if none
 * @space: number of its address space
 * @has_maps: it does something to mappings
 * @has_io: it, or a task made by it, does something to files
 */
struct graph_task {
	u32 id;
	u32 tgid;
	u32 parent;
	u32 why;
	u64 begin_ns;
	u32 exec_into;
	u32 space;
	bool has_io;
	bool has_maps;
	char *command;
	struct graph_op *ops;
	u32 op_count;
	u32 op_room;
};

/**
 * struct graph_mpi - one MPI call of one task
 * @kind: of its record
 * @task: index of its task
 * @arrive, @leave: indices of its halves, GRAPH_NONE if it has none
 */
struct graph_mpi {
	u16 kind;
	u32 call;
	u32 task;
	u32 arrive;
	u32 leave;
	u64 enter_ns;
	u64 end_ns;
	u64 comm;
	s32 peer;
	s32 tag;
	u64 length_bytes;
	u64 request;
	u32 number;
	s32 root;
};

/* An MPI call that was not matched, or not without doubt: where it is, and why. */
struct graph_note {
	u32 task;
	u32 op;
	const char *reason;
};

#define GRAPH_NOTES_MAX 8

/* A rank of a communicator of `size` ranks: who it is. */
struct graph_rank {
	u64 comm;
	u32 rank;
	u32 size;
	u32 tgid;
};

/* An object of the trace, and the path under which it was seen first. */
struct graph_object;

/**
 * struct graph - all of it
 * @tasks: in the order they were seen
 * @edges: all edges, in lists by operation
 * @hubs: number of arrivals of each hub
 * @dropped: records that could not be expressed, by kind
 * @mpi_unmatched: MPI calls whose partner was not found
 * @mpi_ambiguous: MPI calls whose partner may be another one
 * @mpi_notes: the first of both
 * @facts: of the trace, as key=value
 * @read_bytes, @write_bytes: moved by reads and writes
 */
struct graph {
	struct graph_task *tasks;
	u32 task_count;
	u32 task_room;
	struct graph_edge *edges;
	u32 edge_count;
	u32 edge_room;
	u32 *hubs;
	u32 hub_count;
	u32 hub_room;
	struct graph_mpi *mpi;
	u32 mpi_count;
	u32 mpi_room;
	struct graph_rank *ranks;
	u32 rank_count;
	u32 rank_room;
	u32 space_count;
	struct task_slot *task_slots;
	struct text *texts;
	struct graph_object *objects;
	u32 causes_left_out; /* bits of enum edge_cause: no edges of these are made */
	u64 edges_by_cause[EDGE_CAUSE_COUNT];
	u64 pruned_by_cause[EDGE_CAUSE_COUNT];
	u64 dropped[IOT_KIND_END];
	u64 mpi_unmatched;
	u64 mpi_ambiguous;
	struct graph_note mpi_notes[GRAPH_NOTES_MAX];
	u32 mpi_note_count;
	char **facts;
	u32 fact_count;
	u32 fact_room;
	u64 read_bytes;
	u64 write_bytes;
	struct iot_trace_info info;
	u64 begin_ns;
	u64 end_ns;
	u64 operations;
};

int graph_open(struct graph **graph);
void graph_close(struct graph *graph);

u32 graph_task_find(const struct graph *graph, u32 id);
int graph_task_make(struct graph *graph, u32 id, u32 *index);
struct graph_op *graph_op_add(struct graph *graph, u32 task);
int graph_edge_add(struct graph *graph, u32 task, u32 index, struct graph_op *to,
		   enum edge_cause cause);
int graph_hub_add(struct graph *graph, u32 arrivals, u32 *hub);
struct graph_mpi *graph_mpi_add(struct graph *graph);
int graph_rank_add(struct graph *graph, const struct graph_rank *rank);
int graph_fact_add(struct graph *graph, const void *bytes, size_t count);
int graph_object_add(struct graph *graph, u64 id, u32 type, const char *path);
u32 graph_object_type(const struct graph *graph, u64 id, const char **path);
const char *graph_text(struct graph *graph, const char *text);
void graph_sort(struct graph *graph);

/* The passes, in the order in which they run. */
int graph_pass_life(struct graph *graph);
int graph_pass_mpi(struct graph *graph);
int graph_pass_resources(struct graph *graph);
int graph_pass_think(struct graph *graph);
int graph_pass_prune(struct graph *graph);

#endif
