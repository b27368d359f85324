/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compile.h - from a trace to a replay program.
 */
#ifndef IOTAPE_COMPILE_H
#define IOTAPE_COMPILE_H

#include "analyse/passes/analysis.h"
#include "analyse/stats/times.h"
#include "competition.h"
#include "lib/iotape.h"

#define COMPILE_NOTES_MAX 8

/* How a snapshot and a trace can contradict each other: enum compile_contradiction. */
#define COMPILE_CONTRADICTIONS(C)                                             \
	C(not_in_snapshot, "not in the snapshot")                             \
	C(not_in_trace, "in the snapshot, but not at the start of the trace") \
	C(kind, "of another kind in the snapshot")                            \
	C(size, "of another size in the snapshot")                            \
	C(attributes, "has another mode or owner in the snapshot")            \
	C(target, "has another target in the snapshot")                       \
	C(device, "is another device in the snapshot")                        \
	C(links, "is a name of another file in the snapshot")

enum compile_contradiction {
#define COMPILE_CONTRADICTION(name, sentence) COMPILE_##name,
	COMPILE_CONTRADICTIONS(COMPILE_CONTRADICTION)
#undef COMPILE_CONTRADICTION
};

/* What tasks do for the time that the traced ones spent on a CPU. */
enum compile_think {
	COMPILE_THINK_AUTO, /* COMPILE_THINK_CPU if the traced tasks waited for CPUs */
	COMPILE_THINK_SLEEP,
	COMPILE_THINK_CPU,
};

/**
 * struct compile_summary - the result of a compilation
 * @operations: operations of the trace
 * @ops: operations of the program, those included that only wait or are waited for
 * @edges, @pruned: by cause, before pruning and removed by it
 * @lengths: of those that are left, by cause
 * @dropped: records that could not be expressed, by kind
 * @dropped_bytes: that they moved
 * @omissions: of the program: those of the trace, and records that could not be expressed
 * @backpressure_waits, @backpressure_ns: waits for the collector, which are not think time
 * @delays, @delays_ns: delays by the recorder, which are not think time
 * @freed, @freed_ns: as in struct graph: not think time either
 * @recorder_ns: costs of recording between operations, which are not think time
 * @recorder_cut: times between operations that were shorter than these costs
 * @competition: of all tasks for CPUs
 * @computes: tasks use a CPU for the time that the traced ones computed, and waits for CPUs are not part of the program
 * @asleep_ns: think time that tasks slept, for an unknown reason, while others were in operations
 * @has_wakes: all wake-ups were recorded, so that they explain waits for other tasks
 * @unexplained: results of operations that overlapped others, and that no order of these explains
 * @entries: of the initial tree
 * @guessed: of them, those of which only name and type are known
 * @completed: of them, those with information from the snapshot
 * @contradictions: between trace and snapshot; of the first ones paths and kinds
 * @mount: the directory that was traced, if there is a snapshot
 * @lost: records that the trace lost
 * @is_complete: the trace was finished
 * @times: the time of each process of the trace, by part
 * @time_count: their number
 */
struct compile_summary {
	u64 operations;
	u64 ops;
	u64 waits;
	u32 tasks;
	u32 queues;
	u32 latches;
	u32 handles;
	u32 maps;
	u64 edges[EDGE_CAUSE_COUNT];
	u64 pruned[EDGE_CAUSE_COUNT];
	struct edge_lengths lengths[EDGE_CAUSE_COUNT];
	u64 dropped[IOT_KIND_END];
	u64 dropped_bytes;
	struct iot_omissions omissions;
	u64 backpressure_waits;
	u64 backpressure_ns;
	u64 delays;
	u64 delays_ns;
	u64 freed;
	u64 freed_ns;
	u64 recorder_ns;
	u64 recorder_cut;
	struct competition competition;
	bool computes;
	u64 asleep_ns;
	bool has_wakes;
	u64 unexplained;
	u64 mpi_unmatched;
	u64 mpi_ambiguous;
	u64 mpi_contradicted;
	u64 mpi_unknown;
	struct graph_note mpi_notes[GRAPH_NOTES_MAX];
	u32 mpi_note_count;
	u64 entries;
	u64 guessed;
	u64 completed;
	u64 contradictions;
	char contradiction_paths[COMPILE_NOTES_MAX][IOT_PROGRAM_PATH_MAX];
	enum compile_contradiction contradiction_kinds[COMPILE_NOTES_MAX];
	char mount[IOT_PROGRAM_PATH_MAX];
	u64 lost;
	bool is_complete;
	char partial[128]; /* which part of a job the trace lacks, "" if none */
	struct process_times *times;
	u32 time_count;
};

/**
 * struct compile_options - options of a compilation
 * @trace: file of the trace
 * @program: file to write
 * @order: the user's name of the rules, NULL for the default
 * @rules: bits of enum order_rule: which order to keep; ORDER_DEFAULT
 * @without: bits of enum edge_cause: leave out edges of these causes
 * @think: what tasks do for the time that the traced ones spent on a CPU
 * @fan_in_min: so many operations that many wait for signal a latch, 0 for the default
 * @snapshot: completes the initial state, NULL if there is none; verified
 * @takes_all: include parts of the snapshot that the trace did not use
 * @is_uncompressed: do not compress the program
 * @progress: called now and then, may be NULL
 */
struct compile_options {
	const char *trace;
	const char *program;
	const char *order;
	u32 rules;
	u32 without;
	enum compile_think think;
	u32 fan_in_min;
	const struct iot_program *snapshot;
	bool takes_all;
	bool is_uncompressed;
	load_progress_fn progress;
};

int compile_analysis(const struct analysis *analysis, const struct compile_options *options,
		     struct compile_summary *summary, struct iot_reject *reject);
int compile_trace(const struct compile_options *options, struct compile_summary *summary,
		  struct iot_reject *reject);
void compile_summary_free(struct compile_summary *summary);

#endif
