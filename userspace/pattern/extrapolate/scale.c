// SPDX-License-Identifier: GPL-2.0-only
/*
 * scale.c - series and columns at another number of ranks.
 *
 * The form is that of the largest run: with few ranks a cycle is a line, or a wrap a table. Each number of the form is a
 * function of the number of ranks, from all runs that have the same form. The other runs are checked at the end, when all
 * operations are compared.
 */
#include "scale.h"

#define TABLE_VALUES_MAX (1u << 26)

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
	struct series *made = NULL;

	series_split(series, &parts.form, &parts.params, &parts.table);
	series_join(parts.form.data, parts.form.count, parts.params.values, parts.params.count, parts.table.values, parts.table.count,
		    &made);
	free_parts(&parts);
	return made;
}

static struct series *join(const struct parts *form, const struct parts *made)
{
	struct series *series = NULL;

	if (!made->params.values[0]) /* no values: any form will do */
		return series_make(NULL, 0);
	series_join(form->form.data, form->form.count, made->params.values, made->params.count, made->table.values, made->table.count,
		    &series);
	return series;
}

static void replace_parts(struct parts *parts, struct series *series)
{
	if (!series)
		return;
	free_parts(parts);
	series_split(series, &parts->form, &parts->params, &parts->table);
	series_free(series);
}

/* The runs whose numbers are points of the functions. */
static u32 count_alike(const struct scaling *scaling, const struct parts *all, u32 last)
{
	u32 run, count = 0;

	for (run = 0; run < scaling->count; run++)
		count += is_alike(&all[run], &all[last]);
	return count;
}

static struct series *scale_split(struct scaling *scaling, const struct parts *all, u32 last)
{
	struct parts made = {};
	struct series *series = NULL;

	if (scale_params(scaling, all, last, &made) && scale_table(scaling, all, last, &made))
		series = join(&all[last], &made);
	free_parts(&made);
	return series;
}

/* The natural forms. Of few ranks, neighbours on a ring are a table. */
static void split(const struct scaling *scaling, const struct series *const *runs, u32 last, struct parts *all)
{
	u32 run;

	for (run = 0; run < scaling->count; run++)
		if (runs[run])
			series_split(runs[run], &all[run].form, &all[run].params, &all[run].table);
	for (run = 0; run < last && runs[last]->form == SERIES_WRAP; run++)
		if (runs[run] && runs[run]->form != SERIES_WRAP)
			replace_parts(&all[run], series_as_wrap(runs[run]));
}

/*
 * Of few ranks, some equal numbers with others before or behind them are a table, too. With another number of runs than in the
 * largest run, they are not the same runs.
 */
static void split_as_runs(const struct scaling *scaling, const struct series *const *runs, u32 last, struct parts *all)
{
	struct series *made[MODEL_RUNS_MAX] = {};
	u32 run;

	for (run = 0; run < scaling->count; run++)
		made[run] = runs[run] ? series_as_runs(runs[run]) : NULL;
	for (run = 0; run < scaling->count; run++)
		if (made[run] && made[last] && made[run]->period == made[last]->period)
			series_split(made[run], &all[run].form, &all[run].params, &all[run].table);
	for (run = 0; run < scaling->count; run++)
		series_free(made[run]);
}

/**
 * scale_series() - a series at another number of ranks
 * @scaling: from which runs to where
 * @runs: the series of each run; NULL where there is none, but not in all
 *
 * The functions of the form of the largest run are used if it is that of another run, too, otherwise those of its runs.
 *
 * Return: the series, to be freed by series_free(); NULL if no function fits a number of it, or if out of memory.
 */
struct series *scale_series(struct scaling *scaling, const struct series *const *runs)
{
	struct parts natural[MODEL_RUNS_MAX] = {}, as_runs[MODEL_RUNS_MAX] = {};
	struct series *series = NULL;
	bool is_natural, is_irregular;
	u32 run, last = 0;

