// SPDX-License-Identifier: GPL-2.0-only
/*
 * expression.c - write columns as expressions of loop variables and the rank, or as lists of all their numbers.
 */
#include "expression.h"

#include "language.h"
#include "pattern/sequence.h"

#define VALUES_MAX (1u << 22) /* that are examined for an expression */

typedef long long number;

/**
 * loop_variable() - the name of the variable of a loop
 * @index: 0 for the outermost
 * @text: room for it
 */
const char *loop_variable(u32 index, char text[16])
{
	if (index < 18)
		snprintf(text, 16, "%c", 'i' + (char)index);
	else
		snprintf(text, 16, "i%u", index);
	return text;
}

/* -- of ranks ---------------------------------------------------------------------------------------------- */

static bool is_equal(const u64 *values, u64 count)
{
	u64 i;

	for (i = 1; i < count; i++)
		if (values[i] != values[0])
			return false;
	return true;
}

/* Is a formula right without arithmetic modulo 2^64, which the text does not have? */
static bool is_exact(u64 value, u64 base, u64 step, u64 index, u64 step2, u64 index2)
{
	return (wide)(s64)value == (s64)base + (wide)(s64)step * index + (wide)(s64)step2 * index2;
}

/* Are they base + step * rank? */
static bool is_linear(const struct ranks *ranks, const u64 *values, u64 *base, u64 *step)
{
	s64 apart;
	u64 i;

	if (ranks->count < 2)
		return false;
	apart = (s64)(ranks->values[1] - ranks->values[0]);
	if (apart <= 0 || (s64)(values[1] - values[0]) % apart)
		return false;
	*step = (u64)((s64)(values[1] - values[0]) / apart);
	*base = values[0] - *step * ranks->values[0];
	for (i = 0; i < ranks->count; i++)
		if (!is_exact(values[i], *base, *step, ranks->values[i], 0, 0))
			return false;
	return true;
}

static bool is_plain_wrap(const struct ranks *ranks, const u64 *values, const struct series *s)
{
	u64 i;

	for (i = 0; i < ranks->count && s->form == SERIES_WRAP; i++)
		if (!is_exact(values[i], s->base, s->step, (i + s->first) % s->period, 0, 0))
			return false;
	return s->form == SERIES_WRAP;
}

static void print_wrap(FILE *out, const char *name, u64 first_rank, const struct series *s)
{
	s64 shift = (s64)((s->first + s->period - first_rank % s->period) % s->period);

	if (s->base)
		fprintf(out, "%lld + ", (number)s->base);
	if (s->step != 1)
		fprintf(out, "%lld*", (number)s->step);
	if (shift)
		fprintf(out, "((%s + %lld) mod %llu)", name, (number)shift, (unsigned long long)s->period);
	else
		fprintf(out, "(%s mod %llu)", name, (unsigned long long)s->period);
}

/* Rows and columns of a grid: linear in both. */
static bool print_grid(FILE *out, const struct ranks *ranks, const u64 *values, const struct series *s)
{
	const struct series *row = s->parts[0];
	u64 base, i;

	if (s->form != SERIES_CYCLE || row->form != SERIES_LINE || ranks->values[0] % s->period)
		return false;
	base = row->base - s->step * (ranks->values[0] / s->period);
	for (i = 0; i < ranks->count; i++)
		if (!is_exact(values[i], base, row->step, ranks->values[i] % s->period, s->step, ranks->values[i] / s->period))
			return false;
	if (base)
		fprintf(out, "%lld + ", (number)base);
	if (row->step)
		fprintf(out, "%lld*(%s mod %llu)", (number)row->step, ranks->name, (unsigned long long)s->period);
	if (row->step && s->step)
		fputs(" + ", out);
	if (s->step)
		fprintf(out, "%lld*(%s div %llu)", (number)s->step, ranks->name, (unsigned long long)s->period);
	return true;
}

