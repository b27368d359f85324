/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * columns.h - the numbers of a column of a structure, of all tasks that have the structure.
 *
 * A column is a series for each task. Series of the same form are a class: their parameters are series over the tasks, so
 * that an offset may be linear in the rank, or a neighbour ((rank + 1) mod size).
 */
#ifndef IOTAPE_PATTERN_COLUMNS_H
#define IOTAPE_PATTERN_COLUMNS_H

#include "series.h"

/**
 * struct column_class - the tasks whose series have the same form
 * @form: of the series
 * @tasks: their number
 * @param_count: of parameters, of which the last is the number of values in tables
 * @params: over the tasks
 * @table: values of tables of all tasks, one after the other; NULL if there are none
 * @values, @table_values: while it is made: parameters of one task after the other, and tables
 */
struct column_class {
	struct bytes form;
	u64 tasks;
	u32 param_count;
	struct series **params;
	struct series *table;
	struct numbers values;
	struct numbers table_values;
};

/**
 * struct column - a series for each task
 * @class_of: which class each task is in; NULL if there is one
 * @numbers: while it is made: the same
 */
struct column {
	struct column_class *classes;
	u32 class_count;
	struct series *class_of;
	struct numbers numbers;
};

/**
 * struct split_series - the series of a task, as a column has it; all zero is an empty one
 * @form, @params, @table: from series_split(); the last one of @params is the number of values in @table
 */
struct split_series {
	struct bytes form;
	struct numbers params;
	struct numbers table;
};

struct column_cursor;

void split_series_set(struct split_series *split, const struct series *series);
int split_series_join(const struct split_series *split, struct series **series);
void split_series_free(struct split_series *split);
int column_add_split(struct column *column, const struct split_series *split);
struct column_cursor *column_cursor_open(const struct column *column);
int column_cursor_next(struct column_cursor *c, struct split_series *split);
void column_cursor_close(struct column_cursor *c);

int column_add(struct column *column, const struct numbers *values);
int column_finish(struct column *column);
void column_free(struct column *column);
int column_series(const struct column *column, u64 task, struct series **series);
void column_put(struct bytes *bytes, const struct column *column);
bool column_get(struct input *in, u64 tasks, struct column *column);

#endif
