// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_times.c - think times and durations at another number of ranks.
 */
#include "extrapolate.h"

/* Stretched from the times of the largest run. */
static void make_times(struct times *times, const struct times *largest, double mean_ns)
{
	double stretch = largest->mean_ns > 0 ? mean_ns / largest->mean_ns : 1;
	u64 count = times->count;

	*times = (struct times){};
	if (!count)
		return;
	times->count = count;
	times->mean_ns = mean_ns;
	times->min_ns = (u64)((double)largest->min_ns * stretch);
	times->max_ns = (u64)((double)largest->max_ns * stretch + 0.5);
	times->squares = times_deviation_ns(largest) * stretch * times_deviation_ns(largest) * stretch * (double)count;
	times->bins[mean_ns >= 1 ? 64 - (u32)__builtin_clzll((u64)mean_ns) : 0] = count;
}

static void fit_times(struct extrapolation *x, struct times *times, const struct times *const *runs,
		      struct extrapolation_fit *report)
{
	u64 ranks[MODEL_RUNS_MAX];
	double values[MODEL_RUNS_MAX], mean_ns;
	const struct times *largest = NULL;
	struct model_fit fit;
	u32 run, count = 0;

	for (run = 0; run < x->scaling.count; run++) {
		if (!runs[run] || !runs[run]->count)
			continue;
		ranks[count] = x->scaling.ranks[run];
		values[count++] = runs[run]->mean_ns;
		largest = runs[run];
	}
	if (!largest)
		return;
	fit = model_fit(ranks, values, count, x->options->loaded);
	mean_ns = model_value(&fit, x->scaling.target);
	make_times(times, largest, mean_ns > 0 ? mean_ns : 0);
	report->positions++;
	report->forms[fit.form]++;
	report->explained += fit.explained;
}

static void fit_node(struct extrapolation *x, u32 index, const struct group *const *groups, struct group *made, u32 *run,
		     struct extrapolation_summary *summary)
{
	const struct node *node = nodes_at(&x->model->nodes, index);
	const struct times *thinks[MODEL_RUNS_MAX] = {}, *durations[MODEL_RUNS_MAX] = {};
	u32 i;

	for (i = 0; i < node->body_count; i++)
		fit_node(x, node->body[i], groups, made, run, summary);
	if (node->type != NODE_RUN)
		return;
	for (i = 0; i < x->scaling.count; i++)
		if (groups[i]) {
			thinks[i] = &groups[i]->times[*run].think;
			durations[i] = &groups[i]->times[*run].duration;
		}
	fit_times(x, &made->times[*run].think, thinks, &summary->fits[EXTRAPOLATION_thinks]);
	fit_times(x, &made->times[*run].duration, durations,
		  &summary->fits[extrapolation_class_of(shapes_at(&x->model->shapes, node->shape))]);
	++*run;
}

/**
 * extrapolate_times() - fit the times of all runs
 * @x: the runs
 * @made: has the structure and the operations; gets times
 * @summary: out: how well they fit
 */
void extrapolate_times(struct extrapolation *x, struct pattern *made, struct extrapolation_summary *summary)
{
	const struct group *groups[MODEL_RUNS_MAX];
	u32 i, run, index;

	for (i = 0; i < x->scaling.count; i++)
		if (!x->runs[i]->has_times)
			return;
	for (i = 0; i < made->group_count; i++) {
		index = 0;
		for (run = 0; run < x->scaling.count; run++)
			groups[run] = pattern_find_group(made, &made->groups[i], x->runs[run]);
		fit_node(x, made->groups[i].root, groups, &made->groups[i], &index, summary);
	}
	made->has_times = true;
}
