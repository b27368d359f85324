/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compile.h - from a trace to a replay program.
 */
#ifndef IOTAPE_COMPILE_H
#define IOTAPE_COMPILE_H

#include "analyse/load.h"
#include "lib/iotape.h"

/**
 * struct compile_summary - what became of a trace
 * @operations: operations of the trace
 * @ops: operations of the program, those included that only wait or are waited for
 * @edges, @pruned: by cause, before pruning and removed by it
 * @lengths: of those that are left, by cause
 * @dropped: records that could not be expressed, by kind
 * @entries: of the initial tree
 * @guessed: of them, those of which only name and type are known
 * @lost: records that the trace lost
 * @is_complete: the trace was finished
 */
struct compile_summary {
	u64 operations;
	u64 ops;
	u64 waits;
	u32 tasks;
	u32 lanes;
	u32 hubs;
	u32 handles;
	u32 maps;
	u64 edges[EDGE_CAUSE_COUNT];
	u64 pruned[EDGE_CAUSE_COUNT];
	struct edge_lengths lengths[EDGE_CAUSE_COUNT];
	u64 dropped[IOT_KIND_END];
	u64 mpi_unmatched;
	u64 mpi_ambiguous;
	struct graph_note mpi_notes[GRAPH_NOTES_MAX];
	u32 mpi_note_count;
	u64 entries;
	u64 guessed;
	u64 lost;
	bool is_complete;
};

/**
 * struct compile_options - what to compile
 * @trace: file of the trace
 * @program: file to write
 * @order: what the user calls the rules, NULL for the default
 * @rules: bits of enum order_rule: which order to keep; ORDER_DEFAULT
 * @without: bits of enum edge_cause: leave out edges of these causes
 * @progress: called now and then, may be NULL
 */
struct compile_options {
	const char *trace;
	const char *program;
	const char *order;
	u32 rules;
	u32 without;
	load_progress_fn progress;
};

int compile_trace(const struct compile_options *options, struct compile_summary *summary,
		  struct iot_reject *reject);

#endif