static void print_sum(FILE *out, u64 base, u64 step, const char *name)
{
	if (base)
		fprintf(out, "%lld %c ", (number)base, (s64)step < 0 ? '-' : '+');
	else if ((s64)step < 0)
		fputc('-', out);
	if ((s64)step < 0)
		step = 0 - step;
	if (step != 1)
		fprintf(out, "%lld*", (number)step);
	fputs(name, out);
}

/**
 * expression_print_ranks() - one number of each task as an expression of the rank
 * @out: where
 * @ranks: the tasks
 * @values: as many as there are tasks
 */
void expression_print_ranks(FILE *out, const struct ranks *ranks, const u64 *values)
{
	u64 base, step;
	struct series *s;
	bool is_gapless;

	if (is_equal(values, ranks->count)) {
		fprintf(out, "%lld", (number)values[0]);
		return;
	}
	if (is_linear(ranks, values, &base, &step)) {
		print_sum(out, base, step, ranks->name);
		return;
	}
	s = series_make(values, ranks->count);
	is_gapless = s && ranks->values[ranks->count - 1] - ranks->values[0] == ranks->count - 1;
	if (is_gapless && is_plain_wrap(ranks, values, s)) {
		print_wrap(out, ranks->name, ranks->values[0], s);
	} else if (!is_gapless || !print_grid(out, ranks, values, s)) {
		fprintf(out, "by %s ", ranks->name);
		sequence_print(out, s);
	}
	series_free(s);
}

/* -- of loops ------------------------------------------------------------------------------------------------ */

/* Return: NULL if it is not sound or if out of memory. */
static struct series *series_of(const struct column *column, u64 task)
{
	struct series *series = NULL;

	column_series(column, task, &series);
	return series;
}

/* All numbers of a task. NULL if they are too many. */
static u64 *values_of(const struct column *column, u64 task, u64 *count)
{
	struct series *s = series_of(column, task);
	struct cursor *c = s && s->count <= VALUES_MAX ? cursor_open(s) : NULL;
	u64 *values = c ? malloc((s->count + 1) * sizeof(*values)) : NULL, i;

	for (i = 0; values && i < s->count; i++)
		values[i] = cursor_next(c);
	*count = values ? s->count : 0;
	cursor_close(c);
	series_free(s);
	return values;
}

static u64 trips_of(const struct loops *loops)
{
	u64 trips = 1;
	u32 i;

	for (i = 0; i < loops->count; i++)
		if (!loops->trips[i] || __builtin_mul_overflow(trips, loops->trips[i], &trips))
			return 0;
	return trips;
}

/*
 * Numbers of one task as a sum: the first and a factor for each loop. Return: whether they are one.
 */
static bool fit_values(const u64 *values, u64 count, const struct loops *loops, u64 *sum)
{
	u64 stride = 1, at, rest, value;
	u32 i;

	sum[0] = values[0];
	for (i = loops->count; i-- > 0; stride *= loops->trips[i])
		sum[i + 1] = loops->trips[i] > 1 ? values[stride] - values[0] : 0;
	for (at = 0; at < count; at++) {
		value = sum[0];
		rest = at;
		for (i = loops->count; i-- > 0; rest /= loops->trips[i])
			value += sum[i + 1] * (rest % loops->trips[i]);
		if (value != values[at])
			return false;
	}
	return true;
}

/* The same by the formula of the numbers: a line in the inner loops, and a cycle for each of the others. */
static bool fit_form(const struct series *s, const struct loops *loops, u64 *sum)
{
	u32 from = 0, to, i;
	u64 stride, outer;

	for (; s->form == SERIES_CYCLE; s = s->parts[0], from = to) {
		for (to = loops->count, stride = 1; to > from && stride < s->period;)
			stride *= loops->trips[--to];
		if (stride != s->period)
			return false;
		for (i = to, outer = 1; i-- > from; outer *= loops->trips[i])
			sum[i + 1] = loops->trips[i] > 1 ? s->step * outer : 0;
	}
	if (s->form != SERIES_LINE)
		return false;
	for (i = loops->count, stride = 1; i-- > from; stride *= loops->trips[i])
		sum[i + 1] = loops->trips[i] > 1 ? s->step * stride : 0;
	sum[0] = s->base;
	return true;
}

