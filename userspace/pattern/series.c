// SPDX-License-Identifier: GPL-2.0-only
/*
 * series.c - find the formula of a sequence of numbers.
 */
#include "series.h"

#define AS_RUNS_MAX 4096

static u32 parts_of(enum series_form form)
{
	return form == SERIES_CYCLE ? 1 : form == SERIES_RUNS ? 3 : 0;
}

/**
 * series_free() - free a series; NULL is allowed
 */
void series_free(struct series *series)
{
	u32 i;

	if (!series)
		return;
	for (i = 0; i < 3; i++)
		series_free(series->parts[i]);
	free(series->values);
	free(series);
}

static struct series *series_new(enum series_form form, u64 count)
{
	struct series *s = calloc(1, sizeof(*s));

	if (s) {
		s->form = form;
		s->count = count;
	}
	return s;
}

/* -- lines and wraps ----------------------------------------------------------------------------- */

static bool is_line(const u64 *v, size_t n)
{
	size_t i;

	for (i = 2; i < n; i++)
		if (v[i] - v[i - 1] != v[1] - v[0])
			return false;
	return true;
}

static bool is_wrap(const struct series *s, const u64 *v)
{
	u64 i;

	for (i = 0; i < s->count; i++)
		if (series_at(s, i) != v[i])
			return false;
	return true;
}

/* With this step: the first jump determines the period. */
static struct series *wrap_of_step(const u64 *v, size_t n, u64 step)
{
	struct series *s;
	u64 jump, back;
	size_t i = 1;

	while (i < n && v[i] - v[i - 1] == step)
		i++;
	if (!step || i == n)
		return NULL;
	jump = v[i] - v[i - 1];
	back = step - jump; /* step * period */
	if ((s64)back == INT64_MIN)
		return NULL;
	if ((s64)back / (s64)step < (s64)i || (s64)back % (s64)step)
		return NULL;
	s = series_new(SERIES_WRAP, n);
	if (!s)
		return NULL;
	s->step = step;
	s->period = (u64)((s64)back / (s64)step);
	s->first = s->period - i;
	s->base = v[0] - step * s->first;
	if (is_wrap(s, v))
		return s;
	series_free(s);
	return NULL;
}

static struct series *make_wrap(const u64 *v, size_t n)
{
	struct series *s = NULL;

	if (n < 4)
		return NULL;
	if (v[1] - v[0] == v[2] - v[1] || v[2] - v[1] != v[3] - v[2])
		s = wrap_of_step(v, n, v[1] - v[0]);
	return s ? s : wrap_of_step(v, n, v[2] - v[1]);
}

/**
 * series_as_wrap() - a short series as the wrap that a longer one would be
 * @series: of any form; one that has fewer than four numbers is a line or a table, if it is made
 *
 * Return: to be freed by series_free(); NULL if it is not a wrap, if it is one of several, or if out of memory.
 */
struct series *series_as_wrap(const struct series *series)
{
	u64 values[16], i;

	if (series->count < 3 || series->count > ARRAY_SIZE(values))
		return NULL;
	for (i = 0; i < series->count; i++)
		values[i] = series_at(series, i);
	return wrap_of_step(values, series->count, values[1] - values[0]);
}

/* -- cycles ------------------------------------------------------------------------------------------ */

/*
 * The smallest period of the differences: their length minus their longest border, found as by Knuth, Morris and
 * Pratt. 0 if out of memory.
 */
static size_t period_of(const u64 *v, size_t n)
{
	size_t m = n - 1, i, border = 0, *borders = calloc(m + 1, sizeof(*borders));

	if (!borders)
		return 0;
	for (i = 1; i < m; i++) {
		while (border && v[i + 1] - v[i] != v[border + 1] - v[border])
			border = borders[border];
		if (v[i + 1] - v[i] == v[border + 1] - v[border])
			border++;
		borders[i + 1] = border;
	}
	border = borders[m];
	free(borders);
	return m - border;
}

