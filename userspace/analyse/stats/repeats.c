// SPDX-License-Identifier: GPL-2.0-only
/*
 * repeats.c - find runs that were made more than once.
 */
#include "repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The facts that runs must have in common: a fact that both lack is equal. */
static const char *const common_facts[] = { "host",   IOT_FACT_STORAGE, IOT_FACT_REPLAY_OF, "engine", "pace",
					    "data",   "as",	       "command",	    "mmap" };

static bool is_repeat(const struct comparison_run *a, const struct comparison_run *b)
{
	size_t i;

	if (a->is_replay != b->is_replay)
		return false;
	for (i = 0; i < sizeof(common_facts) / sizeof(common_facts[0]); i++) {
		const char *x = profile_fact(a->profile, common_facts[i]);
		const char *y = profile_fact(b->profile, common_facts[i]);

		if ((x || y) && (!x || !y || strcmp(x, y)))
			return false;
	}
	return true;
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * median_sort() - sort values
 * @values: sorted in place, the smallest first
 * @count: at least 1
 *
 * Return: the median.
 */
double median_sort(double *values, u32 count)
{
	qsort(values, count, sizeof(*values), compare_values);
	return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

static void measure(const struct comparison *c, struct repeats *r, double *seconds)
{
	const struct comparison_run *original = c->runs[r->first].original;

	r->median_s = median_sort(seconds, r->count);
	r->min_s = seconds[0];
	r->max_s = seconds[r->count - 1];
	r->change = original && !isnan(c->runs[r->first].change) ? r->median_s / original->seconds - 1 : NAN;
	r->is_within_noise = !isnan(r->change) &&
			     r->max_s - r->min_s > fabs(r->median_s - original->seconds);
}

/**
 * repeats_find() - which runs were made more than once
 * @comparison: the runs
 * @repeats: filled in
 *
 * Repeats have the host, the storage, and the command in common; replays also the capture, engine, pace and
 * treatment of data.
 *
 * Return: the number of kinds of runs with repeats.
 */
u32 repeats_find(const struct comparison *comparison, struct repeats repeats[COMPARISON_RUNS_MAX / 2])
{
	bool is_taken[COMPARISON_RUNS_MAX] = {};
	double seconds[COMPARISON_RUNS_MAX];
	u32 i, j, count = 0;

	for (i = 0; i < comparison->run_count; i++) {
		struct repeats found = { .first = i };

		for (j = i; j < comparison->run_count; j++) {
			if (is_taken[j] || !is_repeat(&comparison->runs[i], &comparison->runs[j]))
				continue;
			is_taken[j] = true;
			seconds[found.count++] = comparison->runs[j].seconds;
		}
		if (found.count < 2)
			continue;
		measure(comparison, &found, seconds);
		repeats[count++] = found;
	}
	return count;
}
