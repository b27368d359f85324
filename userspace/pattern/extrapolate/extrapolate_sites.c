// SPDX-License-Identifier: GPL-2.0-only
/*
 * extrapolate_sites.c - runs without their call sites, which are those of one build of the program.
 */
#include "extrapolate.h"

#include <stdio.h>

/**
 * extrapolation_count_sites() - the number of runs with call sites
 */
u32 extrapolation_count_sites(const struct extrapolation *x)
{
	u32 run, count = 0;

	for (run = 0; run < x->scaling.count; run++)
		count += shapes_have_sites(&x->runs[run]->shapes);
	return count;
}

/**
 * extrapolation_drop_sites() - leave out the call sites of all runs
 * @x: the runs; those that are sorted by the caller do not change
 *
 * Return: 0, -EOPNOTSUPP if a run without call sites has no pattern, -ENOMEM.
 */
int extrapolation_drop_sites(struct extrapolation *x)
{
	u32 run;
	int err = 0;

	for (run = 0; run < x->scaling.count && !err; run++) {
		x->bare_runs[run] = x->runs[run];
		if (!shapes_have_sites(&x->runs[run]->shapes))
			continue;
		err = pattern_drop_sites(x->runs[run], &x->bare[run]);
		x->bare_runs[run] = x->bare[run];
	}
	if (err && err != -ENOMEM) {
		snprintf(x->refusal->text, sizeof(x->refusal->text), "without call sites, the operations of a run have no pattern");
		return -EOPNOTSUPP;
	}
	if (err)
		return err;
	x->runs = x->bare_runs;
	x->model = x->runs[x->scaling.count - 1];
	return 0;
}
