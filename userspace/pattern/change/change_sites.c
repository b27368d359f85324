// SPDX-License-Identifier: GPL-2.0-only
/*
 * change_sites.c - a pattern without its call sites: its loops are found again, as in a trace without call sites.
 */
#include "change.h"

static int drop_sites(struct change *c)
{
	u64 actor, i;

	for (actor = 0; actor < c->actor_count; actor++)
		for (i = 0; i < c->actors[actor].count; i++)
			c->actors[actor].steps[i].event.site_bytes = 0;
	return 0;
}

/**
 * pattern_drop_sites() - the same operations without call sites
 * @pattern: the pattern
 * @made: out: to be freed by pattern_free()
 *
 * Takes memory in proportion to the number of operations.
 *
 * Return: 0, -EBADMSG if the pattern is not sound, -EINVAL if a task has too many operations that are not loops, -ENOMEM.
 */
int pattern_drop_sites(const struct pattern *pattern, struct pattern **made)
{
	return change_rebuild(pattern, drop_sites, made);
}