	for (run = 0; run < scaling->count; run++)
		if (runs[run] && (runs[run]->count || !runs[last]))
			last = run;
	if (!runs[last]) /* out of memory */
		return NULL;
	is_irregular = runs[last]->form == SERIES_TABLE || runs[last]->form == SERIES_RUNS;
	split(scaling, runs, last, natural);
	is_natural = count_alike(scaling, natural, last) > 1;
	if (is_natural)
		series = scale_split(scaling, natural, last);
	if (!series && is_irregular) {
		split_as_runs(scaling, runs, last, as_runs);
		if (count_alike(scaling, as_runs, last) > 1)
			series = scale_split(scaling, as_runs, last);
	}
	if (!series && !is_natural)
		series = scale_split(scaling, natural, last);
	scaling->has_points &= !series;
	scaling->is_alone = !series && !scaling->has_points && is_irregular;
	if (!series && scaling->same < scaling->count && runs[scaling->same])
		series = copy(runs[scaling->same]);
	for (run = 0; run < scaling->count; run++) {
		free_parts(&natural[run]);
		free_parts(&as_runs[run]);
	}
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

/* Every @count-th value of the tables of a class, from the one at @first on: one of each task. */
static struct series *take_values(const struct column_class *class, u64 count, u64 first)
{
	struct numbers values = {};
	struct series *taken;
	u64 task;

	for (task = 0; task < class->tasks; task++)
		numbers_add(&values, series_at(class->table, task * count + first));
	taken = values.is_failed ? NULL : series_make(values.values, values.count);
	numbers_free(&values);
	return taken;
}

/* Tables of all tasks of all runs that have as many values: their number, else 0. */
static u64 count_values(const struct scaling *scaling, const struct column_class *const *classes)
{
	const struct series *counts;
	u64 count = 0;
	u32 run;

	for (run = 0; run < scaling->count; run++) {
		if (!classes[run])
			continue;
		counts = classes[run]->params[classes[run]->param_count - 1];
		if (!series_is_constant(counts) || !classes[run]->table || (count && count != counts->base) ||
		    classes[run]->table->count != classes[run]->tasks * counts->base)
			return 0;
		count = counts->base;
	}
	return count;
}

/* Tables of @count values: each value is a series over the tasks. */
static struct series *scale_values(struct scaling *scaling, const struct column_class *const *classes, u64 count, u64 tasks)
{
	u64 *values = calloc(tasks * count + 1, sizeof(*values)), i, task;
	struct series *scaled, *made = NULL;
	bool is_right = values;
	u32 run;

	for (i = 0; i < count && is_right; i++) {
		struct series *of_runs[MODEL_RUNS_MAX] = {};

		for (run = 0; run < scaling->count; run++)
			of_runs[run] = classes[run] ? take_values(classes[run], count, i) : NULL;
		scaled = scale_series(scaling, (const struct series *const *)of_runs);
		is_right = scaled && scaled->count == tasks;
		for (task = 0; task < tasks && is_right; task++)
			values[task * count + i] = series_at(scaled, task);
		series_free(scaled);
		for (run = 0; run < scaling->count; run++)
			series_free(of_runs[run]);
	}
	if (is_right)
		made = series_make(values, tasks * count);
	free(values);
	return made;
}

static struct series *scale_tables(struct scaling *scaling, const struct column_class *const *classes, const struct series *const *tables,
				   u64 tasks)
{
	u64 count = count_values(scaling, classes);
	struct series *made = count && tasks <= TABLE_VALUES_MAX / count ? scale_values(scaling, classes, count, tasks) : NULL;

	return made ? made : scale_series(scaling, tables);
}

static bool scale_class(struct scaling *scaling, const struct column *const *runs, const struct column_class *model,
			struct column_class *class)
{
	const struct column_class *classes[MODEL_RUNS_MAX] = {};
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
			if (!runs[run] || index == runs[run]->class_count ||
			    runs[run]->classes[index].param_count != model->param_count)
				continue;
			classes[run] = &runs[run]->classes[index];
			of_runs[run] = i < model->param_count ? classes[run]->params[i] : classes[run]->table;
		}
		if (i < model->param_count)
			class->params[i] = scale_series(scaling, of_runs);
		else
			class->table = scale_tables(scaling, classes, of_runs, class->params[0]->count);
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
