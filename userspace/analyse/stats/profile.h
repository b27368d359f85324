/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * profile.h - the profile of a trace: sums per operation, per file, per process.
 */
#ifndef IOTAPE_PROFILE_H
#define IOTAPE_PROFILE_H

#include <stdbool.h>

#include "histogram.h"
#include "analyse/graph/request_pairs.h"
#include "lib/iotape.h"

/**
 * struct profile_sum - operations taken together
 * @ops: their number
 * @errors: of them, those that returned an error
 * @time_ns: time in them; operations at the same time count each
 * @read_bytes, @written_bytes: moved by calls
 * @touched_bytes: of mappings, pages that became accessible
 */
struct profile_sum {
	u64 ops;
	u64 errors;
	u64 time_ns;
	u64 read_bytes;
	u64 written_bytes;
	u64 touched_bytes;
};

/**
 * struct profile_kind - operations of one kind
 * @sum: of them
 * @latency_ns: how long those took that were measured; NULL if none was
 */
struct profile_kind {
	struct profile_sum sum;
	struct histogram *latency_ns;
};

/**
 * struct profile_file - operations on objects with one path
 * @path: from the root of the mount
 * @opens: of them, those that opened it
 */
struct profile_file {
	char *path;
	u64 opens;
	struct profile_sum sum;
};

/**
 * struct profile_process - operations of one process between two execs
 * @pid: process id; 0 if it is not known, as of a replay: then it is of one task
 * @task: id of the first of its tasks
 * @command: its name
 * @threads: of it that the trace has
 * @is_rank: it made MPI calls
 */
struct profile_process {
	u32 pid;
	u32 task;
	u32 threads;
	bool is_rank;
	char command[65];
	struct profile_sum sum;
};

/**
 * struct profile_task - which process a task belongs to
 * @task: id of the task
 * @first: id of the first task of its process, as in struct profile_process
 */
struct profile_task {
	u32 task;
	u32 first;
};

#define PROFILE_DIVERGENCES_MAX 10

/**
 * struct profile_divergence - an operation of a replay that diverged from the trace
 * @path: of its object; NULL if unknown
 * @task, @op: of the program
 * @kind: of its record
 * @expected, @got: result in the trace, and in the replay
 * @other_task, @other_op: the last operation of another task on the same path before it: the program may lack
 *	the order of the two; 0 if there is none
 */
struct profile_divergence {
	char *path;
	u32 task;
	u32 op;
	u16 kind;
	s64 expected;
	s64 got;
	u32 other_task;
	u32 other_op;
};

/**
 * struct profile_node - a node of a run on several
 * @name: of a recording, of the host; of a replay, a number
 * @host: of a replay, the name of its host; "" if that is that of all nodes
 * @ranks: "0-3,6", "" if none is known
 * @tasks: that did anything
 * @diverged, @late_ns, @late_max_ns: as of all
 */
struct profile_node {
	char *name;
	char *host;
	char *ranks;
	struct profile_sum sum;
	u64 tasks;
	u64 diverged;
	u64 late_ns;
	u64 late_max_ns;
};

/**
 * struct profile - sums of a trace
 * @info: of the trace file
 * @omissions: of the trace
 * @facts: texts key=value
 * @is_imported: it was imported: logs do not show the state of the page cache, and one operation
 *	of a system call has all of its time, if the log has any
 * @is_counted: operations were counted and not recorded: percentiles are upper limits, the smallest latency is unknown
 * @is_by_command: each of @processes stands for all with its command
 * @backpressure_waits: times that a task had to wait for the collector
 * @is_mpi_only: only MPI was recorded, so the absence of file operations has no meaning
 * @begin_ns: beginning of the first operation; that of the first task, if anything was open then;
 *	without operations, that of the first MPI call
 * @end_ns: end of the last one; if operations were counted, when the counters were read, and @begin_ns is the beginning
 *	of the first task
 * @sum: of all operations
 * @mpi: of all MPI calls
 * @ranks: processes that made any
 * @kinds: by kind of record
 * @files: sorted by time, longest first
 * @processes: that did any, sorted by time, longest first
 * @tasks: all tasks, sorted by id
 * @nodes: those of a run on several, in the order of the trace
 * @opened_bytes: sizes of opened files, once for each object
 * @cached_bytes: of them, in the page cache at that moment; see profile_cached_share()
 * @opened, @mapped: descriptors and mappings from before the recording
 * @in_no_table: handles from before, known only from an operation, not from a descriptor or mapping
 * @unseen_files, @unseen_maps, @unseen_tasks: descriptors and mappings that bypassed the mounts at
 *	the beginning of the recording, and processes that had them
 * @diverged: operations of a replay that diverged from the trace, except those in @unable
 * @divergences: the first of these
 * @divergence_count: number of stored divergences
 * @unable: operations that the target does not support
 * @emulated: unsupported operations that were replaced by others
 * @harmless: operations of a replay that created an object without the rights that it would grant
 * @order_ns: of a replay, time in which tasks waited for others, added up
 * @late_ns: of a replay, how late think times ended, added up
 * @late_max_ns: the largest of it
 * @stalls: of a replay, times that the program was not read in time
 */
struct profile {
	struct iot_trace_info info;
	struct iot_omissions omissions;
	char **facts;
	u32 fact_count;
	bool is_imported;
	bool is_counted;
	bool is_by_command;
	u64 backpressure_waits;
	bool is_mpi_only;
	u64 begin_ns;
	u64 end_ns;
	struct profile_sum sum;
	struct profile_sum mpi;
	u32 ranks;
	struct profile_kind kinds[IOT_KIND_END];
	struct profile_file *files;
	u32 file_count;
	struct profile_process *processes;
	u32 process_count;
	struct profile_task *tasks;
	u32 task_count;
	struct profile_node *nodes;
	u32 node_count;
	u64 opened_bytes;
	u64 cached_bytes;
	u64 opened;
	u64 mapped;
	u64 in_no_table;
	u64 unseen_files;
	u64 unseen_maps;
	u64 unseen_tasks;
	u64 diverged;
	struct profile_divergence divergences[PROFILE_DIVERGENCES_MAX];
	u32 divergence_count;
	u64 unable;
	u64 emulated;
	u64 harmless;
	u64 order_ns;
	u64 late_ns;
	u64 late_max_ns;
	u64 stalls;
};

void profile_count_counted(struct profile_sum *sum, const struct iot_rec_counted *r);
int profile_count_latencies(struct histogram **latency_ns, const struct iot_record *r);
void profile_count(struct profile_sum *sum, const struct iot_record *record);
void profile_count_request(struct profile_sum *sum, const struct request_pair *pair);
int profile_read(const char *path, struct profile **profile, struct iot_reject *reject);
void profile_free(struct profile *profile);
const char *profile_fact(const struct profile *profile, const char *key);
double profile_seconds(const struct profile *profile);
double profile_bandwidth(const struct profile *profile, u64 bytes);
double profile_cached_share(const struct profile *profile);

#endif
