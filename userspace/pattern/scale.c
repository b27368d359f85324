// SPDX-License-Identifier: GPL-2.0-only
/*
 * scale.c - series and columns at another number of ranks.
 *
 * The form is that of the largest run: with few ranks a cycle is a line, or a wrap a table. Each number of the form is a
 * function of the number of ranks, from all runs that have the same form. The other runs are checked at the end, when all
 * operations are compared.
 */
#include "scale.h"

struct parts {
	struct bytes form;
	struct numbers params;
	struct numbers table;
};

static void free_parts(struct parts *parts)
{
	bytes_free(&parts->form);
	numbers_free(&parts->params);
	numbers_free(&parts->table);
}

static bool is_alike(const struct parts *a, const struct parts *b)
{
	return a->form.count == b->form.count && a->params.count == b->params.count && a->form.count &&
	       !memcmp(a->form.data, b->form.data, a->form.count);
}

/* A line of one number has no step, and one of none no base. */
static bool is_defined(const struct parts *parts, size_t param)
{
	return parts->form.count != 1 || parts->form.data[0] != SERIES_LINE || param <= parts->params.values[0];
}

/* One number of each run that has it. */
static bool scale_number(struct scaling *scaling, const struct model_points *points, u64 *value)
{
	if (model_exact(points, scaling->target, value))
		return true;
	scaling->points = *points;
	scaling->has_points = true;
	return false;
}

static bool scale_params(struct scaling *scaling, const struct parts *all, u32 last, struct parts *made)
{
	struct model_points points;
	u64 value;
	size_t i;
	u32 run;

	for (i = 0; i < all[last].params.count; i++) {
		points.count = 0;
		for (run = 0; run < scaling->count; run++) {
			if (!is_alike(&all[run], &all[last]) || (!is_defined(&all[run], i) && is_defined(&all[last], i)))
				continue;
			points.ranks[points.count] = scaling->ranks[run];
			points.values[points.count++] = all[run].params.values[i];
		}
		if (!scale_number(scaling, &points, &value))
			return false;
		numbers_add(&made->params, value);
	}
	return !made->params.is_failed;
}

/* Values of tables: as many in each run. */
static bool scale_table(struct scaling *scaling, const struct parts *all, u32 last, struct parts *made)
{
	struct model_points points;
	u64 value;
	size_t i;
	u32 run;

	for (i = 0; i < all[last].table.count; i++) {
		points.count = 0;
		for (run = 0; run < scaling->count; run++) {
			if (!is_alike(&all[run], &all[last]) || all[run].table.count != all[last].table.count)
				continue;
			points.ranks[points.count] = scaling->ranks[run];
			points.values[points.count++] = all[run].table.values[i];
		}
		if (points.count < 2 || !scale_number(scaling, &points, &value))
			return false;
		numbers_add(&made->table, value);
	}
	return !made->table.is_failed;
}

static struct series *copy(const struct series *series)
{
	struct parts parts = {};
	struct series *made;

	series_split(series, &parts.form, &parts.params, &parts.table);
	made = series_join(parts.form.data, parts.form.count, parts.params.values, parts.params.count, parts.table.values,
			   parts.table.count);
	free_parts(&parts);
	return made;
}

static struct series *join(const struct parts *form, const struct parts *made)
{
	if (!made->params.values[0]) /* no values: any form will do */
		return series_make(NULL, 0);
	return series_join(form->form.data, form->form.count, made->params.values, made->params.count, made->table.values,
			   made->table.count);
}

/* Of few ranks, neighbours on a ring are a table. */
static void split_as_wrap(const struct series *series, struct parts *parts)
{
	struct series *wrap = series_as_wrap(series);

	if (!wrap)
		return;
	free_parts(parts);
	series_split(wrap, &parts->form, &parts->params, &parts->table);
	series_free(wrap);
}

/**
 * scale_series() - a series at another number of ranks
 * @scaling: from which runs to where
 * @runs: the series of each run; NULL where there is none, but not in all
 *
 * Return: the series, to be freed by series_free(); NULL if no function fits a number of it, or if out of memory.
 */
struct series *scale_series(struct scaling *scaling, const struct series *const *runs)
{
	struct parts all[MODEL_RUNS_MAX] = {}, made = {};
	struct series *series = NULL;
	u32 run, last = 0;

