// SPDX-License-Identifier: GPL-2.0-only
/*
 * columns.c - columns: made task by task, then of any task.
 */
#include "columns.h"

#define TABLE_MAX (1u << 27) /* values of one task */

/* -- making ------------------------------------------------------------------------------------------------ */

static struct column_class *class_get(struct column *column, const struct bytes *form)
{
	struct column_class *classes;
	u32 i;

	for (i = 0; i < column->class_count; i++)
		if (column->classes[i].form.count == form->count &&
		    !memcmp(column->classes[i].form.data, form->data, form->count))
			return &column->classes[i];
	classes = reallocarray(column->classes, column->class_count + 1, sizeof(*classes));
	if (!classes)
		return NULL;
	column->classes = classes;
	classes[column->class_count] = (struct column_class){};
	bytes_add(&classes[column->class_count].form, form->data, form->count);
	return &classes[column->class_count++];
}

/**
 * column_add_split() - add the series of the next task, split
 * @column: all zero at first
 * @split: the series
 *
 * Return: 0 or -ENOMEM.
 */
int column_add_split(struct column *column, const struct split_series *split)
{
	struct column_class *class = split->form.is_failed || split->params.is_failed || split->table.is_failed ?
					     NULL : class_get(column, &split->form);

	if (!class)
		return -ENOMEM;
	class->tasks++;
	class->param_count = (u32)split->params.count;
	numbers_add_all(&class->values, &split->params);
	numbers_add_all(&class->table_values, &split->table);
	numbers_add(&column->numbers, (u64)(class - column->classes));
	return class->values.is_failed || class->table_values.is_failed || column->numbers.is_failed || class->form.is_failed ?
		       -ENOMEM : 0;
}

/**
 * split_series_set() - split a series as a column has it
 * @split: its memory is used again; to be freed by split_series_free()
 * @series: the series
 */
void split_series_set(struct split_series *split, const struct series *series)
{
	split->form.count = split->params.count = split->table.count = 0;
	series_split(series, &split->form, &split->params, &split->table);
	numbers_add(&split->params, split->table.count);
}

/**
 * split_series_free() - free the memory of a split series
 */
void split_series_free(struct split_series *split)
{
	bytes_free(&split->form);
	numbers_free(&split->params);
	numbers_free(&split->table);
}

static int add_series(struct column *column, const struct series *series)
{
	struct split_series split = {};
	int err;

	split_series_set(&split, series);
	err = column_add_split(column, &split);
	split_series_free(&split);
	return err;
}

/**
 * column_add() - add the numbers of the next task
 * @column: all zero at first
 * @values: of the task
 *
 * Return: 0 or -ENOMEM.
 */
int column_add(struct column *column, const struct numbers *values)
{
	struct series *series = values->is_failed ? NULL : series_make(values->values, values->count);
	int err = series ? add_series(column, series) : -ENOMEM;

	series_free(series);
	return err;
}

static int finish_class(struct column_class *class)
{
	u64 *values = calloc(class->tasks + 1, sizeof(*values)), task;
	u32 i;

	class->params = calloc(class->param_count + 1, sizeof(*class->params));
	if (!values || !class->params) {
		free(values);
		return -ENOMEM;
	}
	for (i = 0; i < class->param_count; i++) {
		for (task = 0; task < class->tasks; task++)
			values[task] = class->values.values[task * class->param_count + i];
		class->params[i] = series_make(values, class->tasks);
		if (!class->params[i])
			break;
	}
	free(values);
	if (i < class->param_count)
		return -ENOMEM;
	numbers_free(&class->values);
	if (class->table_values.count) {
		class->table = series_make(class->table_values.values, class->table_values.count);
		if (!class->table)
			return -ENOMEM;
	}
	numbers_free(&class->table_values);
	return 0;
}

/**
 * column_finish() - no more tasks are to come
 *
 * Return: 0 or -ENOMEM.
 */
int column_finish(struct column *column)
{
	u32 i;
	int err = 0;

	for (i = 0; i < column->class_count && !err; i++)
		err = finish_class(&column->classes[i]);
	if (!err && column->class_count > 1) {
		column->class_of = series_make(column->numbers.values, column->numbers.count);
		err = column->class_of ? 0 : -ENOMEM;
	}
	numbers_free(&column->numbers);
	return err;
}

/**
 * column_free() - free the memory of a column
 */
