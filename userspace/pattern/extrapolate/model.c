// SPDX-License-Identifier: GPL-2.0-only
/*
 * model.c - find functions of the number of ranks.
 */
#include "model.h"

#include <math.h>

typedef __int128 wide;

#define DIVISOR_MAX 64 /* of a number of ranks per something, such as an aggregator */

/* -- terms ----------------------------------------------------------------------------------------------------- */

enum term {
	TERM_ONE,
	TERM_RANKS,
	TERM_INVERSE,
	TERM_SHORT, /* side of the grid */
	TERM_LONG,
	TERM_SHORT_INVERSE,
	TERM_LONG_INVERSE,
	TERM_SQUARE,
	TERM_LOG,
	TERM_QUOTIENT, /* and so many more, by divisor: rounded down, then up */
};

/* Simple ones first, as several may fit. */
static const signed char term_sets[][3] = {
	{ TERM_ONE, -1, -1 },
	{ TERM_RANKS, -1, -1 },
	{ TERM_INVERSE, -1, -1 },
	{ TERM_ONE, TERM_RANKS, -1 },
	{ TERM_ONE, TERM_INVERSE, -1 },
	{ TERM_SHORT, -1, -1 },
	{ TERM_LONG, -1, -1 },
	{ TERM_ONE, TERM_SHORT, -1 },
	{ TERM_ONE, TERM_LONG, -1 },
	{ TERM_ONE, TERM_SHORT_INVERSE, -1 },
	{ TERM_ONE, TERM_LONG_INVERSE, -1 },
	{ TERM_ONE, TERM_SQUARE, -1 },
	{ TERM_RANKS, TERM_SQUARE, -1 },
	{ TERM_ONE, TERM_LOG, -1 },
	{ TERM_RANKS, TERM_LONG, -1 },
	{ TERM_RANKS, TERM_SHORT, -1 },
	{ TERM_ONE, TERM_RANKS, TERM_SQUARE },
	{ TERM_ONE, TERM_RANKS, TERM_INVERSE },
	{ TERM_ONE, TERM_RANKS, TERM_SHORT },
	{ TERM_ONE, TERM_RANKS, TERM_LONG },
	{ TERM_ONE, TERM_SHORT, TERM_LONG },
};

static u64 short_side(u64 ranks)
{
	u64 side = (u64)sqrt((double)ranks);

	while (side > 1 && ranks % side)
		side--;
	return side ? side : 1;
}

/* As an integer: a quotient by a number of ranks is multiplied by @scale. Return: false if the term does not exist. */
static bool term_at(u32 term, u64 ranks, wide scale, wide *value)
{
	switch (term) {
	case TERM_ONE:
		*value = 1;
		return true;
	case TERM_RANKS:
		*value = ranks;
		return true;
	case TERM_INVERSE:
		*value = scale / ranks;
		return true;
	case TERM_SHORT:
		*value = short_side(ranks);
		return true;
	case TERM_LONG:
		*value = ranks / short_side(ranks);
		return true;
	case TERM_SHORT_INVERSE:
		*value = scale / short_side(ranks);
		return true;
	case TERM_LONG_INVERSE:
		*value = scale / (ranks / short_side(ranks));
		return true;
	case TERM_SQUARE:
		*value = (wide)ranks * ranks;
		return true;
	case TERM_LOG:
		*value = 63 - __builtin_clzll(ranks);
		return !(ranks & (ranks - 1));
	default:
		term -= TERM_QUOTIENT;
		*value = term % 2 ? (ranks + term / 2 + 1) / (term / 2 + 2) : ranks / (term / 2 + 2);
		return true;
	}
}

