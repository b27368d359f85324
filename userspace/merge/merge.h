/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge.h - one trace of those that the processes or the nodes of a job wrote.
 */
#ifndef IOTAPE_MERGE_H
#define IOTAPE_MERGE_H

#include <stdbool.h>

#include "analyse/clocks/clocks.h"
#include "lib/iotape.h"

/**
 * struct merge_sample - a reading by node 0 of a replay of the clock of another node
 * @node: the other node
 * @sent_ns: time of the query, by node 0
 * @seen_ns: reading of the other clock
 * @back_ns: time of the answer, by node 0
 */
struct merge_sample {
	u32 node;
	u64 sent_ns;
	u64 seen_ns;
	u64 back_ns;
};

/**
 * struct merge_options - inputs and output of a merge
 * @output: trace to be made
 * @paths: traces, in any order
 * @shared: mounts that are the same file system on all nodes, ended by NULL
 * @is_shared_guessed: so are directories on file systems of a shared type
 * @job: only the traces of this job; NULL if there may be one only, "all" for whatever there is
 * @samples: of the clocks of a replay, besides those that its outcomes have; may be NULL
 * @sample_count: their number
 * @partial: why the outcomes of a replay are not all there, NULL if that is not known
 * @say: called with a sentence about something that is missing or wrong
 */
struct merge_options {
	const char *output;
	char **paths;
	size_t path_count;
	const char *const *shared;
	bool is_shared_guessed;
	const char *job;
	const struct merge_sample *samples;
	size_t sample_count;
	const char *partial;
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/**
 * struct merge_node_result - the result of a node
 * @name: of the host
 * @ranks: "0-3,6"; empty if it has none
 * @traces: of it
 * @clock: how its clock was fitted
 */
struct merge_node_result {
	const char *name;
	const char *ranks;
	size_t traces;
	struct clock_fit clock;
};

/**
 * struct merge_result - the result of a merge
 * @nodes: valid until merge_close()
 * @unfinished: ranks that did not end MPI, traces that are not complete, and nodes that did not
 *	replay all of their partition
 * @missing_ranks: ranks without any trace
 * @missing_nodes: nodes of a replay without any trace
 * @omissions: of the traces, and so of the new one
 */
struct merge_result {
	u64 records;
	u64 traces;
	u64 jobs;
	u64 ranks;
	u64 unfinished;
	u64 missing_ranks;
	u64 missing_nodes;
	u64 lost;
	struct iot_omissions omissions;
	const struct merge_node_result *nodes;
	u32 node_count;
};

struct merge;

int merge_open(const struct merge_options *options, struct merge **merge);
int merge_run(struct merge *merge, struct merge_result *result);
void merge_close(struct merge *merge);

#endif