/* Are all values of a sum signed numbers, as the text has no arithmetic modulo 2^64? */
static bool is_in_range(const u64 *sum, const struct loops *loops)
{
	wide low = (s64)sum[0], high = low, part;
	u32 i;

	for (i = 0; i < loops->count; i++) {
		if (loops->trips[i] >> 62)
			return false;
		part = (wide)(s64)sum[i + 1] * (loops->trips[i] - 1);
		low += part < 0 ? part : 0;
		high += part > 0 ? part : 0;
	}
	return low >= INT64_MIN && high <= INT64_MAX;
}

/* Are the numbers of a task a sum? Adds to @looked the numbers that were examined. */
static bool fit(const struct column *column, u64 task, const struct loops *loops, u64 *sum, u64 *looked)
{
	struct series *s = series_of(column, task);
	bool is_sum = s && s->count && trips_of(loops) == s->count;
	u64 *values = NULL, count;

	if (is_sum && !fit_form(s, loops, sum)) {
		values = values_of(column, task, &count);
		is_sum = values && fit_values(values, count, loops, sum);
		*looked += count;
	}
	free(values);
	series_free(s);
	return is_sum && is_in_range(sum, loops);
}

/* The sums of all tasks, one parameter after the other. NULL if there is one that has none. */
static u64 *fit_tasks(const struct column *column, const struct loops *loops, const struct ranks *ranks)
{
	u64 *sums = calloc((loops->count + 1) * ranks->count + 1, sizeof(*sums)), task;
	u64 sum[LOOPS_MAX + 1], looked = 0;
	struct loops own = *loops;
	u32 i;

	for (task = 0; sums && task < ranks->count; task++) {
		for (i = 0; i < loops->count; i++)
			if (loops->trips_by_task[i])
				own.trips[i] = loops->trips_by_task[i][task];
		if (!fit(column, task, &own, sum, &looked) || looked > 8ull * VALUES_MAX) {
			free(sums);
			return NULL;
		}
		for (i = 0; i <= loops->count; i++)
			sums[i * ranks->count + task] = sum[i];
	}
	return sums;
}

/* A constant times a variable, behind others or not. */
static void print_term(FILE *out, bool is_behind, u64 factor, const char *variable)
{
	bool is_negative = (s64)factor < 0;

	fputs(is_behind ? is_negative ? " - " : " + " : is_negative ? "-" : "", out);
	factor = is_negative ? 0 - factor : factor;
	if (factor != 1)
		fprintf(out, "%lld*", (number)factor);
	fputs(variable, out);
}

static void print_sums(FILE *out, const u64 *sums, const struct loops *loops, const struct ranks *ranks)
{
	bool is_begun = false;
	char name[16];
	u64 task;
	u32 i;

	for (i = 0; i <= loops->count; i++) {
		const u64 *values = sums + i * ranks->count;
		bool is_constant = is_equal(values, ranks->count);

		for (task = 0; task < ranks->count && !values[task]; task++)
			;
		if (task == ranks->count)
			continue;
		if (i && is_constant) {
			print_term(out, is_begun, values[0], loop_variable(i - 1, name));
			is_begun = true;
			continue;
		}
		if (is_begun)
			fputs(" + ", out);
		is_begun = true;
		fputs(i ? "(" : "", out);
		expression_print_ranks(out, ranks, values);
		if (i)
			fprintf(out, ")*%s", loop_variable(i - 1, name));
	}
	if (!is_begun)
		fputc('0', out);
}

