// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare.c - an extrapolated pattern and that of a run with the same number of ranks.
 */
#include "state.h"

#include <math.h>

static bool is_same_part(const struct pattern *a, u32 index_a, const struct pattern *b, u32 index_b)
{
	const struct node *x = nodes_at(&a->nodes, index_a), *y = nodes_at(&b->nodes, index_b);
	size_t bytes_x, bytes_y;
	const u8 *shape_x, *shape_y;
	u32 i;

	if (x->type != y->type || x->body_count != y->body_count)
		return false;
	if (x->type == NODE_RUN) {
		shape_x = shapes_bytes(&a->shapes, x->shape, &bytes_x);
		shape_y = shapes_bytes(&b->shapes, y->shape, &bytes_y);
		return bytes_x == bytes_y && !memcmp(shape_x, shape_y, bytes_x);
	}
	for (i = 0; i < x->body_count; i++)
		if (!is_same_part(a, x->body[i], b, y->body[i]))
			return false;
	return true;
}

/**
 * pattern_find_group() - the group of a pattern that has the structure of a group of another one
 * @of: the pattern of @group
 * @group: the group
 * @in: the pattern to look in
 *
 * Return: NULL if there is none.
 */
const struct group *pattern_find_group(const struct pattern *of, const struct group *group, const struct pattern *in)
{
	u32 i;

	for (i = 0; i < in->group_count; i++)
		if (is_same_part(of, group->root, in, in->groups[i].root))
			return &in->groups[i];
	return NULL;
}

/**
 * pattern_same_parts() - the number of common parts at the beginnings of two structures
 */
u32 pattern_same_parts(const struct pattern *a, u32 root_a, const struct pattern *b, u32 root_b)
{
	const struct node *x = nodes_at(&a->nodes, root_a), *y = nodes_at(&b->nodes, root_b);
	u32 i;

	for (i = 0; i < x->body_count && i < y->body_count && is_same_part(a, x->body[i], b, y->body[i]); i++)
		;
	return i;
}

struct sums {
	double made_ns;
	double measured_ns;
	double error_ns; /* without sign, of each position */
};

static void add(struct sums *sums, const struct times *made, const struct times *measured)
{
	double made_ns = made->mean_ns * (double)made->count, measured_ns = measured->mean_ns * (double)measured->count;

	sums->made_ns += made_ns;
	sums->measured_ns += measured_ns;
	sums->error_ns += fabs(made_ns - measured_ns);
}

static struct pattern_time_error error_of(const struct sums *sums)
{
	return (struct pattern_time_error){
		.made_ns = sums->made_ns,
		.measured_ns = sums->measured_ns,
		.share = sums->measured_ns > 0 ? sums->error_ns / sums->measured_ns : 0,
	};
}

static void compare_times(const struct pattern *made, const struct pattern *measured, struct pattern_comparison *comparison)
{
	struct sums thinks = {}, durations = {};
	const struct group *group;
	u32 i, run;

	for (i = 0; i < made->group_count && made->has_times && measured->has_times; i++) {
		group = pattern_find_group(made, &made->groups[i], measured);
		for (run = 0; group && run < nodes_at(&measured->nodes, group->root)->runs; run++) {
			add(&thinks, &made->groups[i].times[run].think, &group->times[run].think);
			add(&durations, &made->groups[i].times[run].duration, &group->times[run].duration);
		}
	}
	comparison->think = error_of(&thinks);
	comparison->duration = error_of(&durations);
}

/* Do call sites prevent that a group is found? */
static bool has_other_sites(const struct pattern *made, const struct pattern *measured)
{
	u32 i;

	if (!shapes_have_sites(&made->shapes) && !shapes_have_sites(&measured->shapes))
		return false;
	for (i = 0; i < made->group_count; i++)
		if (!pattern_find_group(made, &made->groups[i], measured))
			return true;
	return false;
}

static bool is_same(const struct pattern *made, const struct pattern *measured)
{
	return !memcmp(made->digest, measured->digest, sizeof(made->digest));
}

/* Regardless of their call sites. */
static int compare_same_times(const struct pattern *made, const struct pattern *measured, struct pattern_comparison *comparison)
{
	struct pattern *bare_made = NULL, *bare_measured = NULL;
	bool is_bare = has_other_sites(made, measured);
	int err = 0;

	if (is_bare)
		err = pattern_drop_sites(made, &bare_made);
	if (is_bare && !err)
		err = pattern_drop_sites(measured, &bare_measured);
	if (!err)
		compare_times(bare_made ?: made, bare_measured ?: measured, comparison);
	pattern_free(bare_made);
	pattern_free(bare_measured);
	return err;
}

/**
 * pattern_compare() - are the operations of two patterns the same, and how far are the times from each other?
 * @made: extrapolated
 * @measured: of a run
 * @comparison: out; times of the same operations only, regardless of their call sites
 *
 * In each run, another rank may be the first of those that create a file at the same time.
 *
 * Return: 0 or a negative errno.
 */
int pattern_compare(const struct pattern *made, const struct pattern *measured, struct pattern_comparison *comparison)
{
	struct pattern *ordered_made = NULL, *ordered_measured = NULL;
	bool is_other = !is_same(made, measured);
	int err = 0;

	*comparison = (struct pattern_comparison){ .is_same = !is_other };
	if (is_other)
		err = pattern_order_creators(made, &ordered_made);
	if (is_other && !err)
		err = pattern_order_creators(measured, &ordered_measured);
	if (!err && is_other && is_same(ordered_made ?: made, ordered_measured ?: measured)) {
		comparison->is_same = comparison->is_ordered = true;
		err = compare_same_times(ordered_made ?: made, ordered_measured ?: measured, comparison);
	} else if (!err) {
		err = compare_same_times(made, measured, comparison);
	}
	pattern_free(ordered_made);
	pattern_free(ordered_measured);
	return err;
}
