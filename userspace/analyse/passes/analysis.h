/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * analysis.h - the graph and the initial tree of one trace, loaded once and read by any number of tools.
 *
 *	analysis_load(&analysis, path, &options, &reject);
 *	analysis_run(analysis, PASS_BIT(mpi));
 *	graph = analysis_graph(analysis);	read tasks, operations and edges
 *	analysis_run(analysis, PASSES_ALL);	add the passes that have not run
 *	compile_analysis(analysis, ...);	any number of times: reads only
 *	analysis_close(analysis);
 */
#ifndef IOTAPE_ANALYSIS_H
#define IOTAPE_ANALYSIS_H

#include "analyse/graph/graph_load.h"
#include "passes.h"

struct analysis;

/**
 * struct analysis_options - rules of the analysis, fixed when the trace is loaded
 * @rules: bits of enum order_rule, for example ORDER_DEFAULT
 * @without: bits of enum edge_cause: passes add no edges with these causes
 * @fan_in_min: size from which a fan-in gets a latch, 0 for the default
 * @spill: path next to which a file without a name has the operations if there are many, so that they may be larger
 *	than memory; NULL: they are in memory
 * @progress: called now and then during loading, may be NULL
 */
struct analysis_options {
	u32 rules;
	u32 without;
	u32 fan_in_min;
	const char *spill;
	load_progress_fn progress;
};

int analysis_load(struct analysis **analysis, const char *trace, const struct analysis_options *options,
		  struct iot_reject *reject);
void analysis_close(struct analysis *analysis);
int analysis_run(struct analysis *analysis, u32 passes);
u32 analysis_passes(const struct analysis *analysis);
const struct graph *analysis_graph(const struct analysis *analysis);
const struct analysis_options *analysis_options(const struct analysis *analysis);
int analysis_initial(const struct analysis *analysis, const struct tree_entry **entries, size_t *count);
int analysis_absent(const struct analysis *analysis, tree_path_fn fn, void *context);
void analysis_drop_ops(struct analysis *analysis, u32 task);

#endif
