/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expression.h - numbers of a column as an expression of loop variables and the rank.
 */
#ifndef IOTAPE_PATTERN_EXPRESSION_H
#define IOTAPE_PATTERN_EXPRESSION_H

#include <stdio.h>

#include "pattern/columns.h"

#define LOOPS_MAX 96 /* more than a structure has, and those into which a run is divided */

/**
 * struct loops - the loops around a run, from the outermost
 * @count: of them
 * @trips: iterations of each; 0: they differ
 * @trips_by_task: if they differ between tasks only: of each task; otherwise NULL
 */
struct loops {
	u32 count;
	u64 trips[LOOPS_MAX];
	const u64 *trips_by_task[LOOPS_MAX];
};

/**
 * struct ranks - the tasks of a group
 * @name: of the variable: "rank" or "task"
 * @count: of tasks
 * @values: ranks
 */
struct ranks {
	const char *name;
	u64 count;
	u64 *values;
};

void expression_print(FILE *out, const struct column *column, const struct loops *loops, const struct ranks *ranks);
u64 *expression_by_task(const struct column *column, const struct ranks *ranks);
bool expression_constant(const struct column *column, u64 *value);
u64 expression_first_break(const struct column *column, u64 stride, u64 count);
void expression_print_ranks(FILE *out, const struct ranks *ranks, const u64 *values);
const char *loop_variable(u32 index, char text[16]);

#endif
