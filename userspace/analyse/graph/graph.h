/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * graph.h - a trace as a graph: tasks, their operations in order, and edges between them.
 *
 * graph_load.c and load_fields.c make it from a trace; the passes of analyse/passes/passes.c add to it.
 *
 * An edge states that an operation must have ended before another one starts. The
 * two operations did not overlap in the trace, except for the two halves of MPI calls, an order shown by results, and
 * --order=single. The record of a fork follows the start of its child.
 */
#ifndef IOTAPE_GRAPH_H
#define IOTAPE_GRAPH_H

#include "lib/iotape.h"
#include "rules.h"

#define GRAPH_NONE 0xffffffffu

/* Why an edge is there. C(name, as it is written, sentence) */
#define EDGE_CAUSES(C)                                                                           \
	C(life, "life", "fork, exec and exit")                                                   \
	C(mpi, "mpi", "messages and collectives")                                                \
	C(wake, "wake", "a task that was woken continues after the operations that preceded the wake-up") \
	C(discovered, "discovered", "a task waits for an operation of another one, as delays in other runs showed") \
	C(request, "request", "no more asynchronous requests are under way than in the trace")   \
	C(name, "name", "a name means the same object as in the trace")                          \
	C(entries, "entries", "a directory has the same entries as in the trace")                \
	C(size, "size", "a file has the same size as in the trace")                              \
	C(data, "data", "a read returns the data written last")                                  \
	C(handle, "handle", "a handle or mapping is used while it exists, in the same state")    \
	C(attr, "attr", "an object has the same attributes as in the trace")                     \
	C(lock, "lock", "a file lock is free, or taken, as in the trace")                        \
	C(program_seq, "program_seq", "all operations run one at a time")                        \
	C(temporal, "temporal", "operations start in the order of the trace")                    \
	C(file_seq, "file_seq", "operations on a file or directory run one at a time")           \
	C(path_stage, "path_stage+", "a name is used after its creation and before its removal") \
	C(fd_stage, "fd_stage", "a handle is used between open and close")                       \
	C(fd_seq, "fd_seq", "operations on a handle run one at a time")

enum edge_cause {
#define EDGE_CAUSE_VALUE(name, text, sentence) EDGE_##name,
	EDGE_CAUSES(EDGE_CAUSE_VALUE)
#undef EDGE_CAUSE_VALUE
	EDGE_CAUSE_COUNT
};

extern const char *const edge_cause_names[EDGE_CAUSE_COUNT];

/**
 * struct edge_lengths - time from the end of an operation to the start of one that waits for it
 * @min_ns, @median_ns, @max_ns: in the trace, over the edges of one cause that are left; 0 if
 *	there are none, or the two overlapped
 */
struct edge_lengths {
	u64 min_ns;
	u64 median_ns;
	u64 max_ns;
};

/**
 * struct graph_edge - a wait: the operation that has it in its list waits for another
 * @task: index of the other's task; GRAPH_NONE: wait for latch @index
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

/* Kinds of nops that no record stands for. */
enum graph_nop {
	NOP_START = 1, /* the next operation of the task starts now: its waits are here */
	NOP_WAKE = 2,  /* the task wakes another one: graph.wakes has it */
};

/* The object of a `wait` other than a message. */
enum graph_wait_cause {
	WAIT_MPI,
	WAIT_MADE,  /* the fork or exec that made its task */
	WAIT_ENDED, /* the end of a task that its task made */
	WAIT_DONE,  /* the end of a request that its task submitted */
	WAIT_WOKEN, /* operations of another task before it woke this one */
	WAIT_TIMED, /* nothing: a timer ended it; a wake-up could have ended it earlier */
};