void column_free(struct column *column)
{
	u32 i, j;

	for (i = 0; i < column->class_count; i++) {
		struct column_class *class = &column->classes[i];

		for (j = 0; class->params && j < class->param_count; j++)
			series_free(class->params[j]);
		free(class->params);
		series_free(class->table);
		bytes_free(&class->form);
		numbers_free(&class->values);
		numbers_free(&class->table_values);
	}
	free(column->classes);
	series_free(column->class_of);
	numbers_free(&column->numbers);
	*column = (struct column){};
}

/* -- the series of a task ----------------------------------------------------------------------------------- */

/* The class of a task, and which of its tasks it is. */
static const struct column_class *class_of(const struct column *column, u64 task, u64 *index)
{
	u64 class, i;

	*index = task;
	if (!column->class_of)
		return &column->classes[0];
	class = series_at(column->class_of, task);
	for (i = 0, *index = 0; i < task; i++)
		*index += series_at(column->class_of, i) == class;
	return class < column->class_count && *index < column->classes[class].tasks ? &column->classes[class] : NULL;
}

/* The values of the tables of a task: those of earlier tables come first. Return: 0, -EBADMSG if they are not all there, -ENOMEM. */
static int table_of(const struct column_class *class, u64 index, u64 count, u64 **table)
{
	const struct series *counts = class->params[class->param_count - 1];
	u64 first = 0, i;

	for (i = 0; i < index; i++)
		first += series_at(counts, i);
	if (!class->table || count > TABLE_MAX || first > class->table->count || count > class->table->count - first)
		return -EBADMSG;
	*table = malloc((count + 1) * sizeof(**table));
	for (i = 0; *table && i < count; i++)
		(*table)[i] = series_at(class->table, first + i);
	return *table ? 0 : -ENOMEM;
}

/**
 * column_series() - the series of a task
 * @column: finished, or read from a file
 * @task: index among the tasks of the column
 * @series: out: to be freed by series_free()
 *
 * Return: 0, -EBADMSG if it is not sound, -ENOMEM.
 */
int column_series(const struct column *column, u64 task, struct series **series)
{
	u64 index, *params, *table = NULL, table_count;
	const struct column_class *class = class_of(column, task, &index);
	int err = 0;
	u32 i;

	if (!class || !class->param_count)
		return -EBADMSG;
	params = calloc(class->param_count, sizeof(*params));
	if (!params)
		return -ENOMEM;
	for (i = 0; i < class->param_count; i++)
		params[i] = series_at(class->params[i], index);
	table_count = params[class->param_count - 1];
	if (table_count)
		err = table_of(class, index, table_count, &table);
	if (!err)
		err = series_join(class->form.data, class->form.count, params, class->param_count - 1, table, table_count, series);
	free(params);
	free(table);
	return err;
}

/* -- the series of all tasks, one after the other ------------------------------------------------------------- */

struct class_cursor {
	const struct column_class *class;
	struct cursor **params;
	struct cursor *table;
};

struct column_cursor {
	struct class_cursor *classes;
	u32 class_count;
	struct cursor *class_of;
};

static bool open_class(struct class_cursor *c, const struct column_class *class)
{
	u32 i;

	c->class = class;
	c->params = calloc(class->param_count + 1ul, sizeof(struct cursor *));
	if (!c->params)
		return false;
	for (i = 0; i < class->param_count; i++) {
		c->params[i] = cursor_open(class->params[i]);
		if (!c->params[i])
			return false;
	}
	c->table = class->table ? cursor_open(class->table) : NULL;
	return c->table || !class->table;
}

/**
 * column_cursor_open() - begin to read the series of all tasks
 * @column: finished, or read from a file; lives as long as the cursor
 *
 * Return: to be freed by column_cursor_close(); NULL if out of memory.
 */
struct column_cursor *column_cursor_open(const struct column *column)
{
	struct column_cursor *c = calloc(1, sizeof(*c));
	bool is_done;
	u32 i;

	if (!c)
		return NULL;
	c->classes = calloc(column->class_count + 1ul, sizeof(*c->classes));
	is_done = c->classes;
	for (i = 0; i < column->class_count && is_done; i++) {
		c->class_count++;
		is_done = open_class(&c->classes[i], &column->classes[i]);
	}
	if (is_done && column->class_of) {
		c->class_of = cursor_open(column->class_of);
		is_done = c->class_of;
	}
	if (is_done)
		return c;
	column_cursor_close(c);
	return NULL;
}

/**
 * column_cursor_next() - the series of the next task, split
 * @c: the cursor
 * @split: out; its memory is used again
 *
 * Return: 0, -EBADMSG if the column is not sound, or -ENOMEM.
 */
