// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_compensation.c - times of whole tasks at another number of ranks.
 *
 * The functions of single operations have small errors that add up over a task. As in ScalaIOExtrap (Luo et al.), the times of
 * each class of events therefore have functions for whole tasks, too, and the times of the operations are stretched until
 * their sum is the value of this function. The last class is the rest of the run time of a task: its think times.
 */
#include "extrapolate.h"

/* The MPI call; 0 if there is none. */
static u64 call_of(const struct shape *shape)
{
	const struct iot_field *field;
	u32 i;

	for (i = 0; i < shape->field_count && (field = event_field(shape->kind, i)); i++)
		if (!strcmp(field->name, "call"))
			return shape->fields[i];
	return 0;
}

/**
 * extrapolation_class_of() - the class of the durations of an operation
 */
enum extrapolation_class extrapolation_class_of(const struct shape *shape)
{
	switch (shape->kind) {
	case IOT_KIND_mpi_coll:
		switch (call_of(shape)) {
		case IOT_CALL_reduce:
		case IOT_CALL_allreduce:
		case IOT_CALL_reduce_scatter:
		case IOT_CALL_reduce_scatter_block:
		case IOT_CALL_ireduce:
		case IOT_CALL_iallreduce:
		case IOT_CALL_ireduce_scatter:
		case IOT_CALL_ireduce_scatter_block:
			return EXTRAPOLATION_reductions;
		default:
			return EXTRAPOLATION_collectives;
		}
	case IOT_KIND_mpi_link:
		return EXTRAPOLATION_collectives;
	default:
		return iot_kind_info(shape->kind)->group == IOT_GROUP_mpi ? EXTRAPOLATION_messages : EXTRAPOLATION_files;
	}
}

/* Classes of the durations of all runs of a structure, in order. */
static void learn_classes(const struct pattern *model, u32 index, enum extrapolation_class *classes, u32 *run)
{
	const struct node *node = nodes_at(&model->nodes, index);
	u32 i;

	for (i = 0; i < node->body_count; i++)
		learn_classes(model, node->body[i], classes, run);
	if (node->type == NODE_RUN)
		classes[(*run)++] = extrapolation_class_of(shapes_at(&model->shapes, node->shape));
}

/* Times of one task on average, by class. */
static void sum_group(const struct group *group, const enum extrapolation_class *classes, u32 runs,
		      double sums[EXTRAPOLATION_CLASSES])
{
	u32 run;

	for (run = 0; run < EXTRAPOLATION_CLASSES; run++)
		sums[run] = 0;
	for (run = 0; run < runs; run++) {
		const struct run_times *times = &group->times[run];

		sums[EXTRAPOLATION_thinks] += times->think.mean_ns * (double)times->think.count / (double)group->task_count;
		sums[classes[run]] += times->duration.mean_ns * (double)times->duration.count / (double)group->task_count;
	}
}

static void stretch(struct times *times, double factor)
{
	u64 count = times->count;

	times->mean_ns *= factor;
	times->min_ns = (u64)((double)times->min_ns * factor);
	times->max_ns = (u64)((double)times->max_ns * factor + 0.5);
	times->squares *= factor * factor;
	if (!count)
		return;
	memset(times->bins, 0, sizeof(times->bins));
	times->bins[times->mean_ns >= 1 ? 64 - (u32)__builtin_clzll((u64)times->mean_ns) : 0] = count;
}

static void stretch_class(struct group *group, const enum extrapolation_class *classes, u32 runs, u32 class, double factor)
{
	u32 run;

	for (run = 0; run < runs; run++) {
		if (class == EXTRAPOLATION_thinks)
			stretch(&group->times[run].think, factor);
		if (class == classes[run])
			stretch(&group->times[run].duration, factor);
	}
}

static void compensate_group(struct extrapolation *x, struct group *made, const struct group *const *groups,
			     const enum extrapolation_class *classes, u32 runs, struct extrapolation_summary *summary)
{
	double values[EXTRAPOLATION_CLASSES][MODEL_RUNS_MAX], sums[EXTRAPOLATION_CLASSES], total_ns, tasks = (double)made->task_count;
	u64 ranks[MODEL_RUNS_MAX];
	struct model_fit fit;
	u32 run, class, count = 0;

	for (run = 0; run < x->scaling.count; run++) {
		if (!groups[run])
			continue;
		sum_group(groups[run], classes, runs, sums);
		for (class = 0; class < EXTRAPOLATION_CLASSES; class++)
			values[class][count] = sums[class];
		ranks[count++] = x->scaling.ranks[run];
	}
	sum_group(made, classes, runs, sums);
	for (class = 0; class < EXTRAPOLATION_CLASSES && count; class++) {
		fit = model_fit(ranks, values[class], count, x->options->loaded);
		total_ns = model_value(&fit, x->scaling.target);
		if (!(sums[class] > 0) || !(total_ns > 0))
			continue;
		stretch_class(made, classes, runs, class, total_ns / sums[class]);
		summary->fits[class].sum_ns += sums[class] * tasks;
		summary->fits[class].compensated_ns += total_ns * tasks;
		summary->fits[class].total_explained += fit.explained * total_ns * tasks;
	}
}

/**
 * extrapolate_compensation() - make the times of whole tasks those of functions of their own
 * @x: the runs
 * @made: has the structure, the operations and the times of these
 * @summary: out: how well the functions fit
 *
 * Return: 0 or -ENOMEM.
 */
int extrapolate_compensation(struct extrapolation *x, struct pattern *made, struct extrapolation_summary *summary)
{
	const struct group *groups[MODEL_RUNS_MAX];
	enum extrapolation_class *classes;
	u32 i, run, runs;

	for (i = 0; i < made->group_count; i++) {
		classes = calloc(nodes_at(&x->model->nodes, made->groups[i].root)->runs + 1, sizeof(*classes));
		if (!classes)
			return -ENOMEM;
		runs = 0;
		learn_classes(x->model, made->groups[i].root, classes, &runs);
		for (run = 0; run < x->scaling.count; run++)
			groups[run] = pattern_find_group(made, &made->groups[i], x->runs[run]);
		compensate_group(x, &made->groups[i], groups, classes, runs, summary);
		free(classes);
	}
	return 0;
}
