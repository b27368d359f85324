// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_runs.c - several runs in a report: side by side, repeated, diverged.
 */
#include <math.h>
#include <string.h>

#include "report_page.h"

static void put_table(FILE *out, struct table *table, const char *class)
{
	html_table(out, table, class);
	table_close(table);
}

/* The runs that the sentence is about: a replay, and the run to compare it with. */
static void put_verdict(FILE *out, const struct comparison_run *run)
{
	char original[32], replay[32];

	if (!run->original || isnan(run->change))
		return;
	quantity_time(original, (u64)(run->original->seconds * 1e9));
	quantity_time(replay, (u64)(run->seconds * 1e9));
	fputs("<p class=\"summary\">", out);
	html_text(out, run->path);
	fprintf(out, " replayed %s in %s (%+.1f %%, %s), with %llu diverged operations.</p>\n", original, replay,
		100 * run->change, run->is_same_storage ? "an error on the same storage" : "a prediction for other storage",
		run->profile->diverged);
}

static void outcome_cell(struct table *table, s64 result)
{
	const char *name = iot_text_errno(result);

	if (name)
		table_cell(table, "%s", name);
	else
		table_cell(table, "%lld", (long long)result);
}

static void divergence_row(struct table *table, const struct comparison_run *run, const struct profile_divergence *d)
{
	const struct iot_kind_info *info = iot_kind_info(d->kind);

	table_cell(table, "%s", run->path);
	table_cell(table, "%u", d->task);
	table_cell(table, "%u", d->op);
	table_cell(table, "%s", info ? info->name : "operation");
	table_cell(table, "%s", d->path ?: "?");
	outcome_cell(table, d->expected);
	outcome_cell(table, d->got);
	if (d->other_task)
		table_cell(table, "order after task %u, operation %u?", d->other_task, d->other_op);
	else
		table_cell(table, "-");
}

static void put_divergences(FILE *out, const struct comparison *c)
{
	static const char *const head[] = { "run", "task", "number", "operation", "path", "expected", "observed", "cause" };
	struct table table;
	u64 all = 0, shown = 0;
	u32 i, k;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < c->run_count; i++) {
		all += c->runs[i].profile->diverged;
		shown += c->runs[i].profile->divergence_count;
		for (k = 0; k < c->runs[i].profile->divergence_count; k++)
			divergence_row(&table, &c->runs[i], &c->runs[i].profile->divergences[k]);
	}
	if (shown)
		html_table(out, &table, "sortable");
	table_close(&table);
	if (!all)
		fputs("<p>No operation of a replay diverged from its trace.</p>\n", out);
	else if (shown < all)
		fprintf(out, "<p>... and %llu more diverged operations</p>\n", all - shown);
}

/* The table of latency_table() has no row of names; that of runs_table() begins with one. */
static void put_latencies(FILE *out, const struct comparison *c)
{
	struct table runs, latencies;
	size_t row;

	runs_table(&runs, c);
	latency_table(&latencies, c, true);
	fputs("<details><summary>Table</summary>\n<div class=\"scroll\"><table class=\"plain\">\n<thead>\n", out);
	html_row(out, &runs, 0, true);
	fputs("</thead><tbody>\n", out);
	for (row = 0; row < latencies.count / (size_t)latencies.columns; row++)
		html_row(out, &latencies, row, false);
	fputs("</tbody></table></div></details>\n", out);
	table_close(&latencies);
	table_close(&runs);
}

/**
 * report_runs_put() - write the section that compares runs
 */
void report_runs_put(FILE *out, const struct comparison *c)
{
	struct table table;
	u32 i;

	fputs("<section id=\"runs\">\n<h2>Runs side by side</h2>\n", out);
	for (i = 0; i < c->run_count; i++)
		put_verdict(out, &c->runs[i]);
	fputs("<figure data-chart=\"runs\"><figcaption>Duration of each run; repetitions share a row, the line is their median."
	      "</figcaption></figure>\n", out);
	runs_table(&table, c);
	put_table(out, &table, "plain");
	if (repeats_table(&table, c)) {
		html_element(out, "h3", "Repetitions");
		put_table(out, &table, "plain");
	}
	html_element(out, "h3", "Where the time went");
	fputs("<figure data-chart=\"spent\"><figcaption>Time in operations of all tasks, added up, by class; of replays, also "
	      "the time in which tasks waited for the order of others.</figcaption></figure>\n", out);
	html_element(out, "h3", "Divergences");
	put_divergences(out, c);
	if (runs_have_nodes(c)) {
		html_element(out, "h3", "Nodes");
		nodes_table(&table, c);
		put_table(out, &table, "sortable");
	}
	html_element(out, "h3", "Latencies of runs");
	fputs("<figure data-chart=\"overlay\"><figcaption>Share of the operations that took no longer, for the operations with the "
	      "most time; a line for each run.</figcaption></figure>\n", out);
	put_latencies(out, c);
	fputs("</section>\n", out);
}