/**
 * struct graph_op - an operation, or half of an MPI call, or an event of a task's life
 * @kind: of its record, or an enum iot_play
 * @number: of the operation in the trace's task, 0 if there is none
 * @recorder_ns: part of the time before it that is not think time, but a cost of recording: see costs.h
 * @cpu_wait_ns: part of @pause_ns in which the task waited for a CPU
 * @path, @path2: paths or texts it uses, NULL if none; live as long as the graph;
 *	behind the name that a setxattr has, and its zero byte, is the value if @has_value is 1
 * @object, @handle, @other: ids of the trace; @other is a second handle or a request, or a
 *	number of the graph: a mapping, or a piece of one (live.h)
 * @file, @file2: numbers of its files, from 1, 0 if none; the second is the file that a rename replaced or that a copy
 *	wrote to
 * @dir, @dir2: directories that @path and @path2 are in, numbered like files; 0 if not known
 * @edges: first of its waits, GRAPH_NONE if none
 * @event: of halves of MPI calls, the call in graph.mpi; of fork and exec, the new task's
 *	id; of a wait for the end of a task, that task's id, of one for the
 *	end of a request, its place in graph.requests; of the two ends of a wake-up, and of a wait that a timer
 *	ended, a place in graph.wakes; of a submit, its request queue, GRAPH_NONE if none
 * @delay_ns: of a wait out of which the task was woken: how long it had waited for a CPU since its last operation, before
 *	it slept; 0 if not known
 * @flags: of a wait that belongs to no MPI call, an enum graph_wait_cause; of a nop that the
 *	trace does not have, an enum graph_nop
 * @found: of a lock, type of the conflicting lock
 * @call: of a wait out of which a task or a timer woke this one, 1 more than the number of its system call; 0 if not known
 * @memory: of a submit, until queues.c has seen it, a number of the memory that it uses; 0 if not known
 *
 * The members that are not explained here are the operands of iotape/program_ops.h.
 */
struct graph_op {
	u64 enter_ns;
	u64 end_ns;
	u64 runtime_ns;
	u64 oncpu_ns;
	u64 compute_ns;
	u64 pause_ns;
	u64 cpu_wait_ns;
	u64 recorder_ns;
	const char *path;
	union {
		const char *path2;
		const char *new_path;
		const char *target;
		const char *xattr;
	};
	u64 object;
	union {
		u64 handle;
		u64 latch;
	};
	union {
		u64 other;
		u64 to_handle;
		u64 map;
	};
	union {
		u64 offset_bytes;
		u64 atime_ns;
		u64 delay_ns;
	};
	union {
		u64 length_bytes;
		u64 size_bytes;
		u64 extsize_bytes;
	};
	union {
		u64 extra;
		u64 end_bytes;
		u64 to_offset_bytes;
		u64 mtime_ns;
		u64 rdev;
		u64 has_value;
		u64 cowextsize_bytes;
	};
	u64 old_size_bytes;
	s64 result;
	union {
		u32 flags;
		u32 intents;
		u32 attrs;
		u32 wanted;
		u32 whence;
		u32 entries;
		u32 advice;
		u32 request;
	};
	union {
		u32 mode;
		u32 prot;
		u32 has_numbers;
		u32 faults;
		u32 found;
		u32 call;
		u32 memory;
	};
	union {
		u32 uid;
		u32 project;
	};
	u32 gid;
	u32 number;
	u32 edges;
	u32 event;
	u32 file;
	u32 file2;
	u32 dir;
	u32 dir2;
	u16 kind;
};

/* A task waited for the collector, was delayed, or freed the space of a removed file: it did not think. */
struct graph_backpressure {
	u64 begin_ns;
	u64 end_ns;
};

/**
 * struct graph_task - a task of the trace
 * @id: in the trace
 * @tgid: its process
 * @parent: id of the task that made it, or that it was before exec; 0 if not known
 * @why: an enum iot_reason
 * @begin_ns: when it was first seen, or made after that
 * @ran_ns: CPU time of its thread then, if it began by exec; 0 if not known
 * @uid, @gid: its effective user and group then, IOT_ID_UNKNOWN if they are not known
 * @exec_into: id of the task that it became by exec, 0 if none
 * @has_exited: its exit has been read
 * @space: number of its address space
 * @has_maps: it does something to mappings
 * @has_locks: it takes locks that its process owns
 * @queue_of: index of the task that it is a request queue of, GRAPH_NONE if it is not a request queue
 * @first_queue, @queue_count: its request queues, which follow each other
 * @has_io: it, or a task made by it, does something to files
 * @backpressure_waits: in the order of their ends
 * @cpu_wait_ns: during loading, for how long it has waited for a CPU since its last operation
 */
