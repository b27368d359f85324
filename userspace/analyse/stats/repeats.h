/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * repeats.h - repeated runs: their median and scatter.
 */
#ifndef IOTAPE_REPEATS_H
#define IOTAPE_REPEATS_H

#include "comparison.h"

/**
 * struct repeats - runs of the same kind
 * @first: index of the first of them in the comparison
 * @count: number of them, at least 2
 * @median_s, @min_s, @max_s: of their seconds
 * @change: of replays, @median_s / the seconds of their original - 1; NAN if that is not known
 * @is_within_noise: they scatter by more than @change amounts to
 */
struct repeats {
	u32 first;
	u32 count;
	double median_s;
	double min_s;
	double max_s;
	double change;
	bool is_within_noise;
};

u32 repeats_find(const struct comparison *comparison, struct repeats repeats[COMPARISON_RUNS_MAX / 2]);
double median_sort(double *values, u32 count);

#endif
