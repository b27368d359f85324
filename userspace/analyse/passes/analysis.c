// SPDX-License-Identifier: GPL-2.0-only
/*
 * analysis.c - owns the graph and the initial tree of a trace, and runs passes over them.
 */
#include "analysis.h"

#include <stdlib.h>

/**
 * struct analysis - a loaded trace
 * @graph, @tree: owned
 * @options: as they were given to analysis_load()
 * @done: bits of enum graph_pass: passes that have run
 * @is_broken: a pass has failed, so the graph is unfinished
 */
struct analysis {
	struct graph *graph;
	struct tree *tree;
	struct analysis_options options;
	u32 done;
	bool is_broken;
};

static void set_rules(struct graph *graph, const struct analysis_options *options)
{
	graph->rules = options->rules;
	graph->causes_left_out = options->without;
	if (options->fan_in_min)
		graph->fan_in_min = options->fan_in_min;
	if (!(options->rules & ORDER_BIT(mpi)))
		graph->causes_left_out |= 1u << EDGE_mpi;
	if (!(options->rules & ORDER_BIT(wake)))
		graph->causes_left_out |= 1u << EDGE_wake | 1u << EDGE_discovered;
}

/**
 * analysis_load() - load a trace into a graph; no pass runs
 * @analysis: out: to be freed by analysis_close(); NULL after an error
 * @trace: file
 * @options: copied
 * @reject: filled in if the trace is refused
 *
 * Return: 0 or a negative errno.
 */
int analysis_load(struct analysis **analysis, const char *trace, const struct analysis_options *options,
		  struct iot_reject *reject)
{
	struct analysis *a = calloc(1, sizeof(*a));
	int err;

	*analysis = NULL;
	if (!a)
		return -ENOMEM;
	a->options = *options;
	err = graph_open(&a->graph);
	if (!err && options->spill)
		err = graph_spill(a->graph, options->spill);
	if (!err)
		err = tree_open(&a->tree);
	if (!err)
		err = load_trace(trace, a->graph, a->tree, options->progress, reject);
	if (err) {
		analysis_close(a);
		return err;
	}
	set_rules(a->graph, options);
	*analysis = a;
	return 0;
}

/**
 * analysis_close() - free an analysis with its graph; NULL is allowed
 */
void analysis_close(struct analysis *analysis)
{
	if (!analysis)
		return;
	tree_close(analysis->tree);
	graph_close(analysis->graph);
	free(analysis);
}

/**
 * analysis_run() - run passes that have not run yet, and the passes that they need
 * @analysis: loaded
 * @passes: bits of enum graph_pass, or PASSES_ALL
 *
 * Passes run in the order of their table. A pass cannot follow a pass that is below it in the table, because it
 * would change the input of that pass.
 *
 * Return: 0; -EINVAL if a pass would come too late, then none has run; or a negative errno of a pass, after which the
 * analysis can only be closed.
 */
int analysis_run(struct analysis *analysis, u32 passes)
{
	u32 missing = graph_passes_needed(passes) & ~analysis->done;
	int err;

	if (analysis->is_broken || (missing && (missing & -missing) < analysis->done))
		return -EINVAL;
	err = graph_passes_run(analysis->graph, analysis->tree, missing);
	analysis->is_broken = err;
	analysis->done |= missing;
	return err;
}

/**
 * analysis_passes() - passes that have run, as bits of enum graph_pass
 */
u32 analysis_passes(const struct analysis *analysis)
{
	return analysis->done;
}

/**
 * analysis_graph() - the graph, as the passes so far have left it
 *
 * Return: the graph; the analysis owns it. The next analysis_run() may move operations and edges.
 */
const struct graph *analysis_graph(const struct analysis *analysis)
{
	return analysis->graph;
}

/**
 * analysis_options() - the options that the trace was loaded with
 */
const struct analysis_options *analysis_options(const struct analysis *analysis)
{
	return &analysis->options;
}

/**
 * analysis_initial() - the initial tree as the trace shows it
 * @analysis: after PASS_linear, which settles names that overlapping operations observed
 * @entries: out: parents before children; the analysis owns them
 * @count: out: number of entries
 *
 * Return: 0 or -ENOMEM.
 */
int analysis_initial(const struct analysis *analysis, const struct tree_entry **entries, size_t *count)
{
	return tree_finish(analysis->tree, entries, count);
}

/**
 * analysis_absent() - list the paths that did not exist when the trace began
 * @analysis: after analysis_initial()
 * @fn: called with each path, which the analysis owns
 * @context: for @fn
 *
 * Return: 0, -ENOMEM, or the value of @fn that was not 0.
 */
int analysis_absent(const struct analysis *analysis, tree_path_fn fn, void *context)
{
	return tree_absent(analysis->tree, fn, context);
}

/**
 * analysis_drop_ops() - free the operations of a task that the owner of the analysis no longer needs
 * @analysis: no pass may run any more
 * @task: index of the task
 */
void analysis_drop_ops(struct analysis *analysis, u32 task)
{
	graph_ops_drop(analysis->graph, &analysis->graph->tasks[task]);
	analysis->is_broken = true;
}