struct graph_task {
	u32 id;
	u32 tgid;
	u32 parent;
	u32 why;
	u64 begin_ns;
	u64 ran_ns;
	u32 uid;
	u32 gid;
	u32 exec_into;
	u32 space;
	bool has_exited;
	bool has_io;
	bool has_maps;
	bool has_locks;
	u32 queue_of;
	u32 first_queue;
	u32 queue_count;
	char *command;
	struct graph_op *ops;
	u32 op_count;
	u32 op_room;
	struct graph_backpressure *backpressure_waits;
	u32 backpressure_count;
	u32 backpressure_room;
	u64 cpu_wait_ns;
};

/**
 * struct graph_mpi - one MPI call of one task
 * @kind: of its record
 * @task: index of its task
 * @signal, @wait: indices of its halves, GRAPH_NONE if it has none
 * @result: 0, or a negative errno
 * @sources: of a collective, an enum iot_sources
 * @list, @list_bytes: the tail of its record, if that is a list of ranks; lives as long as the graph
 */
struct graph_mpi {
	u16 kind;
	u32 call;
	u32 task;
	u32 signal;
	u32 wait;
	u64 enter_ns;
	u64 end_ns;
	u64 comm;
	s32 peer;
	s32 tag;
	u64 length_bytes;
	u64 offset_bytes;
	u64 request;
	u32 number;
	s32 root;
	s32 result;
	u32 sources;
	u32 list_bytes;
	const char *list;
};

/**
 * struct graph_request - an asynchronous request that has ended
 * @id: in the trace
 * @queue, @index: its operation `complete`; @queue is GRAPH_NONE if it has none
 */
struct graph_request {
	u64 id;
	u64 end_ns;
	s64 result;
	u32 queue;
	u32 index;
};

/**
 * struct graph_wake - a task woke another one that had waited, or delays showed that it waits
 * @cause: an enum edge_cause
 * @task, @woken: indices of the two
 * @nop, @wait: indices of the operations that stand for it, GRAPH_NONE if it is to order nothing
 */
struct graph_wake {
	u32 cause;
	u32 task;
	u32 woken;
	u32 nop;
	u32 wait;
};

/* An operation that signals a latch at its end; many operations wait for the latch. */
struct graph_signal {
	u32 task;
	u32 index;
	u32 latch;
};

#define GRAPH_FAN_IN_MIN 64 /* fewer are waited for one by one */

/* An MPI call without a match, or with a doubtful one. */
struct graph_note {
	u32 task;
	u32 op;
	const char *reason;
};

#define GRAPH_NOTES_MAX 8

/**
 * struct graph_rank - the identity of a rank in a communicator of @size ranks
 * @world_rank: in its MPI_COMM_WORLD; from graph_worlds_number() on, among all ranks of all worlds
 * @world, @origin: keys, see mpi_comm in schema.h
 * @first: of two groups, ranks of the first; 0 if it has one group
 */
struct graph_rank {
	u64 comm;
	u32 rank;
	u32 size;
	u32 tgid;
	u32 world_rank;
	u64 world;
	u64 origin;
	bool is_numbered;
	u32 first;
};

/**
 * struct graph_link - one side of a communicator between two worlds, see mpi_link in schema.h
 * @how: an enum iot_call
 * @enter_ns, @end_ns: when the first of its ranks entered, and the last one left
 * @name: used by both sides, NULL if unknown
 * @partner: index of the other side, GRAPH_NONE if it was not found
 * @is_doubtful: another one could be the partner, too
 * @call: in graph.mpi, of one of its ranks
 */
struct graph_link {
	u64 comm;
	u64 world;
	u32 how;
	bool is_first;
	bool is_doubtful;
	u32 ranks;
	u32 peers;
	u64 enter_ns;
	u64 end_ns;
	char *name;
	u32 partner;
	u32 call;
};

/* In collectives of neighbours, `rank` of a communicator receives from `source`. */
struct graph_near {
	u64 comm;
	u32 rank;
	u32 source;
};

/* An object of the trace, and the path under which it was seen first. */
struct graph_object;

