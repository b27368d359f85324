// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_creators.c - runs in which other ranks were the first to create the files that several ranks create.
 */
#include "extrapolate.h"

static void free_ordered(struct extrapolation *x)
{
	u32 run;

	for (run = 0; run < MODEL_RUNS_MAX; run++) {
		pattern_free(x->ordered[run]);
		x->ordered[run] = NULL;
	}
}

/**
 * extrapolation_order_creators() - let the lowest of the ranks that create a file at the same time create it in each run
 * @x: the runs; those that are sorted by the caller do not change
 * @is_changed: out: some run has other operations
 *
 * Return: 0 or -ENOMEM. A run that has no such pattern stays as it is.
 */
int extrapolation_order_creators(struct extrapolation *x, bool *is_changed)
{
	u32 run;
	int err = 0;

	*is_changed = false;
	free_ordered(x);
	for (run = 0; run < x->scaling.count && err != -ENOMEM; run++) {
		err = pattern_order_creators(x->runs[run], &x->ordered[run]);
		*is_changed |= !err && x->ordered[run];
		x->ordered_runs[run] = x->ordered[run] ?: x->runs[run];
	}
	if (err == -ENOMEM)
		return err;
	x->runs = x->ordered_runs;
	x->model = x->runs[x->scaling.count - 1];
	return 0;
}

/**
 * extrapolation_close() - free the runs that were made
 */
void extrapolation_close(struct extrapolation *x)
{
	u32 run;

	free_ordered(x);
	for (run = 0; run < MODEL_RUNS_MAX; run++)
		pattern_free(x->bare[run]);
}