/* All numbers of a task, to be freed by the caller; NULL if out of memory. */
static char *list_task(const struct column *column, u64 task)
{
	struct series *s = series_of(column, task);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out) {
		series_free(s);
		return NULL;
	}
	fputs("each ", out);
	if (s)
		sequence_print(out, s);
	else
		fputs("{...}", out);
	fclose(out);
	series_free(s);
	return text;
}

/* Do all tasks have the same numbers, as is seen without their numbers? */
static bool is_uniform(const struct column *column)
{
	const struct column_class *class = &column->classes[0];
	u32 i;

	for (i = 0; i < class->param_count && series_is_constant(class->params[i]); i++)
		;
	return column->class_count == 1 && !class->table && i == class->param_count;
}

/* Numbers without an expression: those of all tasks, or of each. */
static void print_lists(FILE *out, const struct column *column, const struct ranks *ranks)
{
	char *first = list_task(column, 0), *text;
	u64 task, same;

	for (same = is_uniform(column) ? ranks->count : 1; same < ranks->count; same++) {
		bool is_same;

		text = list_task(column, same);
		is_same = first && text && !strcmp(first, text);
		free(text);
		if (!is_same)
			break;
	}
	if (same < ranks->count)
		fprintf(out, "by %s {", ranks->name);
	for (task = 0; task < (same < ranks->count ? ranks->count : 1); task++) {
		text = task ? list_task(column, task) : first;
		fprintf(out, "%s%s", task ? ", " : "", text ? text : "{...}");
		free(text);
	}
	if (same < ranks->count)
		fputc('}', out);
}

/**
 * expression_print() - print a column as an expression
 * @out: output file
 * @column: the column
 * @loops: loops around the element with the column
 * @ranks: the tasks
 *
 * A column that is not an expression is printed as a list of its numbers.
 */
void expression_print(FILE *out, const struct column *column, const struct loops *loops, const struct ranks *ranks)
{
	u64 *sums = fit_tasks(column, loops, ranks);

	if (sums)
		print_sums(out, sums, loops, ranks);
	else
		print_lists(out, column, ranks);
	free(sums);
}

/**
 * expression_by_task() - the number of each task, if the numbers of a column do not differ within a task
 * @column: the column
 * @ranks: the tasks
 *
 * Return: the numbers, to be freed by the caller; NULL if they differ, or if out of memory.
 */
u64 *expression_by_task(const struct column *column, const struct ranks *ranks)
{
	u64 *numbers = calloc(ranks->count + 1, sizeof(*numbers)), task;
	bool is_constant = numbers;

	for (task = 0; task < ranks->count && is_constant; task++) {
		struct series *s = series_of(column, task);

		is_constant = s && s->count && series_is_constant(s);
		numbers[task] = is_constant ? s->base : 0;
		series_free(s);
	}
	if (is_constant)
		return numbers;
	free(numbers);
	return NULL;
}

/**
 * expression_constant() - is a column one number, of all tasks?
 * @value: out: the number
 */
bool expression_constant(const struct column *column, u64 *value)
{
	const struct column_class *class = &column->classes[0];

	if (column->class_count != 1 || class->form.count != 1 || class->form.data[0] != SERIES_LINE || class->param_count < 3 ||
	    !series_is_constant(class->params[1]) || !series_is_constant(class->params[2]) || class->params[2]->base)
		return false;
	*value = class->params[1]->base;
	return true;
}

/**
 * expression_first_break() - where numbers of the first task leave the line on which they begin
 * @column: the column
 * @stride: examine each number that has an index divisible by this
 * @count: of examined numbers
 *
 * Return: how many are on the line; @count if all are.
 */
u64 expression_first_break(const struct column *column, u64 stride, u64 count)
{
	u64 total, *values = values_of(column, 0, &total), i;

	if (!values || count < 2 || (count - 1) * stride >= total) {
		free(values);
		return count;
	}
	for (i = 2; i < count && values[i * stride] - values[(i - 1) * stride] == values[stride] - values[0]; i++)
		;
	free(values);
	return i;
}
