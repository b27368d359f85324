// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_sites.c - the call sites of operations in a report, as a table: the groups of iotape stat --by=site.
 */
#include <stdlib.h>

#include "report_page.h"
#include "stat.h"

static void site_row(struct table *table, const struct breakdown_group *group, u64 all_ns)
{
	table_cell(table, "%s", group->name);
	table_cell(table, "%llu", group->sum.ops);
	table_cell(table, "%llu", group->sum.errors);
	table_time(table, group->sum.time_ns);
	if (all_ns)
		table_cell(table, "%.1f %%", 100 * (double)group->sum.time_ns / (double)all_ns);
	else
		table_cell(table, "-");
	if (group->latency_ns)
		table_time(table, group->latency_ns->max);
	else
		table_cell(table, "-");
	table_bytes(table, group->sum.read_bytes);
	table_bytes(table, group->sum.written_bytes);
	table_bytes(table, group->sum.touched_bytes);
}

static void put_rest(FILE *out, const struct breakdown_group *const *groups, u32 shown, u32 count, u64 all_ns)
{
	u64 ops = 0, time_ns = 0;
	u32 i;

	for (i = shown; i < count; i++) {
		ops += groups[i]->sum.ops;
		time_ns += groups[i]->sum.time_ns;
	}
	if (shown < count)
		fprintf(out, "<p class=\"small\">... and %u more with %llu operations and %.1f %% of the time, see "
			"<code>iotape stat --by=site</code></p>\n", count - shown, ops,
			all_ns ? 100 * (double)time_ns / (double)all_ns : 0);
}

/**
 * report_sites_put() - write the call sites with the most time
 * @run: a run with call sites
 */
void report_sites_put(FILE *out, const struct report_run *run)
{
	static const char *const head[] = { "call site", "operations", "failed", "time", "share", "longest", "read", "written", "touched" };
	const struct breakdown_group **groups = stat_groups_sort(&run->sites, STAT_SORT_TIME);
	u32 i, count = HASH_COUNT(run->sites.groups), shown = count < REPORT_ROWS_MAX ? count : REPORT_ROWS_MAX;
	u64 all_ns = stat_groups_time_ns(&run->sites);
	struct table table;

	if (!groups) {
		fputs("<p class=\"small\">There was not enough memory for this table.</p>\n", out);
		return;
	}
	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < shown; i++)
		site_row(&table, groups[i], all_ns);
	fputs("<p class=\"small\">The innermost function outside of the C library from which operations were made; \"~\" marks a likely "
	      "one, and \"?\" has the operations whose call site is not known.</p>\n", out);
	html_table(out, &table, "sortable");
	table_close(&table);
	put_rest(out, groups, shown, count, all_ns);
	free(groups);
}