/**
 * struct graph - all of it
 * @spill: for the operations of tasks and edges; NULL: they are in memory
 * @tasks: in the order they were seen
 * @edges: all edges, in lists by operation
 * @latches: number of signals of each latch
 * @signals: to latches that are not collectives, see fan_in.c
 * @fan_in_min: operations that are waited for one by one if they are fewer, GRAPH_FAN_IN_MIN
 * @omissions: of the trace
 * @dropped: records that could not be expressed, by kind
 * @dropped_bytes: that they moved
 * @backpressure_waits, @backpressure_ns: waits for the collector, of all tasks
 * @delays, @delays_ns: delays of all tasks, see the record `delayed`
 * @freed, @freed_ns: removed files whose space was freed after the operation, and the time that this took
 * @recorder_ns: costs of recording between operations, not part of think time
 * @recorder_cut: gaps that were shorter than these costs should be
 * @asleep_ns: sleep for an unknown reason while others were in operations, of all tasks
 * @unexplained: results that no order of operations that overlapped explains
 * @mpi_unmatched: MPI calls whose partner was not found
 * @mpi_ambiguous: MPI calls whose partner may be another one
 * @mpi_contradicted: MPI calls that ended before the calls that they wait for
 * @mpi_unknown: collective calls that ended before others came, and of which the trace does not say
 *	whose data they brought
 * @mpi_notes: the first of those but the last
 * @facts: of the trace, as key=value
 * @read_bytes, @write_bytes: moved by reads and writes
 * @has_fileattrs: flags of files are set, which may forbid changes
 * @rules: bits of enum order_rule: which edges are made
 * @causes_left_out: bits of enum edge_cause: no edges of these are made
 * @edges_by_cause: edges that were made
 * @pruned_by_cause: of them, those that followed from others
 * @lengths: of those that are left
 */
struct graph {
	struct spill *spill;
	struct graph_task *tasks;
	u32 task_count;
	u32 task_room;
	struct graph_edge *edges;
	u32 edge_count;
	u32 edge_room;
	u32 *latches;
	u32 latch_count;
	u32 latch_room;
	struct graph_signal *signals;
	u32 signal_count;
	u32 signal_room;
	u32 fan_in_min;
	struct graph_link *links;
	u32 link_count;
	struct graph_mpi *mpi;
	u32 mpi_count;
	u32 mpi_room;
	struct graph_request *requests;
	u32 request_count;
	u32 request_room;
	struct graph_wake *wakes;
	u32 wake_count;
	u32 wake_room;
	u32 timeout_count;
	struct graph_rank *ranks;
	u32 rank_count;
	u32 rank_room;
	struct graph_near *near;
	u32 near_count;
	u32 near_room;
	u32 space_count;
	struct task_slot *task_slots;
	struct text *texts;
	struct graph_object *objects;
	u32 file_count;
	u32 rules;
	u32 causes_left_out;
	u64 edges_by_cause[EDGE_CAUSE_COUNT];
	u64 pruned_by_cause[EDGE_CAUSE_COUNT];
	struct edge_lengths lengths[EDGE_CAUSE_COUNT];
	struct iot_omissions omissions;
	u64 dropped[IOT_KIND_END];
	u64 dropped_bytes;
	u64 backpressure_waits;
	u64 backpressure_ns;
	u64 delays;
	u64 delays_ns;
	u64 freed;
	u64 freed_ns;
	u64 recorder_ns;
	u64 recorder_cut;
	u64 asleep_ns;
	u64 unexplained;
	u64 mpi_unmatched;
	u64 mpi_ambiguous;
	u64 mpi_contradicted;
	u64 mpi_unknown;
	struct graph_note mpi_notes[GRAPH_NOTES_MAX];
	u32 mpi_note_count;
	char **facts;
	u32 fact_count;
	u32 fact_room;
	u64 read_bytes;
	u64 write_bytes;
	bool has_fileattrs;
	struct iot_trace_info info;
	u64 begin_ns;
	u64 end_ns;
	u64 operations;
};

/**
 * struct graph_mpi_part - a call that belongs to a message or to a collective
 * @rank: in the communicator of a collective
 * @call, @ended: indices in graph.mpi of the call, and of the one where it was complete, or GRAPH_NONE
 * @is_doubtful: of a message: it may be part of another one
 */
struct graph_mpi_part {
	u32 rank;
	u32 call;
	u32 ended;
	bool is_doubtful;
};

/**
 * struct graph_mpi_listener - receives the matches of MPI calls; functions may be NULL
 * @has_many_clocks: times of different tasks cannot be compared
 * @message: a send, and the receive of its message
 * @probe: a send, and a probe that saw its message
 * @collective: all known parts of one collective, in the order of ranks
 * @waits: parts of one collective: each of @to ended after each of @from was entered, whatever
 *	clocks say; a part may be among both, and means nothing to itself
 */
