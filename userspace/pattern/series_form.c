// SPDX-License-Identifier: GPL-2.0-only
/*
 * series_form.c - series as bytes, and as a form that several ranks share with parameters that they do not.
 */
#include "series.h"

#define WORK_MAX (1u << 26) /* runs whose lengths are added up */

/* Numbers of a form besides its parts, in order. */
static u32 params_of(struct series *s, u64 *params[4])
{
	switch (s->form) {
	case SERIES_LINE:
		params[0] = &s->base;
		params[1] = &s->step;
		return 2;
	case SERIES_CYCLE:
		params[0] = &s->period;
		params[1] = &s->step;
		return 2;
	case SERIES_WRAP:
		params[0] = &s->base;
		params[1] = &s->step;
		params[2] = &s->period;
		params[3] = &s->first;
		return 4;
	case SERIES_RUNS:
		params[0] = &s->period;
		return 1;
	default:
		return 0;
	}
}

/* The number of values that a part has, which its form does not repeat. */
static u64 count_of_part(const struct series *s)
{
	return s->period;
}

static u32 parts_of(enum series_form form)
{
	return form == SERIES_CYCLE ? 1 : form == SERIES_RUNS ? 3 : 0;
}

/* The numbers of a series that was read make sense, and no division is by 0. Parts are examined separately. */
static bool is_sound(const struct series *s)
{
	switch (s->form) {
	case SERIES_CYCLE:
		return s->period && s->period <= s->count;
	case SERIES_WRAP:
		return s->period && s->first < s->period && s->period >> 62 == 0 && s->count >> 62 == 0;
	case SERIES_RUNS:
		return s->period && s->period <= s->count;
	default:
		return true;
	}
}

/* A length of 0 is not a run; runs have as many values as the series. Lengths that are a formula may be many. */
static bool has_sound_runs(struct input *in, const struct series *s)
{
	const struct series *lengths = s->parts[RUN_LENGTHS];
	struct cursor *c;
	u64 sum = 0, length;

	if (s->form != SERIES_RUNS)
		return true;
	if (series_is_constant(lengths))
		return lengths->base && lengths->base <= s->count && lengths->base * s->period == s->count &&
		       s->count / s->period == lengths->base;
	in->work += s->period;
	if (in->work > WORK_MAX || s->period > WORK_MAX)
		return false;
	c = input_allocated(in, cursor_open(lengths));
	if (!c)
		return false;
	while (!cursor_is_at_end(c)) {
		length = cursor_next(c);
		if (!length || length > s->count - sum)
			break;
		sum += length;
	}
	cursor_close(c);
	return sum == s->count;
}

/* -- bytes ---------------------------------------------------------------------------------------------- */

static void put_values(struct bytes *bytes, const struct series *s)
{
	struct bytes plain = {}, differences = {};
	u64 i;

	for (i = 0; i < s->count; i++) {
		bytes_put_signed(&plain, s->values[i]);
		bytes_put_signed(&differences, s->values[i] - (i ? s->values[i - 1] : 0));
	}
	bytes_put(bytes, differences.count < plain.count);
	bytes_add(bytes, differences.count < plain.count ? differences.data : plain.data,
		  differences.count < plain.count ? differences.count : plain.count);
	bytes->is_failed |= plain.is_failed || differences.is_failed;
	bytes_free(&plain);
	bytes_free(&differences);
}

static void put_form(struct bytes *bytes, const struct series *series)
{
	struct series copy = *series;
	u64 *params[4];
	u32 count = params_of(&copy, params), i;

	bytes_put(bytes, series->form);
	for (i = 0; i < count; i++)
		bytes_put_signed(bytes, *params[i]);
	if (series->form == SERIES_TABLE)
		put_values(bytes, series);
	for (i = 0; i < parts_of(series->form); i++)
		put_form(bytes, series->parts[i]);
}

/**
 * series_put() - a series as bytes
 * @bytes: are appended to
 * @series: to be read again by series_get()
 */
void series_put(struct bytes *bytes, const struct series *series)
{
	bytes_put(bytes, series->count);
	put_form(bytes, series);
}

static void get_values(struct input *in, struct series *s)
{
	bool is_differences = input_get(in);
	u64 i;

	if (s->count > in->count - in->at) {
		in->is_failed = true;
		return;
	}
	s->values = input_allocated(in, calloc(s->count + 1, sizeof(*s->values)));
	if (!s->values)
		return;
	for (i = 0; i < s->count; i++)
		s->values[i] = input_get_signed(in) + (is_differences && i ? s->values[i - 1] : 0);
}

static struct series *get_form(struct input *in, u64 count, u32 depth)
{
	struct series *s = input_allocated(in, calloc(1, sizeof(*s)));
	u64 *params[4], form = input_get(in);
	u32 param_count, i;