int column_cursor_next(struct column_cursor *c, struct split_series *split)
{
	u64 number = c->class_of ? cursor_next(c->class_of) : 0, count, i;
	struct class_cursor *class = number < c->class_count ? &c->classes[number] : NULL;

	split->form.count = split->params.count = split->table.count = 0;
	if (!class || cursor_is_at_end(class->params[0]))
		return -EBADMSG;
	bytes_add(&split->form, class->class->form.data, class->class->form.count);
	for (i = 0; i < class->class->param_count; i++)
		numbers_add(&split->params, cursor_next(class->params[i]));
	if (split->form.is_failed || split->params.is_failed)
		return -ENOMEM;
	count = split->params.values[split->params.count - 1];
	if (count > TABLE_MAX || (count && !class->table) || (count && count > class->table->series->count - class->table->index))
		return -EBADMSG;
	for (i = 0; i < count; i++)
		numbers_add(&split->table, cursor_next(class->table));
	return split->table.is_failed ? -ENOMEM : 0;
}

/**
 * split_series_join() - put a split series together again
 * @split: the series
 * @series: out: to be freed by series_free()
 *
 * Return: 0, -EBADMSG if it is not sound, -ENOMEM.
 */
int split_series_join(const struct split_series *split, struct series **series)
{
	if (!split->params.count)
		return -EBADMSG;
	return series_join(split->form.data, split->form.count, split->params.values, split->params.count - 1, split->table.values,
			   split->table.count, series);
}

/**
 * column_cursor_close() - end reading; NULL is allowed
 */
void column_cursor_close(struct column_cursor *c)
{
	u32 i, j;

	if (!c)
		return;
	for (i = 0; i < c->class_count; i++) {
		for (j = 0; c->classes[i].params && j < c->classes[i].class->param_count; j++)
			cursor_close(c->classes[i].params[j]);
		free(c->classes[i].params);
		cursor_close(c->classes[i].table);
	}
	free(c->classes);
	cursor_close(c->class_of);
	free(c);
}

/* -- bytes ------------------------------------------------------------------------------------------------------- */

/**
 * column_put() - a column as bytes
 * @bytes: are appended to
 * @column: finished
 */
void column_put(struct bytes *bytes, const struct column *column)
{
	u32 i, j;

	bytes_put(bytes, column->class_count);
	for (i = 0; i < column->class_count; i++) {
		const struct column_class *class = &column->classes[i];

		bytes_put(bytes, class->form.count);
		bytes_add(bytes, class->form.data, class->form.count);
		bytes_put(bytes, class->param_count);
		for (j = 0; j < class->param_count; j++)
			series_put(bytes, class->params[j]);
		bytes_put(bytes, class->table != NULL);
		if (class->table)
			series_put(bytes, class->table);
	}
	if (column->class_count > 1)
		series_put(bytes, column->class_of);
}

static bool get_class(struct input *in, struct column_class *class)
{
	size_t form_bytes = input_get_count(in);
	const u8 *form = input_get_bytes(in, form_bytes);
	u64 params, i;

	if (form)
		bytes_add(&class->form, form, form_bytes);
	params = input_get_count(in);
	in->is_out_of_memory |= class->form.is_failed;
	if (in->is_failed || class->form.is_failed || !params)
		return false;
	class->params = input_allocated(in, calloc(params, sizeof(*class->params)));
	if (!class->params)
		return false;
	class->param_count = (u32)params;
	for (i = 0; i < params; i++) {
		class->params[i] = series_get(in);
		if (!class->params[i] || class->params[i]->count != class->params[0]->count)
			return false;
	}
	class->tasks = class->params[0]->count;
	if (!input_get(in))
		return true;
	class->table = series_get(in);
	return class->table;
}

/**
 * column_get() - read a column
 * @in: from where; nothing in it is trusted
 * @tasks: that it is of
 * @column: out; to be freed by column_free() in any case
 *
 * Return: whether it is sound.
 */
bool column_get(struct input *in, u64 tasks, struct column *column)
{
	u64 classes = input_get_count(in), sum = 0, i;

	*column = (struct column){};
	if (!classes)
		return false;
	column->classes = input_allocated(in, calloc(classes, sizeof(*column->classes)));
	if (!column->classes)
		return false;
	column->class_count = (u32)classes;
	for (i = 0; i < classes; i++) {
		if (!get_class(in, &column->classes[i]) || column->classes[i].tasks > tasks - sum)
			return false;
		sum += column->classes[i].tasks;
	}
	if (classes > 1) {
		column->class_of = series_get(in);
		if (!column->class_of || column->class_of->count != tasks)
			return false;
	}
	return sum == tasks && !in->is_failed;
}