static u64 divisor_of(u64 a, u64 b)
{
	while (b) {
		u64 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A multiple of all numbers of ranks; 0 if it would be too large. */
static wide scale_of(const struct model_points *points, u64 ranks)
{
	u64 scale = ranks;
	u32 i;

	for (i = 0; i < points->count; i++) {
		scale = scale / divisor_of(scale, points->ranks[i]) * points->ranks[i];
		if (scale >> 40)
			return 0;
	}
	return scale;
}

/* -- exact functions ----------------------------------------------------------------------------------------------- */

static wide determinant(wide m[3][3], u32 size)
{
	if (size == 1)
		return m[0][0];
	if (size == 2)
		return m[0][0] * m[1][1] - m[0][1] * m[1][0];
	return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
	       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/*
 * By Cramer's rule from the first points; the others must fit. All are whole numbers divided by one determinant.
 */
static bool fit_terms(const struct model_points *points, const signed char *set, u64 ranks, u64 *value)
{
	wide scale = scale_of(points, ranks), rows[MODEL_RUNS_MAX + 1][3], m[3][3], factors[3], whole, sum;
	u32 size = set[1] < 0 ? 1 : set[2] < 0 ? 2 : 3, i, j, k;

	if (!scale || points->count < size || (points->count == size && size > 1 && points->count > 2))
		return false;
	for (i = 0; i <= points->count; i++)
		for (j = 0; j < size; j++)
			if (!term_at((u32)set[j], i < points->count ? points->ranks[i] : ranks, scale, &rows[i][j]))
				return false;
	for (i = 0; i < size; i++)
		for (j = 0; j < size; j++)
			m[i][j] = rows[i][j];
	whole = determinant(m, size);
	if (!whole)
		return false;
	for (k = 0; k < size; k++) {
		for (i = 0; i < size; i++)
			for (j = 0; j < size; j++)
				m[i][j] = j == k ? (wide)(s64)points->values[i] : rows[i][j];
		factors[k] = determinant(m, size);
	}
	for (i = 0; i <= points->count; i++) {
		for (j = 0, sum = 0; j < size; j++)
			sum += factors[j] * rows[i][j];
		if (sum % whole || (i < points->count && sum / whole != (wide)(s64)points->values[i]))
			return false;
	}
	*value = (u64)(s64)(sum / whole);
	return true;
}

/**
 * model_exact() - extrapolate a value to another number of ranks
 * @points: known values; numbers are signed
 * @ranks: the other number of ranks
 * @value: out: the value there
 *
 * Return: whether a function fits all points and is a whole number there.
 */
bool model_exact(const struct model_points *points, u64 ranks, u64 *value)
{
	signed char set[3] = { TERM_ONE, 0, -1 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(term_sets); i++)
		if (fit_terms(points, term_sets[i], ranks, value))
			return true;
	/* One of many divisors fits three points by chance. */
	for (i = 0; i < 2 * (DIVISOR_MAX - 1) && points->count > 3 && TERM_QUOTIENT + i <= INT8_MAX; i++) {
		set[1] = (signed char)(TERM_QUOTIENT + i);
		if (fit_terms(points, set, ranks, value))
			return true;
	}
	return false;
}

/**
 * model_is_side() - may a number that is not the same in all runs be proportional to a side of a balanced grid of two dimensions?
 * @points: known values
 * @ranks: another number of ranks
 * @value: its value there
 *
 * Return: whether a side gives all points, and another value there.
 */
bool model_is_side(const struct model_points *points, u64 ranks, u64 value)
{
	static const signed char sides[][3] = { { TERM_SHORT, -1, -1 }, { TERM_LONG, -1, -1 } };
	u64 other;
	u32 i;

	for (i = 1; i < points->count && points->values[i] == points->values[0]; i++)
		;
	if (i >= points->count)
		return false;
	for (i = 0; i < ARRAY_SIZE(sides); i++)
		if (fit_terms(points, sides[i], ranks, &other) && other == value)
			return false;
	for (i = 0; i < ARRAY_SIZE(sides); i++)
		if (fit_terms(points, sides[i], ranks, &other))
			return true;
	return false;
}

/* -- times ------------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	u32 terms;
} forms[] = {
	[MODEL_CONSTANT] = { "constant", 1 },
	[MODEL_LINEAR] = { "linear", 2 },
	[MODEL_INVERSE] = { "inverse", 1 },
	[MODEL_INVERSE_PLUS] = { "inverse plus constant", 2 },
	[MODEL_POLYNOMIAL] = { "polynomial", 3 },
	[MODEL_LOADED] = { "loaded", 0 },
};

/**
 * model_name() - name of a form of functions
 */
const char *model_name(enum model_form form)
{
	return forms[form].name;
}

static double time_term(enum model_form form, u32 term, double n)
{
	switch (form) {
	case MODEL_INVERSE:
		return 1 / n;
	case MODEL_INVERSE_PLUS:
		return term ? 1 / n : 1;
	default:
		return term == 0 ? 1 : term == 1 ? n : n * n;
	}
}

/**
 * model_value() - a time at a number of ranks
 */
double model_value(const struct model_fit *fit, u64 ranks)
{
	double sum = 0;
	u32 i;

	if (fit->loaded)
		return fit->loaded->value_ns(fit->factors, ranks);
	for (i = 0; i < forms[fit->form].terms; i++)
		sum += fit->factors[i] * time_term(fit->form, i, (double)ranks);
	return sum;
}

/* Least squares, by the normal equations. Return: false if they have no solution. */
static bool solve(struct model_fit *fit, const u64 *ranks, const double *values, u32 count)
{
	u32 size = forms[fit->form].terms, i, j, k, row;
	double m[3][4] = {}, factor;

	for (row = 0; row < count; row++)
		for (i = 0; i < size; i++) {
			double term = time_term(fit->form, i, (double)ranks[row]);

			for (j = 0; j < size; j++)
				m[i][j] += term * time_term(fit->form, j, (double)ranks[row]);
			m[i][3] += term * values[row];
		}
	for (i = 0; i < size; i++) {
		if (fabs(m[i][i]) < 1e-12)
			return false;
		for (j = 0; j < size; j++) {
			factor = m[j][i] / m[i][i];
			for (k = 0; k < 4 && j != i; k++)
				m[j][k] -= factor * m[i][k];
		}
	}
	for (i = 0; i < size; i++)
		fit->factors[i] = m[i][3] / m[i][i];
	return true;
}

static double squares_of(const struct model_fit *fit, const u64 *ranks, const double *values, u32 count)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += pow(values[i] - model_value(fit, ranks[i]), 2);
	return sum;
}

/* A function of another module takes the place of a built-in one if it fits better. */
static void try_loaded(struct model_fit *best, double least, const u64 *ranks, const double *values, u32 count,
		       const struct iotape_model *loaded)
{
	struct model_fit fit = { .form = MODEL_LOADED, .loaded = loaded };
	uint64_t numbers[MODEL_RUNS_MAX];
	double error;
	u32 i;

	for (i = 0; i < count; i++)
		numbers[i] = ranks[i];
	if (count <= loaded->factors || loaded->fit(numbers, values, count, fit.factors))
		return;
	error = squares_of(&fit, ranks, values, count) / (count - loaded->factors);
	if (error < least) /* false, too, if it is not a number */
		*best = fit;
}

/**
 * model_fit() - the function that fits times best
 * @ranks: numbers of ranks, all different
 * @values: times, as many
 * @count: their number
 * @loaded: one more form of functions, or NULL
 *
 * The best one has the smallest mean square of errors by degrees of freedom; another one than a constant must halve it at
 * least, and the times must differ by 2 %, as times vary, and a wrong slope does more harm than none. A polynomial must
 * leave two degrees of freedom.
 */
struct model_fit model_fit(const u64 *ranks, const double *values, u32 count, const struct iotape_model *loaded)
{
	struct model_fit best = { .form = MODEL_CONSTANT }, fit;
	double least, total, error;
	u32 form;

	solve(&best, ranks, values, count);
	total = squares_of(&best, ranks, values, count);
	least = count > 1 ? total / (count - 1) / 2 : 0;
	if (total < pow(0.02 * best.factors[0], 2) * count)
		least = 0;
	for (form = MODEL_CONSTANT + 1; form < MODEL_LOADED; form++) {
		fit = (struct model_fit){ .form = (enum model_form)form };
		if (forms[form].terms + (form == MODEL_POLYNOMIAL) >= count || !solve(&fit, ranks, values, count))
			continue;
		error = squares_of(&fit, ranks, values, count) / (count - forms[form].terms);
		if (error >= least)
			continue;
		best = fit;
		least = error;
	}
	if (loaded)
		try_loaded(&best, least, ranks, values, count, loaded);
	best.explained = total > 0 ? 1 - squares_of(&best, ranks, values, count) / total : 1;
	return best;
}
