/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * series.h - a sequence of numbers as a formula.
 *
 * A loop gives each operand of its operations a sequence of values, and a group of ranks gives each parameter of
 * the formula a sequence of values, one per rank. Both are described alike, without loss. Arithmetic is modulo 2^64, so
 * negative numbers need no care.
 *
 *	line	base + step * i
 *	cycle	inner[i mod period] + step * (i / period)	affine in two loop variables, and nested in more
 *	wrap	base + step * ((i + first) mod period)		neighbours on a ring
 *	runs	pieces of a line each; starts, steps and lengths of the pieces are series
 *	table	the values
 */
#ifndef IOTAPE_PATTERN_SERIES_H
#define IOTAPE_PATTERN_SERIES_H

#include "vector.h"

#define SERIES_DEPTH_MAX 64

enum series_form { SERIES_LINE, SERIES_CYCLE, SERIES_WRAP, SERIES_RUNS, SERIES_TABLE, SERIES_FORMS };

enum { RUN_STARTS, RUN_STEPS, RUN_LENGTHS };

/**
 * struct series - a sequence of numbers
 * @form: of the formula
 * @count: of the numbers
 * @base: of a line or wrap
 * @step: of a line, cycle or wrap
 * @period: of a cycle or wrap; of runs, how many there are
 * @first: of a wrap
 * @parts: of a cycle one, of runs three
 * @values: of a table
 */
struct series {
	enum series_form form;
	u64 count;
	u64 base;
	u64 step;
	u64 period;
	u64 first;
	struct series *parts[3];
	u64 *values;
};

struct series *series_make(const u64 *values, size_t count);
struct series *series_as_wrap(const struct series *series);
struct series *series_as_runs(const struct series *series);
void series_free(struct series *series);
u64 series_at(const struct series *series, u64 index);
bool series_is_constant(const struct series *series);

/* The representation in a file; series_get() returns NULL for an invalid series. */
void series_put(struct bytes *bytes, const struct series *series);
struct series *series_get(struct input *in);

/* Split a series into the parts that series of several ranks can share, and the others. */
void series_split(const struct series *series, struct bytes *form, struct numbers *params, struct numbers *table);
int series_join(const u8 *form, size_t form_bytes, const u64 *params, size_t param_count, const u64 *table, size_t table_count,
		struct series **series);

/**
 * struct cursor - a place in a series that is read from its beginning, in constant memory
 */
struct cursor {
	const struct series *series;
	u64 index;
	u64 run_left;
	u64 run_value;
	u64 run_step;
	struct cursor *parts[3];
};

struct cursor *cursor_open(const struct series *series);
void cursor_close(struct cursor *cursor);
u64 cursor_next(struct cursor *cursor);
bool cursor_is_at_end(const struct cursor *cursor);

#endif
