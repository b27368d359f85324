// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_grids.c - grids of ranks whose sides the runs do not determine.
 *
 * With 4, 6 and 8 ranks, the grids of MPI_Dims_create have two columns, like those of a program that always has two columns. With 12 ranks,
 * they differ. The operations of the runs are the same in both cases, so none of them can be chosen.
 */
#include "extrapolate.h"

/* Periods of a grid, by its dimensions: the first of each, and of the next. */
static const u32 first_periods[] = { [2] = 0, 2, 6 };

static u64 power(u64 base, u32 exponent)
{
	return exponent ? base * power(base, exponent - 1) : 1;
}

/* The shortest side of a balanced grid. */
static u64 shortest_side(u64 ranks, u32 dimensions)
{
	u64 side = 1, next;

	for (next = 2; power(next, dimensions) <= ranks; next++)
		if (!(ranks % next))
			side = next;
	return side;
}

/* After how many ranks a coordinate, or a pair of them, repeats: ranks may be numbered from either side of the grid. */
static u64 period_of_grid(u64 ranks, u32 which)
{
	u64 shortest = shortest_side(ranks, which < 2 ? 2 : 3), middle = shortest_side(ranks / shortest, 2);

	switch (which) {
	case 0:
	case 2:
		return shortest;
	case 1:
	case 3:
		return ranks / shortest; /* also of the two longest sides */
	case 4:
		return shortest * middle;
	default:
		return ranks / shortest / middle;
	}
}

static bool has_period(const struct series *series)
{
	return series && (series->form == SERIES_CYCLE || series->form == SERIES_WRAP);
}

/* Have all runs the periods of a grid? */
static bool is_grid(const struct scaling *scaling, const struct series *const *runs, const struct series *made, u32 which)
{
	u32 run, count = 0;

	for (run = 0; run < scaling->count; run++) {
		if (!has_period(runs[run]) || runs[run]->form != made->form)
			continue;
		if (runs[run]->period <= 1 || runs[run]->period >= scaling->ranks[run] ||
		    runs[run]->period != period_of_grid(scaling->ranks[run], which))
			return false;
		count++;
	}
	return count > 1;
}

/* Each period of a formula is a dimension more. */
static u32 count_dimensions(const struct series *series)
{
	u32 count = has_period(series) ? 1 : 0, i;

	for (i = 0; i < 3; i++)
		if (series->parts[i])
			count += count_dimensions(series->parts[i]) - 1;
	return count + 1;
}

/* A grid in a formula. */
struct found {
	bool is_plane; /* of two dimensions */
	bool is_other; /* in the result */
};

static void find_grid(const struct scaling *scaling, const struct series *const *runs, const struct series *made, u32 dimensions,
		      struct found *found)
{
	const struct series *parts[MODEL_RUNS_MAX];
	u32 which, part, run;

	for (which = first_periods[dimensions]; which < first_periods[dimensions + 1] && has_period(made); which++) {
		if (!is_grid(scaling, runs, made, which))
			continue;
		found->is_plane |= dimensions == 2;
		found->is_other |= made->period != period_of_grid(scaling->target, which);
	}
	for (part = 0; part < 3; part++) {
		for (run = 0; run < scaling->count; run++)
			parts[run] = runs[run] && runs[run]->form == made->form ? runs[run]->parts[part] : NULL;
		if (made->parts[part])
			find_grid(scaling, parts, made->parts[part], dimensions, found);
	}
}

/* The parameters of a column in all runs. */
static void take_params(const struct scaling *scaling, const struct column *const *runs, const struct column *made, u32 param,
			const struct series **of_runs)
{
	u32 run;

	for (run = 0; run < scaling->count; run++) {
		const struct column *column = runs[run];
		bool is_alike = column && column->class_count == 1 && column->classes[0].param_count == made->classes[0].param_count &&
				column->classes[0].tasks == scaling->ranks[run];

		of_runs[run] = is_alike ? column->classes[0].params[param] : NULL;
	}
}

/**
 * extrapolate_find_grid() - do ranks form a grid?
 * @scaling: from which runs to where
 * @runs: the column of each run; NULL where there is none
 * @made: the column at the other number of ranks
 * @is_other: out: they do, and the result has another grid
 *
 * Return: whether it is a grid of two dimensions.
 */
bool extrapolate_find_grid(const struct scaling *scaling, const struct column *const *runs, const struct column *made, bool *is_other)
{
	const struct series *of_runs[MODEL_RUNS_MAX];
	struct found found = {};
	u32 dimensions, i;

	for (i = 0; made->class_count == 1 && i < made->classes[0].param_count; i++) {
		take_params(scaling, runs, made, i, of_runs);
		dimensions = count_dimensions(made->classes[0].params[i]);
		if (dimensions == 2 || dimensions == 3)
			find_grid(scaling, of_runs, made->classes[0].params[i], dimensions, &found);
	}
	*is_other = found.is_other;
	return found.is_plane;
}

static bool has_side(const struct scaling *scaling, const struct series *const *runs, const struct series *made)
{
	struct model_points points = {};
	u32 run;

	if (!series_is_constant(made))
		return false;
	for (run = 0; run < scaling->count; run++)
		if (runs[run] && series_is_constant(runs[run])) {
			points.ranks[points.count] = scaling->ranks[run];
			points.values[points.count++] = runs[run]->base;
		}
	return points.count > 1 && model_is_side(&points, scaling->target, made->base);
}

/**
 * extrapolate_has_side() - may a number that all ranks have be proportional to a side of their grid, and the result is not?
 * @scaling, @runs, @made: as for extrapolate_find_grid()
 */
bool extrapolate_has_side(const struct scaling *scaling, const struct column *const *runs, const struct column *made)
{
	const struct series *of_runs[MODEL_RUNS_MAX];
	u32 i;

	for (i = 0; made->class_count == 1 && i < made->classes[0].param_count; i++) {
		take_params(scaling, runs, made, i, of_runs);
		if (has_side(scaling, of_runs, made->classes[0].params[i]))
			return true;
	}
	return false;
}
