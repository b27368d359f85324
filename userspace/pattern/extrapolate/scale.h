/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scale.h - series and columns at another number of ranks. Private to extrapolate.c and scale.c.
 */
#ifndef IOTAPE_PATTERN_SCALE_H
#define IOTAPE_PATTERN_SCALE_H

#include "pattern/columns.h"
#include "model.h"

/**
 * struct scaling - from which runs to which number of ranks
 * @count: of runs
 * @ranks: of each, ascending
 * @target: number of ranks
 * @same: index of the run that has this number, or @count: it is one of the points, but need not have the form
 * @points: those of the last number that no function fits
 * @has_points: there is one
 * @is_alone: the last series that was refused has its form in one run only
 */
struct scaling {
	u32 count;
	u64 ranks[MODEL_RUNS_MAX];
	u64 target;
	u32 same;
	struct model_points points;
	bool has_points;
	bool is_alone;
};

struct series *scale_series(struct scaling *scaling, const struct series *const *runs);
bool scale_column(struct scaling *scaling, const struct column *const *runs, struct column *column);

#endif
