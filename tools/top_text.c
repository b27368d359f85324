// SPDX-License-Identifier: GPL-2.0-only
/*
 * top_text.c - one interval of iotape top as text.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "top.h"

const char *const top_sort_words[] = { "time", "ops", "bytes", "errors", "name", NULL };

static u64 value_of(const struct top_row *row, enum top_sort sort)
{
	switch (sort) {
	case TOP_SORT_OPERATIONS:
		return row->ops;
	case TOP_SORT_BYTES:
		return row->bytes;
	case TOP_SORT_ERRORS:
		return row->errors;
	default:
		return row->time_ns;
	}
}

struct order {
	enum top_sort sort;
};

static int compare(const void *a, const void *b, void *context)
{
	const struct top_row *x = *(struct top_row *const *)a, *y = *(struct top_row *const *)b;
	const struct order *order = context;
	u64 of_x = value_of(x, order->sort), of_y = value_of(y, order->sort);

	if (order->sort != TOP_SORT_NAME && of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* Rows of this interval, in order. Return: NULL if out of memory, or there are none. */
static struct top_row **sorted(struct top_row *rows, enum top_sort sort, size_t *count)
{
	struct order order = { sort };
	struct top_row **list, *row;

	*count = 0;
	list = calloc(HASH_COUNT(rows) + 1, sizeof(*list));
	for (row = rows; row && list; row = row->hh.next)
		if (row->ops || row->bytes)
			list[(*count)++] = row;
	if (list)
		qsort_r(list, *count, sizeof(*list), compare, &order);
	return list;
}

static double per_second(u64 value, u64 ns)
{
	return ns ? (double)value * 1e9 / (double)ns : NAN;
}

static void rate_cell(struct table *table, u64 value, u64 ns)
{
	double rate = per_second(value, ns);

	if (isnan(rate))
		table_cell(table, "-");
	else
		table_cell(table, "%.0f", rate);
}

/* Names are bytes that others chose: lines stay lines, and a terminal is not controlled by them. */
static void key_cell(struct table *table, const char *key)
{
	char text[4 * IOT_PROGRAM_PATH_MAX + 1];

	iot_text_bytes(text, sizeof(text), key, strlen(key));
	table_cell(table, "%s", text);
}

static int print_rows(FILE *out, struct top *top, struct top_row *rows, const char *what, const struct top_view *view)
{
	u64 ns = top->end_ns - top->begin_ns;
	struct top_row **list;
	struct table table;
	char text[32];
	size_t count, i;

	list = sorted(rows, view->sort, &count);
	if (!list)
		return -ENOMEM;
	table_open(&table, 8);
	table_cell(&table, "%s", what);
	table_cell(&table, "ops");
	table_cell(&table, "ops/s");
	table_cell(&table, "bytes");
	table_cell(&table, "rate");
	table_cell(&table, "time");
	table_cell(&table, "max");
	table_cell(&table, "errors");
	for (i = 0; i < count && (!view->rows || i < view->rows); i++) {
		key_cell(&table, list[i]->key);
		table_cell(&table, "%llu", (unsigned long long)list[i]->ops);
		rate_cell(&table, list[i]->ops, ns);
		table_bytes(&table, list[i]->bytes);
		table_cell(&table, "%s", quantity_bandwidth(text, per_second(list[i]->bytes, ns)));
		table_time(&table, list[i]->time_ns);
		table_time(&table, list[i]->max_ns);
		table_cell(&table, "%llu", (unsigned long long)list[i]->errors);
	}
	table_print(&table, out);
	if (i < count)
		fprintf(out, "... %zu more\n", count - i);
	table_close(&table);
	free(list);
	return 0;
}

static void print_session(FILE *out, const struct session *s)
{
	const struct iot_info *info = &s->info;
	char age[32];

	fprintf(out, "session %llu: %s%s, %s, %s\n", (unsigned long long)info->session, session_state(s),
		info->flags & IOT_INFO_PAUSED ? ", paused" : "", quantity_time(age, session_age_ns(s)),
		*s->command ? s->command : *s->mounts[0] ? s->mounts[0] : "?");
	fprintf(out, "records %llu, lost %llu, waits for the collector %llu, %u of %u CPUs behind\n",
		(unsigned long long)info->records, (unsigned long long)info->lost, (unsigned long long)info->waits,
		info->behind, info->cpus);
	if (s->info.flags & IOT_INFO_COUNTERS)
		fprintf(out, "operations are counted, not recorded\n");
	if (*s->flight)
		fprintf(out, "flight recorder of %s, last dump: %s\n", s->flight, *s->dump ? s->dump : "none");
}

static void print_all(FILE *out, struct top *top)
{
	u64 ns = top->end_ns - top->begin_ns;
	char p50[32], p99[32], max[32], rate[32], span[32], waited[32];
	const struct histogram *h = &top->latency_ns;

	fprintf(out, "%s: %llu ops", quantity_time(span, ns), (unsigned long long)top->all.ops);
	if (ns)
		fprintf(out, ", %.0f/s", per_second(top->all.ops, ns));
	fprintf(out, ", %s, %llu errors", quantity_bandwidth(rate, per_second(top->all.bytes, ns)),
		(unsigned long long)top->all.errors);
	if (h->count)
		fprintf(out, "; latency p50 %s, p99 %s, max %s", quantity_time(p50, histogram_percentile(h, 50)),
			quantity_time(p99, histogram_percentile(h, 99)), quantity_time(max, h->max));
	if (top->waits)
		fprintf(out, "; %llu waits of %s", (unsigned long long)top->waits, quantity_time(waited, top->waited_ns));
	fputc('\n', out);
}

/**
 * top_text() - print an interval
 * @out: where to
 * @top: its sums; NULL if there is no trace to read, as of a flight recorder
 * @session: that records; NULL for a trace alone
 * @view: the visible part
 *
 * Return: 0 or -ENOMEM.
 */
int top_text(FILE *out, struct top *top, const struct session *session, const struct top_view *view)
{
	struct iot_trace_info info;
	int err;

	if (session)
		print_session(out, session);
	if (!top)
		return 0;
	print_all(out, top);
	iot_reader_info(top->reader, &info);
	if (info.lost || info.missing)
		fprintf(out, "of the trace so far: %llu records lost, %llu missing\n", (unsigned long long)info.lost,
			(unsigned long long)info.missing);
	fputc('\n', out);
	err = print_rows(out, top, top->kinds, "operation", view);
	fputc('\n', out);
	if (!err)
		err = print_rows(out, top, top->files, "file", view);
	fputc('\n', out);
	return err ? err : print_rows(out, top, top->processes, "process", view);
}
