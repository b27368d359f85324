// SPDX-License-Identifier: GPL-2.0-only
/*
 * gather.c - the outcomes of the nodes of a replay become one file.
 */
#include "gather.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "merge/merge.h"

/* Return: their number; the list is freed with its texts. */
static size_t list_parts(const char *whole, u32 count, const bool *is_here, char **paths)
{
	u32 i;
	size_t parts = 0;

	for (i = 0; i < count; i++)
		if (is_here[i] && asprintf(&paths[parts], "%s.%u", whole, i) >= 0)
			parts++;
	return parts;
}

static size_t list_samples(const struct agent *agent, struct merge_sample *samples)
{
	u32 count = agent_view(agent).count, i;
	size_t found = 0;
	u64 ns[3];

	for (i = 1; i < count; i++)
		if (agent_sample(agent, i, ns))
			samples[found++] = (struct merge_sample){ i, ns[0], ns[1], ns[2] };
	return found;
}

static int merge_parts(const struct merge_options *what)
{
	struct merge_result result;
	struct merge *merge;
	int err = merge_open(what, &merge);

	if (!err)
		err = merge_run(merge, &result);
	merge_close(merge);
	return err;
}

/* The file appears under its name when it is whole; then its parts go. */
static int put_together(const struct agent *agent, const char *whole, const bool *is_here,
			bool keeps_parts, const char *partial)
{
	u32 count = agent_view(agent).count;
	struct merge_sample *samples = calloc(count, sizeof(*samples));
	char **paths = calloc(count, sizeof(*paths)), *made = NULL;
	struct merge_options what = { .partial = partial, .say = say };
	size_t i;
	int err = -ENOMEM;

	if (paths && samples && asprintf(&made, "%s.whole", whole) >= 0) {
		what.output = made;
		what.paths = paths;
		what.path_count = list_parts(whole, count, is_here, paths);
		what.samples = samples;
		what.sample_count = list_samples(agent, samples);
		err = what.path_count ? merge_parts(&what) : 1;
	}
	if (!err && rename(made, whole)) {
		err = -errno;
		say("%s: %s", whole, strerror(errno));
	}
	for (i = 0; i < what.path_count; i++) {
		if (!err && !keeps_parts)
			unlink(paths[i]);
		free(paths[i]);
	}
	free(made);
	free(paths);
	free(samples);
	return err;
}

/**
 * gather_outcomes() - merge the outcomes of all nodes into one file. Called on all nodes, after
 * agent_finish()
 * @agent: of this node
 * @whole: the file; its parts are @whole.0, @whole.1 and so on
 * @keeps_parts: do not remove the parts
 * @partial: why the replay is partial, NULL if it is whole
 * @is_gathered: out: the file exists, and parts can be removed
 *
 * Node 0 does the work. Return: 0, also if there are no outcomes; 1 if the file is incomplete,
 * which has been reported.
 */
int gather_outcomes(struct agent *agent, const char *whole, bool keeps_parts, const char *partial,
		    bool *is_gathered)
{
	bool *is_here = calloc(agent_view(agent).count, 1);
	char why[PATH_MAX + 256] = "";
	bool is_whole = false;
	int err;

	*is_gathered = false;
	if (!is_here || agent_view(agent).node) {
		free(is_here);
		return 0;
	}
	err = agent_gather(agent, whole, is_here, why, sizeof(why));
	if (why[0])
		say("%s", why);
	if (err != -ENODATA)
		is_whole = !put_together(agent, whole, is_here, keeps_parts, err ? why : partial) && !err;
	*is_gathered = is_whole && !keeps_parts;
	free(is_here);
	return err == -ENODATA || is_whole ? 0 : 1;
}