static struct series *make_cycle(const u64 *v, size_t n, size_t period)
{
	struct series *s = series_new(SERIES_CYCLE, n);

	if (!s)
		return NULL;
	s->period = period;
	s->step = v[period] - v[0];
	s->parts[0] = series_make(v, period);
	if (s->parts[0])
		return s;
	series_free(s);
	return NULL;
}

/* -- runs and tables ----------------------------------------------------------------------------------- */

/* Values from @at that lie on a line. */
static size_t run_at(const u64 *v, size_t n, size_t at)
{
	size_t end = at + 2;

	if (end > n)
		return n - at;
	while (end < n && v[end] - v[end - 1] == v[at + 1] - v[at])
		end++;
	return end - at;
}

static size_t count_runs(const u64 *v, size_t n)
{
	size_t at, runs = 0;

	for (at = 0; at < n; at += run_at(v, n, at))
		runs++;
	return runs;
}

static struct series *make_runs(const u64 *v, size_t n, size_t runs)
{
	struct series *s = series_new(SERIES_RUNS, n);
	u64 *parts = calloc(runs, 3 * sizeof(*parts));
	size_t at, length, i = 0;

	if (!s || !parts)
		goto err;
	s->period = runs;
	for (at = 0; at < n; at += length, i++) {
		length = run_at(v, n, at);
		parts[i] = v[at];
		parts[runs + i] = length > 1 ? v[at + 1] - v[at] : 0;
		parts[2 * runs + i] = length;
	}
	for (i = 0; i < 3; i++) {
		s->parts[i] = series_make(parts + i * runs, runs);
		if (!s->parts[i])
			goto err;
	}
	free(parts);
	return s;
err:
	free(parts);
	series_free(s);
	return NULL;
}

static struct series *make_table(const u64 *v, size_t n)
{
	struct series *s = series_new(SERIES_TABLE, n);

	if (!s)
		return NULL;
	s->values = malloc(n * sizeof(*v));
	if (!s->values) {
		series_free(s);
		return NULL;
	}
	memcpy(s->values, v, n * sizeof(*v));
	return s;
}

static size_t bytes_of(const struct series *s)
{
	struct bytes bytes = {};
	size_t count;

	series_put(&bytes, s);
	count = bytes.is_failed ? SIZE_MAX : bytes.count;
	bytes_free(&bytes);
	return count;
}

/* Runs if they are shorter. */
static struct series *make_irregular(const u64 *v, size_t n)
{
	size_t runs = count_runs(v, n);
	struct series *table = make_table(v, n), *s;

	if (!table || 3 * runs > n)
		return table;
	s = make_runs(v, n, runs);
	if (!s || bytes_of(s) > bytes_of(table)) {
		series_free(s);
		return table;
	}
	series_free(table);
	return s;
}

/**
 * series_make() - the formula of a sequence
 * @v: the numbers
 * @n: their number
 *
 * Takes time and memory in proportion to @n.
 *
 * Return: the series, to be freed by series_free(); NULL if out of memory.
 */
struct series *series_make(const u64 *v, size_t n)
{
	struct series *s;
	size_t period;

	if (n < 3 || is_line(v, n)) {
		s = series_new(SERIES_LINE, n);
		if (s && n) {
			s->base = v[0];
			s->step = n > 1 ? v[1] - v[0] : 0;
		}
		return s;
	}
	period = period_of(v, n);
	if (!period)
		return NULL;
	if (2 * period <= n)
		return make_cycle(v, n, period);
	s = make_wrap(v, n);
	return s ? s : make_irregular(v, n);
}

/**
 * series_as_runs() - a short series as the runs that a longer one would be
 * @series: of any form; one that has few numbers is a table, if runs take more bytes
 *
 * Return: to be freed by series_free(); NULL if it is one run, if it is too long, or if out of memory.
 */
struct series *series_as_runs(const struct series *series)
{
	struct series *runs = NULL;
	size_t count;
	u64 *values, i;

