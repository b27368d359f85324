/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * extrapolate.h - private to extrapolate*.c.
 */
#ifndef IOTAPE_PATTERN_EXTRAPOLATE_H
#define IOTAPE_PATTERN_EXTRAPOLATE_H

#include "scale.h"
#include "pattern/state.h"

_Static_assert((int)MODEL_FORMS == (int)EXTRAPOLATION_FORMS, "pattern.h has as many forms");

#define TASKS_MAX (1u << 24)

/**
 * struct extrapolation - patterns of runs, and where they lead
 * @runs: by number of ranks
 * @model: the largest run
 * @tasks_per_rank: see extrapolate_tasks.c
 * @bare, @bare_runs: the runs without call sites, if these were left out; NULL for those that have none
 * @ordered, @ordered_runs: the runs with other creators of files; NULL for those that stay the same
 */
struct extrapolation {
	const struct pattern *const *runs;
	struct scaling scaling;
	const struct pattern *model;
	const struct extrapolation_options *options;
	struct pattern_refusal *refusal;
	u64 tasks_per_rank;
	struct pattern *bare[MODEL_RUNS_MAX];
	const struct pattern *bare_runs[MODEL_RUNS_MAX];
	struct pattern *ordered[MODEL_RUNS_MAX];
	const struct pattern *ordered_runs[MODEL_RUNS_MAX];
};

/* extrapolate_compensation.c */
enum extrapolation_class extrapolation_class_of(const struct shape *shape);
int extrapolate_compensation(struct extrapolation *x, struct pattern *made, struct extrapolation_summary *summary);

/* extrapolate_creators.c */
int extrapolation_order_creators(struct extrapolation *x, bool *is_changed);
void extrapolation_close(struct extrapolation *x);

/* extrapolate_grids.c */
bool extrapolate_find_grid(const struct scaling *scaling, const struct column *const *runs, const struct column *made, bool *is_other);
bool extrapolate_has_side(const struct scaling *scaling, const struct column *const *runs, const struct column *made);

/* extrapolate_pieces.c */
void extrapolate_pieces(struct extrapolation *x, const struct node *node, u32 column, const struct group *const *groups,
			struct group *made);

/* extrapolate_sites.c */
u32 extrapolation_count_sites(const struct extrapolation *x);
int extrapolation_drop_sites(struct extrapolation *x);

/* extrapolate_tasks.c */
void extrapolation_divide_tasks(struct extrapolation *x);
struct series *extrapolate_fact(struct extrapolation *x, const struct series *const *runs);
struct series *extrapolate_positions(struct extrapolation *x, const struct series *const *runs);

/* extrapolate_times.c */
void extrapolate_times(struct extrapolation *x, struct pattern *made, struct extrapolation_summary *summary);

#endif
