// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_waits.c - times of processes and late arrivals in a report, as tables.
 */
#include <stdlib.h>
#include <string.h>

#include "report_page.h"

static void more(FILE *out, u64 shown, u64 all)
{
	if (shown < all)
		fprintf(out, "<p class=\"small\">... and %llu more</p>\n", all - shown);
}

static void part_cell(struct table *table, const struct waits *w, size_t member, u64 ns)
{
	if (waits_is_known(w, member))
		table_time(table, ns);
	else
		table_cell(table, "?");
}

static void times_row(struct table *table, const struct waits *w, const struct process_times *t)
{
	table_cell(table, "%s %u", t->command[0] ? t->command : "?", t->pid);
	if (t->rank < 0)
		table_cell(table, "-");
	else
		table_cell(table, "%d", t->rank);
	table_cell(table, "%u", t->threads);
	table_time(table, t->elapsed_ns);
#define TIME_CELL(member, heading) part_cell(table, w, offsetof(struct process_times, member##_ns), t->member##_ns);
	WAITS_TIMES(TIME_CELL)
#undef TIME_CELL
}

/**
 * report_times_put() - write the time of each process, by part
 */
void report_times_put(FILE *out, const struct waits *w)
{
	static const char *const head[] = { "process", "rank", "threads", "elapsed",
#define TIME_HEAD(member, heading) heading,
					    WAITS_TIMES(TIME_HEAD)
#undef TIME_HEAD
	};
	u32 i, shown = w->count < REPORT_ROWS_MAX ? w->count : REPORT_ROWS_MAX;
	struct table table;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < shown; i++)
		times_row(&table, w, &w->times[i]);
	html_table(out, &table, "sortable");
	table_close(&table);
	more(out, shown, w->count);
}

static void put_ranks(FILE *out, const struct late_arrivals *late)
{
	static const char *const head[] = { "rank", "last in collectives", "times waited for", "others waited", "waited itself" };
	u32 i, shown = late->rank_count < REPORT_ROWS_MAX ? late->rank_count : REPORT_ROWS_MAX;
	struct table table;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < shown; i++) {
		struct waits_late_sum sum = waits_late_sum(late, late->ranks[i].rank);

		table_cell(&table, "%u", late->ranks[i].rank);
		table_cell(&table, "%llu", late->ranks[i].last);
		table_cell(&table, "%llu", sum.times);
		table_time(&table, sum.caused_ns);
		table_time(&table, sum.waited_ns);
	}
	html_table(out, &table, "sortable");
	table_close(&table);
	more(out, shown, late->rank_count);
}

static void put_rows(FILE *out, const struct late_arrivals *late)
{
	const struct late_row **rows = waits_late_rows(late);
	u32 count = HASH_COUNT(late->rows), shown = count < REPORT_ROWS_MAX ? count : REPORT_ROWS_MAX;
	struct table table;

	table_open(&table, WAITS_LATE_COLUMNS);
	waits_put_late_rows(&table, rows, rows ? shown : 0);
	if (count)
		html_table(out, &table, "sortable");
	table_close(&table);
	free(rows);
	more(out, shown, count);
}

/**
 * report_late_put() - write which ranks waited for which
 */
void report_late_put(FILE *out, const struct late_arrivals *late)
{
	fprintf(out, "<p>%llu collectives, %llu messages, %llu calls without a partner.</p>\n", late->collectives,
		late->messages, late->unmatched);
	put_ranks(out, late);
	put_rows(out, late);
}