struct graph_mpi_listener {
	void *context;
	bool has_many_clocks;
	int (*message)(void *context, const struct graph_mpi_part *send,
		       const struct graph_mpi_part *receive);
	int (*probe)(void *context, const struct graph_mpi_part *send, const struct graph_mpi_part *probe);
	int (*collective)(void *context, const struct graph_mpi_part *parts, u32 count);
	int (*waits)(void *context, const struct graph_mpi_part *from, u32 from_count,
		     const struct graph_mpi_part *to, u32 to_count);
};

int graph_open(struct graph **graph);
int graph_spill(struct graph *graph, const char *beside);
void graph_close(struct graph *graph);

u32 graph_task_find(const struct graph *graph, u32 id);
int graph_task_make(struct graph *graph, u32 id, u32 *index);
int graph_queue_make(struct graph *graph, u32 task, u32 *index);
int graph_request_add(struct graph *graph, const struct graph_request *request);
struct graph_op *graph_op_add(struct graph *graph, u32 task);
int graph_ops_resize(struct graph *graph, struct graph_task *t, u32 room);
void graph_ops_drop(struct graph *graph, struct graph_task *t);
int graph_edge_add(struct graph *graph, u32 task, u32 index, struct graph_op *to,
		   enum edge_cause cause);
int graph_latch_add(struct graph *graph, u32 arrivals, u32 *latch);
int graph_signal_add(struct graph *graph, u32 task, u32 index, u32 latch);
struct graph_mpi *graph_mpi_add(struct graph *graph);
int graph_wake_add(struct graph *graph, u32 task, u32 woken, enum edge_cause cause);
int graph_backpressure_add(struct graph *graph, u32 task, u64 begin_ns, u64 end_ns);
u64 graph_backpressure_ns(const struct graph_task *t, u64 since_ns, u64 until_ns);
int graph_rank_add(struct graph *graph, const struct graph_rank *rank);
u32 graph_comm_first(const struct graph *graph, u64 comm);
int graph_near_add(struct graph *graph, const struct graph_near *near);
int graph_link_add(struct graph *graph, const struct iot_record *r, u32 call);
int graph_fact_add(struct graph *graph, const void *bytes, size_t count);
const char *graph_fact(const struct graph *graph, const char *key);
int graph_object_add(struct graph *graph, u64 id, u32 type, const char *path);
int graph_file(struct graph *graph, u64 id, u32 *number);
u64 *graph_latches_opened(const struct graph *graph);
u64 graph_op_free_ns(const struct graph *graph, const struct graph_op *op, const u64 *opened_ns);
u64 graph_edge_ends(const struct graph *graph, const struct graph_edge *edge, const u64 *opened_ns);
u32 graph_object_type(const struct graph *graph, u64 id, const char **path);
const char *graph_bytes(struct graph *graph, const void *value, size_t bytes);
const char *graph_text(struct graph *graph, const char *text);
void graph_sort(struct graph *graph);

/* One of the two operations that stand for a wake-up? */
static inline bool graph_is_wake(const struct graph_op *op)
{
	return (op->kind == IOT_PLAY_nop && op->flags == NOP_WAKE) ||
	       (op->kind == IOT_PLAY_wait && op->flags == WAIT_WOKEN);
}

/* Did a timer end this wait, and which wake-up would have ended it earlier? */
static inline bool graph_is_timed(const struct graph_op *op)
{
	return op->kind == IOT_PLAY_wait && op->flags == WAIT_TIMED;
}

/* Does it wait for the fork or exec that made its task? */
static inline bool graph_is_begin(const struct graph_op *op)
{
	return op->kind == IOT_PLAY_wait && op->flags == WAIT_MADE;
}

/* Does it do something, other than fork, exec, exit and halves of MPI calls? */
static inline bool graph_is_io(const struct graph_op *op)
{
	return op->kind < IOT_PLAY_signal && op->kind != IOT_KIND_fork &&
	       op->kind != IOT_KIND_exec && op->kind != IOT_KIND_exit;
}

/* A lock that a process owns, not an open file description? */
static inline bool graph_is_process_lock(u32 lock_flags)
{
	return !(lock_flags & (IOT_LOCK_ofd | IOT_LOCK_flock));
}

#endif
