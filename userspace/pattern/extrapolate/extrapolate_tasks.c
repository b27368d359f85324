// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_tasks.c - the tasks of another number of ranks: facts of all tasks, and positions of those that do the same.
 *
 * A recorded job has more tasks than ranks: threads of each rank, which follow it, and the processes that started the job, which
 * come last. Over all of them, no fact is one formula. They are therefore divided into parts: the first task of each rank, the second
 * one of each, and so on, and the other tasks. Each part is a series of its own.
 */
#include "extrapolate.h"

/* The tasks of a job, which come first. */
static u64 count_job_tasks(const struct pattern *p)
{
	u64 count = 0;

	while (count < p->task_count && series_at(p->facts[TASK_FACT_job], count))
		count++;
	return count;
}

/**
 * extrapolation_divide_tasks() - find the parts of tasks
 * @x: sets @tasks_per_rank: 0 if the ranks of all runs do not have the same number of tasks, or if each task is a rank
 */
void extrapolation_divide_tasks(struct extrapolation *x)
{
	bool has_others = false;
	u64 tasks;
	u32 run;

	x->tasks_per_rank = count_job_tasks(x->model) / x->scaling.ranks[x->scaling.count - 1];
	for (run = 0; run < x->scaling.count; run++) {
		tasks = x->scaling.ranks[run] * x->tasks_per_rank;
		if (count_job_tasks(x->runs[run]) != tasks) {
			x->tasks_per_rank = 0;
			return;
		}
		has_others |= x->runs[run]->task_count > tasks;
	}
	if (x->tasks_per_rank == 1 && !has_others)
		x->tasks_per_rank = 0;
}

/* The part of a task, and its index there. */
static u64 find_part(const struct extrapolation *x, u64 ranks, u64 position, u64 *index)
{
	u64 tasks = ranks * x->tasks_per_rank;

	*index = position < tasks ? position / x->tasks_per_rank : position - tasks;
	return position < tasks ? position % x->tasks_per_rank : x->tasks_per_rank;
}

/* One part of a run: values of a fact, or indexes of positions. */
static struct series *take_part(const struct extrapolation *x, u32 run, const struct series *series, bool is_positions, u64 part)
{
	struct numbers values = {};
	struct series *taken;
	u64 i, value, index;

	for (i = 0; i < series->count; i++) {
		value = series_at(series, i);
		if (find_part(x, x->scaling.ranks[run], is_positions ? value : i, &index) == part)
			numbers_add(&values, is_positions ? index : value);
	}
	taken = values.is_failed ? NULL : series_make(values.values, values.count);
	numbers_free(&values);
	return taken;
}

static struct series *scale_part(struct extrapolation *x, const struct series *const *runs, bool is_positions, u64 part)
{
	struct series *parts[MODEL_RUNS_MAX] = {}, *scaled = NULL;
	bool is_failed = false;
	u32 run;

	for (run = 0; run < x->scaling.count; run++) {
		parts[run] = runs[run] ? take_part(x, run, runs[run], is_positions, part) : NULL;
		is_failed |= runs[run] && !parts[run];
	}
	if (!is_failed)
		scaled = scale_series(&x->scaling, (const struct series *const *)parts);
	for (run = 0; run < x->scaling.count; run++)
		series_free(parts[run]);
	return scaled;
}

/* All parts, one after the other. @counts is of each. */
static bool scale_parts(struct extrapolation *x, const struct series *const *runs, bool is_positions, struct numbers *values,
			struct numbers *counts)
{
	struct series *scaled;
	u64 part, i;

	for (part = 0; part <= x->tasks_per_rank; part++) {
		scaled = scale_part(x, runs, is_positions, part);
		if (!scaled || scaled->count > TASKS_MAX) {
			series_free(scaled);
			return false;
		}
		for (i = 0; i < scaled->count; i++)
			numbers_add(values, series_at(scaled, i));
		numbers_add(counts, scaled->count);
		series_free(scaled);
	}
	return !values->is_failed && !counts->is_failed;
}

/**
 * extrapolate_fact() - a fact of all tasks
 * @x: the runs, and to where
 * @runs: the fact in each run
 *
 * Return: the series, to be freed by series_free(); NULL if no function fits, or if out of memory.
 */
struct series *extrapolate_fact(struct extrapolation *x, const struct series *const *runs)
{
	struct numbers values = {}, counts = {}, facts = {};
	struct series *made = NULL;
	u64 rank, part, i;

	if (!x->tasks_per_rank)
		return scale_series(&x->scaling, runs);
	if (!scale_parts(x, runs, false, &values, &counts))
		goto out;
	for (part = 0; part < x->tasks_per_rank; part++)
		if (counts.values[part] != x->scaling.target)
			goto out;
	for (rank = 0; rank < x->scaling.target; rank++)
		for (part = 0; part < x->tasks_per_rank; part++)
			numbers_add(&facts, values.values[part * x->scaling.target + rank]);
	for (i = facts.count; i < values.count; i++)
		numbers_add(&facts, values.values[i]);
	if (!facts.is_failed)
		made = series_make(facts.values, facts.count);
out:
	numbers_free(&values);
	numbers_free(&counts);
	numbers_free(&facts);
	return made;
}

static int compare_numbers(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/**
 * extrapolate_positions() - the positions of tasks that do the same
 * @x: the runs, and to where
 * @runs: the positions in each run, NULL if there are none, but not in all
 *
 * Return: as extrapolate_fact().
 */
struct series *extrapolate_positions(struct extrapolation *x, const struct series *const *runs)
{
	struct numbers values = {}, counts = {};
	struct series *made = NULL;
	u64 part, i, at = 0;

	if (!x->tasks_per_rank)
		return scale_series(&x->scaling, runs);
	if (!scale_parts(x, runs, true, &values, &counts))
		goto out;
	for (part = 0; part <= x->tasks_per_rank; part++)
		for (i = 0; i < counts.values[part]; i++, at++)
			values.values[at] = part < x->tasks_per_rank ?
						    values.values[at] * x->tasks_per_rank + part :
						    values.values[at] + x->scaling.target * x->tasks_per_rank;
	if (values.count)
		qsort(values.values, values.count, sizeof(*values.values), compare_numbers);
	made = series_make(values.values, values.count);
out:
	numbers_free(&values);
	numbers_free(&counts);
	return made;
}
