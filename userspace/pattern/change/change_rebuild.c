// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_rebuild.c - a pattern whose operations are edited without a change of what they do: the loops are found again, and times keep
 * their distributions.
 */
#include "change.h"

/* Of one run of a group: its think times and its durations. */
static void open_distributions(struct distribution *distributions, const struct run_times *times)
{
	distributions[0].times = times->think;
	distributions[1].times = times->duration;
	if (times_is_sound(&times->think))
		distribution_open(&distributions[0]);
	if (times_is_sound(&times->duration))
		distribution_open(&distributions[1]);
}

static u32 count_runs(const struct pattern *p)
{
	u32 i, runs = 0;

	for (i = 0; i < p->group_count; i++)
		runs += nodes_at(&p->nodes, p->groups[i].root)->runs;
	return runs;
}

/* The index of the first distribution of a group. */
static u32 first_of_group(const struct pattern *p, u64 group)
{
	u32 i, runs = 0;

	for (i = 0; i < group; i++)
		runs += nodes_at(&p->nodes, p->groups[i].root)->runs;
	return 2 * runs;
}

/* Not only the means of times, but their distributions. */
static void distribute_times(struct change *c, const struct pattern *p, const u64 *tasks)
{
	const struct group *group;
	struct step *step;
	u64 actor, i;
	u32 first, index;

	for (actor = 0; actor < c->actor_count; actor++) {
		group = &p->groups[tasks[2 * actor]];
		first = first_of_group(p, tasks[2 * actor]);
		for (i = 0; i < c->actors[actor].count; i++) {
			step = &c->actors[actor].steps[i];
			index = first + 2 * (u32)(step->times - group->times);
			if (c->distributions[index]->step)
				step->think_ns = STREAM_DISTRIBUTION | index;
			if (c->distributions[index + 1]->step)
				step->duration_ns = STREAM_DISTRIBUTION | (index + 1);
		}
	}
}

static int keep_times(struct change *c, const struct pattern *p, struct distribution *distributions)
{
	u64 *tasks;
	u32 i, run, index = 0;
	int err = events_find_tasks(p, &tasks);

	if (err)
		return err;
	for (i = 0; i < c->distribution_count; i++)
		c->distributions[i] = &distributions[i];
	for (i = 0; i < p->group_count; i++)
		for (run = 0; run < nodes_at(&p->nodes, p->groups[i].root)->runs; run++, index += 2)
			open_distributions(&distributions[index], &p->groups[i].times[run]);
	distribute_times(c, p, tasks);
	free(tasks);
	return 0;
}

/**
 * change_rebuild() - the pattern of edited operations
 * @pattern: the pattern
 * @edit: changes the operations; the times of their steps may be distributions. Returns 0 or a negative errno
 * @made: out: to be freed by pattern_free()
 *
 * Takes memory in proportion to the number of operations.
 *
 * Return: 0, -EBADMSG if the pattern is not sound, -EINVAL if a task has too many operations that are not loops, -ENOMEM, or what @edit
 * returns.
 */
int change_rebuild(const struct pattern *pattern, int (*edit)(struct change *c), struct pattern **made)
{
	struct change c = { .distribution_count = pattern->has_times ? 2 * count_runs(pattern) : 0 };
	struct distribution *distributions = calloc(c.distribution_count + 1, sizeof(*distributions));
	int err = -ENOMEM;

	c.distributions = calloc(c.distribution_count + 1, sizeof(struct distribution *));
	if (distributions && c.distributions)
		err = change_read_pattern(&c, pattern);
	if (!err && pattern->has_times)
		err = keep_times(&c, pattern, distributions);
	if (!err)
		err = edit(&c);
	if (!err)
		err = change_write_pattern(&c, pattern, made);
	if (!err)
		(*made)->is_made = pattern->is_made;
	change_close(&c);
	free(distributions);
	free(c.distributions);
	return err;
}