	if (series->count < 2 || series->count > AS_RUNS_MAX)
		return NULL;
	values = calloc(series->count, sizeof(*values));
	if (!values)
		return NULL;
	for (i = 0; i < series->count; i++)
		values[i] = series_at(series, i);
	count = count_runs(values, series->count);
	if (count > 1)
		runs = make_runs(values, series->count, count);
	free(values);
	return runs;
}

/* -- values --------------------------------------------------------------------------------------------- */

static u64 runs_at(const struct series *s, u64 index)
{
	u64 run, length;

	for (run = 0; run < s->period; run++) {
		length = series_at(s->parts[RUN_LENGTHS], run);
		if (index < length)
			return series_at(s->parts[RUN_STARTS], run) +
			       index * series_at(s->parts[RUN_STEPS], run);
		index -= length;
	}
	return 0;
}

/**
 * series_at() - one of the numbers
 * @s: the series
 * @index: from 0
 *
 * Takes time in proportion to the number of runs, if it has runs; else it is constant.
 */
u64 series_at(const struct series *s, u64 index)
{
	switch (s->form) {
	case SERIES_LINE:
		return s->base + s->step * index;
	case SERIES_CYCLE:
		return series_at(s->parts[0], index % s->period) + s->step * (index / s->period);
	case SERIES_WRAP:
		return s->base + s->step * ((index + s->first) % s->period);
	case SERIES_RUNS:
		return runs_at(s, index);
	default:
		return index < s->count ? s->values[index] : 0;
	}
}

/**
 * series_is_constant() - are all numbers equal?
 */
bool series_is_constant(const struct series *s)
{
	return s->form == SERIES_LINE && (!s->step || s->count < 2);
}

/**
 * cursor_open() - begin to read a series
 *
 * Return: to be freed by cursor_close(), before the series is freed; NULL if out of memory.
 */
struct cursor *cursor_open(const struct series *series)
{
	struct cursor *c = calloc(1, sizeof(*c));
	u32 i;

	if (!c)
		return NULL;
	c->series = series;
	for (i = 0; i < parts_of(series->form); i++) {
		c->parts[i] = cursor_open(series->parts[i]);
		if (!c->parts[i]) {
			cursor_close(c);
			return NULL;
		}
	}
	return c;
}

/**
 * cursor_close() - end reading; NULL is allowed
 */
void cursor_close(struct cursor *c)
{
	u32 i;

	if (!c)
		return;
	for (i = 0; i < 3; i++)
		cursor_close(c->parts[i]);
	free(c);
}

static void cursor_rewind(struct cursor *c)
{
	u32 i;

	c->index = 0;
	c->run_left = 0;
	for (i = 0; i < parts_of(c->series->form); i++)
		cursor_rewind(c->parts[i]);
}

/**
 * cursor_is_at_end() - have all numbers been read?
 */
bool cursor_is_at_end(const struct cursor *c)
{
	return c->index == c->series->count;
}

/**
 * cursor_next() - the next number
 *
 * Return: 0 after the last.
 */
u64 cursor_next(struct cursor *c)
{
	const struct series *s = c->series;
	u64 value;

	if (c->index >= s->count)
		return 0;
	switch (s->form) {
	case SERIES_CYCLE:
		if (c->index && c->index % s->period == 0)
			cursor_rewind(c->parts[0]);
		value = cursor_next(c->parts[0]) + s->step * (c->index / s->period);
		break;
	case SERIES_RUNS:
		if (!c->run_left) { /* a run of length 0 is refused when a series is read */
			c->run_value = cursor_next(c->parts[RUN_STARTS]);
			c->run_step = cursor_next(c->parts[RUN_STEPS]);
			c->run_left = cursor_next(c->parts[RUN_LENGTHS]);
		}
		value = c->run_value;
		c->run_value += c->run_step;
		c->run_left--;
		break;
	default:
		value = series_at(s, c->index);
	}
	c->index++;
	return value;
}
