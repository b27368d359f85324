// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat_waits.c - iotape stat --waits: the time of processes by part, imbalance between ranks, and late arrivals.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "stat.h"
#include "table.h"
#include "terminal.h"
#include "waits.h"

#define JSON_VERSION 1

/* -- imbalance ------------------------------------------------------------------------------------------- */

/* A quantity of each rank: the largest and the mean. */
struct spread {
	u64 sum;
	u64 max;
	u32 ranks;
	u32 max_rank;
};

static void spread_add(struct spread *spread, u64 value, u32 rank)
{
	if (!spread->ranks++ || value > spread->max) {
		spread->max = value;
		spread->max_rank = rank;
	}
	spread->sum += value;
}

static u64 spread_mean(const struct spread *spread)
{
	return spread->ranks ? spread->sum / spread->ranks : 0;
}

enum { SPREAD_READ, SPREAD_WRITTEN, SPREAD_IO, SPREAD_COMPUTE, SPREAD_MPI, SPREAD_COUNT };

static const char *const spread_names[] = { "bytes read", "bytes written", "storage", "compute", "MPI waits" };
static const char *const spread_keys[] = { "read_bytes", "written_bytes", "storage_ns", "compute_ns", "mpi_ns" };

/* Ranks without a selected operation have no group, but moved no bytes. */
static void spread_bytes(const struct waits *w, u32 rank, struct spread *spreads)
{
	const struct breakdown_group *group;
	char name[16];

	snprintf(name, sizeof(name), "%u", rank);
	HASH_FIND_STR(w->bytes.groups, name, group);
	spread_add(&spreads[SPREAD_READ], group ? group->sum.read_bytes : 0, rank);
	spread_add(&spreads[SPREAD_WRITTEN], group ? group->sum.written_bytes : 0, rank);
}

static bool is_spread_known(const struct waits *w, u32 which)
{
	return which == SPREAD_MPI || (which == SPREAD_COMPUTE ? w->is_compute_known : w->is_storage_known);
}

/* Return: the number of ranks. */
static u32 spreads_of(const struct waits *w, struct spread spreads[SPREAD_COUNT])
{
	u32 i;

	memset(spreads, 0, SPREAD_COUNT * sizeof(*spreads));
	for (i = 0; i < w->count; i++) {
		const struct process_times *t = &w->times[i];

		if (t->rank < 0)
			continue;
		spread_add(&spreads[SPREAD_IO], t->io_ns, (u32)t->rank);
		spread_add(&spreads[SPREAD_COMPUTE], t->compute_ns, (u32)t->rank);
		spread_add(&spreads[SPREAD_MPI], t->mpi_ns, (u32)t->rank);
		spread_bytes(w, (u32)t->rank, spreads);
	}
	return spreads[SPREAD_IO].ranks;
}

/* -- text ------------------------------------------------------------------------------------------------- */

static void cell_time_share(struct table *table, bool is_known, u64 ns, u64 whole_ns)
{
	char text[32];

	if (!is_known)
		table_cell(table, "?");
	else
		table_cell(table, "%s %5.1f%%", quantity_time(text, ns), whole_ns ? 100.0 * (double)ns / (double)whole_ns : 0);
}