	for (run = 0; run < scaling->count; run++) {
		if (!runs[run])
			continue;
		series_split(runs[run], &all[run].form, &all[run].params, &all[run].table);
		if (runs[run]->count)
			last = run;
	}
	for (run = 0; run < last && runs[last] && runs[last]->form == SERIES_WRAP; run++)
		if (runs[run] && runs[run]->form != SERIES_WRAP)
			split_as_wrap(runs[run], &all[run]);
	if (runs[last] && scale_params(scaling, all, last, &made) && scale_table(scaling, all, last, &made))
		series = join(&all[last], &made);
	if (!series && scaling->same < scaling->count && runs[scaling->same])
		series = copy(runs[scaling->same]);
	for (run = 0; run < scaling->count; run++)
		free_parts(&all[run]);
	free_parts(&made);
	return series;
}

/* -- columns ---------------------------------------------------------------------------------------------------- */

static u32 find_class(const struct column *column, const struct bytes *form)
{
	u32 i;

	for (i = 0; i < column->class_count; i++)
		if (column->classes[i].form.count == form->count &&
		    !memcmp(column->classes[i].form.data, form->data, form->count))
			break;
	return i;
}

static bool scale_class(struct scaling *scaling, const struct column *const *runs, const struct column_class *model,
			struct column_class *class)
{
	const struct series *of_runs[MODEL_RUNS_MAX];
	u32 run, i, index;

	bytes_add(&class->form, model->form.data, model->form.count);
	class->params = calloc(model->param_count + 1, sizeof(*class->params));
	if (!class->params || class->form.is_failed)
		return false;
	class->param_count = model->param_count;
	for (i = 0; i <= model->param_count; i++) {
		if (i == model->param_count && !model->table)
			break;
		for (run = 0; run < scaling->count; run++) {
			index = runs[run] ? find_class(runs[run], &model->form) : 0;
			of_runs[run] = NULL;
			if (runs[run] && index < runs[run]->class_count &&
			    runs[run]->classes[index].param_count == model->param_count)
				of_runs[run] = i < model->param_count ? runs[run]->classes[index].params[i] :
									runs[run]->classes[index].table;
		}
		if (i < model->param_count)
			class->params[i] = scale_series(scaling, of_runs);
		else
			class->table = scale_series(scaling, of_runs);
		if (i < model->param_count ? !class->params[i] : !class->table)
			return false;
	}
	class->tasks = class->params[0]->count;
	return true;
}

/* The classes of the tasks of a run, with the numbers of the largest run. NULL if that lacks one. */
static struct series *translate(const struct column *column, const struct column *model)
{
	u64 tasks = column->class_of ? column->class_of->count : column->classes[0].tasks, i, class;
	u64 *values = calloc(tasks + 1, sizeof(*values));
	struct series *series = NULL;

	for (i = 0; values && i < tasks; i++) {
		class = column->class_of ? series_at(column->class_of, i) : 0;
		if (class >= column->class_count)
			break;
		values[i] = find_class(model, &column->classes[class].form);
		if (values[i] == model->class_count)
			break;
	}
	if (values && i == tasks)
		series = series_make(values, tasks);
	free(values);
	return series;
}

static bool scale_class_of(struct scaling *scaling, const struct column *const *runs, const struct column *model,
			   struct column *column)
{
	struct series *of_runs[MODEL_RUNS_MAX] = {};
	u32 run;

	for (run = 0; run < scaling->count; run++)
		if (runs[run])
			of_runs[run] = translate(runs[run], model);
	column->class_of = scale_series(scaling, (const struct series *const *)of_runs);
	for (run = 0; run < scaling->count; run++)
		series_free(of_runs[run]);
	return column->class_of;
}

/**
 * scale_column() - a column at another number of ranks
 * @scaling: from which runs to where
 * @runs: the column of each run; NULL where there is none, but not in the last
 * @column: out; to be freed by column_free() in any case
 *
 * Return: false if no function fits a number of it, or if out of memory.
 */
bool scale_column(struct scaling *scaling, const struct column *const *runs, struct column *column)
{
	const struct column *model = NULL;
	u32 i;

	*column = (struct column){};
	for (i = 0; i < scaling->count; i++)
		model = runs[i] ? runs[i] : model;
	column->classes = calloc(model->class_count, sizeof(*column->classes));
	if (!column->classes)
		return false;
	for (i = 0; i < model->class_count; i++) {
		column->class_count++;
		if (!scale_class(scaling, runs, &model->classes[i], &column->classes[i]))
			return false;
	}
	return model->class_count == 1 || scale_class_of(scaling, runs, model, column);
}
