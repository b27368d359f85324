// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_accuracy.c - how far results of replays of a recording can be relied on.
 */
#include <math.h>
#include <string.h>

#include "report_page.h"

#define ASLEEP_SHARE_MAX 0.01 /* as for iotape predict */

/* Errors of replays on the storage of the recording. */
static void put_errors(FILE *out, const struct report_run *run)
{
	const struct comparison *c = run->all;
	double sum = 0, largest = 0;
	u32 i, count = 0;

	for (i = 0; i < c->run_count; i++) {
		const struct comparison_run *replay = &c->runs[i];

		if (replay->original != run->run || !replay->is_same_storage || isnan(replay->change))
			continue;
		count++;
		sum += replay->change;
		if (fabs(replay->change) > fabs(largest))
			largest = replay->change;
	}
	if (!count)
		fputs("<li>Timing error: unknown, because the report has no replay on the storage of the recording. "
		      "<code>iotape predict --validate=DIR</code> measures it.</li>\n", out);
	else if (count == 1)
		fprintf(out, "<li>Timing error: %+.1f %%, of one replay on the storage of the recording.</li>\n", 100 * sum);
	else
		fprintf(out, "<li>Timing error: %+.1f %% on average of %u replays on the storage of the recording, the largest is %+.1f %%.</li>\n",
			100 * sum / count, count, 100 * largest);
}

static void put_divergences(FILE *out, const struct report_run *run)
{
	const struct comparison *c = run->all;
	u64 diverged = 0, operations = 0;
	u32 i;

	for (i = 0; i < c->run_count; i++)
		if (c->runs[i].original == run->run) {
			diverged += c->runs[i].profile->diverged;
			operations += c->runs[i].profile->sum.ops;
		}
	if (operations)
		fprintf(out, "<li>Diverged operations: %llu of %llu in the replays of this report.</li>\n", diverged, operations);
}

/* Waits for other tasks that a replay keeps as they were do not change with the storage. */
static void put_asleep(FILE *out, const struct report_run *run)
{
	u64 asleep_ns = analysis_graph(run->waits.analysis)->asleep_ns;
	const char *wakes = profile_fact(run->run->profile, "wakes");
	double share = run->run->seconds > 0 ? (double)asleep_ns / 1e9 / run->run->seconds : 0;
	char text[32];

	if (!run->waits.is_compute_known) {
		fputs("<li>Sleep for an unknown reason: unknown, because the trace does not state the time on CPUs. Predictions for "
		      "another storage may depend on it.</li>\n", out);
		return;
	}
	fprintf(out, "<li>Tasks slept for %s, for an unknown reason, during operations of others (%.1f %% of the duration): ",
		quantity_time(text, asleep_ns), 100 * share);
	if (share < ASLEEP_SHARE_MAX)
		fputs("predictions for another storage hardly depend on it.", out);
	else
		fputs("a replay sleeps as long on any storage, so do not rely on predictions for another one.", out);
	if (!wakes || strcmp(wakes, "on"))
		fputs(" <code>iotape record --wakes</code> records the reasons.", out);
	fputs("</li>\n", out);
}

/**
 * report_accuracy_put() - write how accurate results from a recording are
 * @run: a recording, whose waits are known
 */
void report_accuracy_put(FILE *out, const struct report_run *run)
{
	fputs("<ul>\n", out);
	put_errors(out, run);
	put_divergences(out, run);
	put_asleep(out, run);
	fputs("</ul>\n", out);
}