static void times_row(struct table *table, const struct waits *w, const struct process_times *t)
{
	char escaped[4 * 65 + 1];

	iot_text_bytes(escaped, sizeof(escaped), t->command, strlen(t->command));
	table_cell(table, "%s %u", escaped[0] ? escaped : "?", t->pid);
	if (t->rank < 0)
		table_cell(table, "-");
	else
		table_cell(table, "%d", t->rank);
	table_cell(table, "%u", t->threads);
	table_time(table, t->elapsed_ns);
#define TIME_CELL(member, heading) \
	cell_time_share(table, waits_is_known(w, offsetof(struct process_times, member##_ns)), t->member##_ns, t->elapsed_ns);
	WAITS_TIMES(TIME_CELL)
#undef TIME_CELL
}

static void finish(struct table *table)
{
	putchar('\n');
	table_print(table, stdout);
	table_close(table);
}

static void print_times(const struct waits *w, u32 shown)
{
	static const char *const head[] = { "process", "rank", "threads", "elapsed",
#define TIME_HEAD(member, heading) heading,
					    WAITS_TIMES(TIME_HEAD)
#undef TIME_HEAD
	};
	struct table table;
	u32 i;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < shown; i++)
		times_row(&table, w, &w->times[i]);
	finish(&table);
	if (shown < w->count)
		printf("... and %u more\n", w->count - shown);
}

static void spread_cell(struct table *table, u32 which, u64 value)
{
	if (which <= SPREAD_WRITTEN)
		table_bytes(table, value);
	else
		table_time(table, value);
}

static void spread_row(struct table *table, u32 which, bool is_known_here, const struct spread *spread)
{
	u64 mean = spread_mean(spread);
	int i;

	table_cell(table, "%s", spread_names[which]);
	for (i = 0; !is_known_here && i < 4; i++)
		table_cell(table, "?");
	if (!is_known_here)
		return;
	spread_cell(table, which, mean);
	spread_cell(table, which, spread->max);
	if (spread->max)
		table_cell(table, "%u", spread->max_rank);
	else
		table_cell(table, "-");
	if (mean)
		table_cell(table, "%.2f", (double)spread->max / (double)mean);
	else
		table_cell(table, "-");
}

static void print_imbalance(const struct waits *w)
{
	static const char *const head[] = { "imbalance between ranks", "mean", "largest", "of rank", "largest / mean" };
	struct spread spreads[SPREAD_COUNT];
	struct table table;
	u32 i;

	if (spreads_of(w, spreads) < 2)
		return;
	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < SPREAD_COUNT; i++)
		spread_row(&table, i, is_spread_known(w, i), &spreads[i]);
	finish(&table);
}

static void print_late_ranks(const struct late_arrivals *late, u32 top)
{
	struct table table;
	u32 i, shown = top && top < late->rank_count ? top : late->rank_count;

	table_open(&table, 5);
	table_cell(&table, "rank");
	table_cell(&table, "last in collectives");
	table_cell(&table, "times waited for");
	table_cell(&table, "others waited");
	table_cell(&table, "waited itself");
	for (i = 0; i < shown; i++) {
		struct waits_late_sum sum = waits_late_sum(late, late->ranks[i].rank);

		table_cell(&table, "%u", late->ranks[i].rank);
		table_cell(&table, "%llu", late->ranks[i].last);
		table_cell(&table, "%llu", sum.times);
		table_time(&table, sum.caused_ns);
		table_time(&table, sum.waited_ns);
	}
	finish(&table);
	if (shown < late->rank_count)
		printf("... and %u more\n", late->rank_count - shown);
}

static int print_late(const struct late_arrivals *late, u32 top)
{
	const struct late_row **rows = waits_late_rows(late);
	u32 count = HASH_COUNT(late->rows), shown = top && top < count ? top : count;
	struct table table;

	if (!rows)
		return -ENOMEM;
	printf("\nlate arrivals: %llu collectives, %llu messages, %llu calls without a partner\n", late->collectives,
	       late->messages, late->unmatched);
	print_late_ranks(late, top);
	table_open(&table, WAITS_LATE_COLUMNS);
	waits_put_late_rows(&table, rows, shown);
	if (shown)
		finish(&table);
	else
		table_close(&table);
	if (shown < count)
		printf("... and %u more\n", count - shown);
	free(rows);
	return 0;
}

static int print_text(const struct waits *w, const char *name, u32 top)
{
	u32 shown = top && top < w->count ? top : w->count;

	printf("%s: time of %u processes, threads added up\n", name, w->count);
	omissions_print(stdout, "", &analysis_graph(w->analysis)->omissions);
	print_times(w, shown);
	print_imbalance(w);
	return w->has_mpi ? print_late(&w->late, top) : 0;
}

/* -- JSON ------------------------------------------------------------------------------------------------- */

static void put_rank(struct json *json, const char *key, u32 rank)
{
	if (rank == GRAPH_NONE)
		json_put_null(json, key);
	else
		json_put_unsigned(json, key, rank);
}

static void put_if(struct json *json, const char *key, bool is_valid, u64 value)
{
	if (is_valid)
		json_put_unsigned(json, key, value);
	else
		json_put_null(json, key);
}

static void times_json(struct json *json, const struct waits *w)
{
	u32 i;

	json_key(json, "processes");
	json_begin(json, '[');
	for (i = 0; i < w->count; i++) {
		const struct process_times *t = &w->times[i];

		json_begin(json, '{');
		json_put_string(json, "command", t->command);
		json_put_unsigned(json, "pid", t->pid);
		put_rank(json, "rank", t->rank < 0 ? GRAPH_NONE : (u32)t->rank);
		json_put_unsigned(json, "threads", t->threads);
		json_put_unsigned(json, "elapsed_ns", t->elapsed_ns);
		put_if(json, "storage_ns", w->is_storage_known, t->io_ns);
		put_if(json, "compute_ns", w->is_compute_known, t->compute_ns);
		json_put_unsigned(json, "mpi_ns", t->mpi_ns);
		json_put_unsigned(json, "wait_ns", t->wait_ns);
		json_put_unsigned(json, "unexplained_ns", t->unexplained_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void imbalance_json(struct json *json, const struct waits *w)
{
	struct spread spreads[SPREAD_COUNT];
	u32 i, ranks = spreads_of(w, spreads);

	json_key(json, "imbalance");
	if (ranks < 2) {
		json_null(json);
		return;
	}
	json_begin(json, '{');
	for (i = 0; i < SPREAD_COUNT; i++) {
		json_key(json, spread_keys[i]);
		json_begin(json, '{');
		put_if(json, "mean", is_spread_known(w, i), spread_mean(&spreads[i]));
		put_if(json, "max", is_spread_known(w, i), spreads[i].max);
		put_rank(json, "rank", spreads[i].max ? spreads[i].max_rank : GRAPH_NONE);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void late_rows_json(struct json *json, const struct late_row **rows, u32 count)
{
	u32 i;

	json_key(json, "waits");
	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		json_begin(json, '{');
		json_put_string(json, "kind", waits_late_name(rows[i]->key.kind));
		json_put_string(json, "call", waits_call_name(rows[i]->key.call));
		put_rank(json, "waiting_rank", rows[i]->key.waiter);
		put_rank(json, "late_rank", rows[i]->key.late);
		json_put_unsigned(json, "times", rows[i]->times);
		json_put_unsigned(json, "waited_ns", rows[i]->sum_ns);
		json_put_unsigned(json, "max_ns", rows[i]->max_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void late_ranks_json(struct json *json, const struct late_arrivals *late)
{
	u32 i;

	json_key(json, "ranks");
	json_begin(json, '[');
	for (i = 0; i < late->rank_count; i++) {
		struct waits_late_sum sum = waits_late_sum(late, late->ranks[i].rank);

		json_begin(json, '{');
		json_put_unsigned(json, "rank", late->ranks[i].rank);
		json_put_unsigned(json, "last_in_collectives", late->ranks[i].last);
		json_put_unsigned(json, "times_waited_for", sum.times);
		json_put_unsigned(json, "caused_ns", sum.caused_ns);
		json_put_unsigned(json, "waited_ns", sum.waited_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static int late_json(struct json *json, const struct waits *w)
{
	const struct late_row **rows;

	json_key(json, "late_arrivals");
	if (!w->has_mpi) {
		json_null(json);
		return 0;
	}
	rows = waits_late_rows(&w->late);
	if (!rows)
		return -ENOMEM;
	json_begin(json, '{');
	json_put_unsigned(json, "collectives", w->late.collectives);
	json_put_unsigned(json, "parts", w->late.parts);
	json_put_unsigned(json, "parts_that_need_others", w->late.certain);
	json_put_unsigned(json, "messages", w->late.messages);
	json_put_unsigned(json, "unmatched", w->late.unmatched);
	late_ranks_json(json, &w->late);
	late_rows_json(json, rows, HASH_COUNT(w->late.rows));
	json_end(json, '}');
	free(rows);
	return 0;
}

static int print_json(const struct waits *w)
{
	struct json json;
	int err;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "version", JSON_VERSION);
	omissions_json(&json, &analysis_graph(w->analysis)->omissions);
	times_json(&json, w);
	imbalance_json(&json, w);
	err = late_json(&json, w);
	if (err)
		return err;
	json_end(&json, '}');
	json_line(&json);
	return 0;
}

/**
 * stat_waits() - print the time of processes by part, and the waits of ranks for each other
 * @path: of the trace
 * @name: of it in messages
 * @top: number of rows of each table, 0: all; JSON has all
 * @is_json: JSON instead of text
 *
 * Return: an exit code.
 */
int stat_waits(const char *path, const char *name, u32 top, bool is_json)
{
	struct waits w;
	struct iot_reject reject = {};
	int err = waits_read(&w, path, &reject), code = EXIT_DONE;

	if (!err)
		terminal_output_begin();
	if (err)
		code = fail_reject(name, err, &reject);
	else if (is_json ? print_json(&w) : print_text(&w, name, top))
		code = fail("%s: %s", name, strerror(ENOMEM));
	waits_close(&w);
	return code;
}
