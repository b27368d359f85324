// SPDX-License-Identifier: GPL-2.0-only
/*
 * discover_waits.c - the waits of the first run that its trace does not explain.
 */
#include "analyse/passes/analysis.h"
#include "cmd.h"
#include "discover_search.h"

/* A task that runs may spin; MPI calls, wake-ups, ends of tasks and requests are known reasons. */
static void note_task(struct search *search, const struct graph_task *task)
{
	u64 ns = 0;
	u32 i;

	for (i = 0; i < task->op_count; i++) {
		const struct graph_op *op = &task->ops[i];

		ns += op->pause_ns + (search->options->is_sleep_only ? 0 : op->compute_ns);
		if (!op->number || !graph_is_io(op))
			continue;
		discovery_note_waiting(search->discovery, task->id, op->number, ns);
		ns = 0;
	}
}

/**
 * search_note_waits() - note the waits in the trace of the first run
 * @search: after that run, whose trace still exists
 *
 * Return: an exit code.
 */
int search_note_waits(struct search *search)
{
	const struct analysis_options options = { .rules = ORDER_DEFAULT };
	struct iot_reject reject = {};
	struct analysis *analysis;
	int err = analysis_load(&analysis, search->source, &options, &reject);
	u32 i;

	if (!err)
		err = analysis_run(analysis, PASSES_ALL);
	if (!err) {
		const struct graph *graph = analysis_graph(analysis);

		for (i = 0; i < graph->task_count; i++)
			if (graph->tasks[i].queue_of == GRAPH_NONE)
				note_task(search, &graph->tasks[i]);
	}
	analysis_close(analysis);
	if (!err)
		discovery_plan(search->discovery, false, &search->plan); /* notes the sum of the waits */
	return err ? fail_reject(search->trace, err, &reject) : EXIT_DONE;
}