	if (!s || form >= SERIES_FORMS || depth == SERIES_DEPTH_MAX)
		goto err;
	s->form = (enum series_form)form;
	s->count = count;
	param_count = params_of(s, params);
	for (i = 0; i < param_count; i++)
		*params[i] = input_get_signed(in);
	if (!is_sound(s))
		goto err;
	if (s->form == SERIES_TABLE)
		get_values(in, s);
	for (i = 0; i < parts_of(s->form) && !in->is_failed; i++)
		s->parts[i] = get_form(in, count_of_part(s), depth + 1);
	if (!in->is_failed && has_sound_runs(in, s))
		return s;
err:
	in->is_failed = true;
	series_free(s);
	return NULL;
}

/**
 * series_get() - a series from bytes
 * @in: from where; nothing in it is trusted
 *
 * Return: the series; NULL if it is not sound or if out of memory: then @in has failed.
 */
struct series *series_get(struct input *in)
{
	return get_form(in, input_get(in), 0);
}

/* -- forms and parameters --------------------------------------------------------------------------------- */

static void split_form(const struct series *series, struct bytes *form, struct numbers *params, struct numbers *table)
{
	struct series copy = *series;
	u8 byte = (u8)series->form;
	u64 *of_form[4];
	u32 count = params_of(&copy, of_form), i;
	u64 j;

	bytes_add(form, &byte, 1);
	for (i = 0; i < count; i++)
		numbers_add(params, *of_form[i]);
	for (j = 0; series->form == SERIES_TABLE && j < series->count; j++)
		numbers_add(table, series->values[j]);
	for (i = 0; i < parts_of(series->form); i++)
		split_form(series->parts[i], form, params, table);
}

/**
 * series_split() - separate the form of a series from its numbers
 * @series: the series
 * @form: is appended to: equal for series that differ in numbers only
 * @params: is appended to: numbers of the formulas, as many for each series of this form
 * @table: is appended to: values of tables, whose number may differ
 */
void series_split(const struct series *series, struct bytes *form, struct numbers *params, struct numbers *table)
{
	numbers_add(params, series->count);
	split_form(series, form, params, table);
}

struct joining {
	struct input form;
	const u64 *params;
	size_t param_count;
	const u64 *table;
	size_t table_count;
};

static struct series *join_form(struct joining *j, u64 count, u32 depth)
{
	const u8 *form = input_get_bytes(&j->form, 1);
	struct series *s = input_allocated(&j->form, calloc(1, sizeof(*s)));
	u64 *params[4];
	u32 param_count, i;

	if (!s || !form || *form >= SERIES_FORMS || depth == SERIES_DEPTH_MAX)
		goto err;
	s->form = (enum series_form)*form;
	s->count = count;
	param_count = params_of(s, params);
	if (param_count > j->param_count)
		goto err;
	for (i = 0; i < param_count; i++)
		*params[i] = *j->params++;
	j->param_count -= param_count;
	if (!is_sound(s))
		goto err;
	if (s->form == SERIES_TABLE) {
		if (count > j->table_count)
			goto err;
		s->values = input_allocated(&j->form, malloc(count * sizeof(*s->values) + 1));
		if (!s->values)
			goto err;
		memcpy(s->values, j->table, count * sizeof(*s->values));
		j->table += count;
		j->table_count -= count;
	}
	for (i = 0; i < parts_of(s->form); i++) {
		s->parts[i] = join_form(j, count_of_part(s), depth + 1);
		if (!s->parts[i])
			goto err;
	}
	if (has_sound_runs(&j->form, s))
		return s;
err:
	series_free(s);
	return NULL;
}

/**
 * series_join() - a series of a form and numbers
 * @form, @form_bytes: as from series_split(); need not be sound
 * @params, @param_count: likewise
 * @table, @table_count: likewise
 * @series: out: to be freed by series_free()
 *
 * Return: 0, -EBADMSG if it is not sound or if something is left over, -ENOMEM.
 */
int series_join(const u8 *form, size_t form_bytes, const u64 *params, size_t param_count, const u64 *table, size_t table_count,
		struct series **series)
{
	struct joining j = { .form = { .data = form, .count = form_bytes },
			     .table = table, .table_count = table_count };
	struct series *s;

	if (!param_count)
		return -EBADMSG;
	j.params = params + 1;
	j.param_count = param_count - 1;
	s = join_form(&j, params[0], 0);
	if (!s)
		return j.form.is_out_of_memory ? -ENOMEM : -EBADMSG;
	if (j.param_count || j.table_count || j.form.at != j.form.count) {
		series_free(s);
		return -EBADMSG;
	}
	*series = s;
	return 0;
}
