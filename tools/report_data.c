// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_data.c - the data of the charts of a report, as JSON in the page. Read by the files in userspace/report/page.
 *
 * Times are nanoseconds since the beginning of the axis of their run. Numbers of bins have three significant digits: they
 * are drawn, and tables have the exact ones.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_page.h"

#define SHARE_LEVELS 15 /* of time, a hexadecimal digit */
#define MAP_LEVELS   7

/* Latencies are drawn through these percentiles. */
static const double percents[] = {
	0, 1, 2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 99, 99.5, 99.9, 99.99, 100,
};

static void put_rounded(struct json *json, u64 value)
{
	double scale = 1;

	while ((double)value >= 1000 * scale)
		scale *= 10;
	json_real(json, round((double)value / scale) * scale);
}

static void put_bins(struct json *json, const char *key, const u64 *bins, u32 count)
{
	u32 i;

	if (key)
		json_key(json, key);
	json_begin(json, '[');
	for (i = 0; i < count; i++)
		put_rounded(json, bins[i]);
	json_end(json, ']');
}

/* -- timeline ---------------------------------------------------------------------------------------------- */

/* Two characters: the class with the most time, and the share of the bin that all classes take. */
static void put_cell(char cell[2], const struct report_lane *lane, u32 bin, u64 width_ns)
{
	double all_ns = 0, share;
	u32 class, most = 0;

	for (class = 0; class < REPORT_CLASS_COUNT; class++) {
		all_ns += (double)lane->time_ns[class][bin];
		if (lane->time_ns[class][bin] > lane->time_ns[most][bin])
			most = class;
	}
	share = ceil(SHARE_LEVELS * all_ns / ((double)width_ns * lane->ranks));
	cell[0] = (char)('0' + most);
	cell[1] = "0123456789abcdef"[share < SHARE_LEVELS ? (u32)share : SHARE_LEVELS];
}

static void put_lanes(struct json *json, const struct report *charts)
{
	char cells[2 * REPORT_BINS];
	u32 i, bin;

	json_key(json, "lanes");
	json_begin(json, '[');
	for (i = 0; i < charts->lane_count; i++) {
		const struct report_lane *lane = &charts->lanes[i];

		for (bin = 0; bin < REPORT_BINS; bin++)
			put_cell(&cells[2 * bin], lane, bin, charts->axis.width_ns);
		json_begin(json, '{');
		json_put_string(json, "name", lane->name);
		json_put_unsigned(json, "operations", lane->operations);
		json_key(json, "cells");
		json_text(json, cells, sizeof(cells));
		put_bins(json, "bytes", lane->bytes, REPORT_BINS);
		json_end(json, '}');
	}
	json_end(json, ']');
}

/* A path that operations share. */
struct path {
	UT_hash_handle hh;
	u32 index;
	char *text;
};

/* Return: the index of a path, after those of @paths; of an unknown one, and without memory, -1. */
static int path_index(struct json *json, struct path **paths, char *text)
{
	struct path *path;

	if (!text)
		return -1;
	HASH_FIND_STR(*paths, text, path);
	if (path)
		return (int)path->index;
	path = calloc(1, sizeof(*path));
	if (!path)
		return -1;
	path->index = HASH_COUNT(*paths);
	path->text = text;
	HASH_ADD_KEYPTR(hh, *paths, path->text, strlen(text), path);
	json_string(json, text);
	return (int)path->index;
}

static int compare_ops(const void *a, const void *b)
{
	const struct report_op *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static void put_op(struct json *json, const struct report *charts, const struct report_op *op, int path)
{
	json_begin(json, '[');
	json_unsigned(json, op->lane);
	json_unsigned(json, op->begin_ns > charts->axis.begin_ns ? op->begin_ns - charts->axis.begin_ns : 0);
	json_unsigned(json, op->duration_ns);
	json_unsigned(json, op->kind);
	json_integer(json, path);
	json_signed(json, op->result);
	json_end(json, ']');
}

/* Paths first, since each operation refers to one. */
static void put_ops(struct json *json, const struct report *charts)
{
	int *indices = calloc(charts->op_count + 1ul, sizeof(*indices));
	struct path *paths = NULL, *path, *next;
	u32 i, count = indices ? charts->op_count : 0;

	if (count)
		qsort(charts->ops, count, sizeof(*charts->ops), compare_ops);
	json_key(json, "paths");
	json_begin(json, '[');
	for (i = 0; i < count; i++)
		indices[i] = path_index(json, &paths, charts->ops[i].path);
	json_end(json, ']');
	json_key(json, "ops");
	json_begin(json, '[');
	for (i = 0; i < count; i++)
		put_op(json, charts, &charts->ops[i], indices[i]);
	json_end(json, ']');
	HASH_ITER (hh, paths, path, next) {
		HASH_DEL(paths, path);
		free(path);
	}
	free(indices);
}

/* -- maps of offsets ---------------------------------------------------------------------------------------- */

static u32 map_level(u64 value, u64 most)
{
	return !value ? 0 : 1 + (u32)((MAP_LEVELS - 1) * sqrt((double)value / (double)most));
}

/* A character for each cell, row by row: '0' + level of reads + 8 * level of writes. */
static void put_map(struct json *json, const struct report_map *map)
{
	char cells[REPORT_MAP_ROWS * REPORT_MAP_BINS];
	u64 most = 1;
	u32 row, bin;

	for (row = 0; row < REPORT_MAP_ROWS; row++)
		for (bin = 0; bin < REPORT_MAP_BINS; bin++) {
			most = map->read_bytes[row][bin] > most ? map->read_bytes[row][bin] : most;
			most = map->written_bytes[row][bin] > most ? map->written_bytes[row][bin] : most;
		}
	for (row = 0; row < REPORT_MAP_ROWS; row++)
		for (bin = 0; bin < REPORT_MAP_BINS; bin++)
			cells[row * REPORT_MAP_BINS + bin] = (char)('0' + map_level(map->read_bytes[row][bin], most) +
								    8 * map_level(map->written_bytes[row][bin], most));
	json_begin(json, '{');
	json_put_string(json, "path", map->path);
	json_put_unsigned(json, "begin", map->begin_bytes);
	json_put_unsigned(json, "end", map->end_bytes);
	json_put_unsigned(json, "bytes", map->bytes);
	json_key(json, "cells");
	json_text(json, cells, sizeof(cells));
	json_end(json, '}');
}

static void put_maps(struct json *json, const struct report *charts)
{
	u32 i;

	json_key(json, "maps");
	json_begin(json, '[');
	for (i = 0; i < charts->map_count; i++)
		put_map(json, &charts->maps[i]);
	json_end(json, ']');
}

/* -- latencies ----------------------------------------------------------------------------------------------- */

static void put_curve(struct json *json, const struct profile *p, u16 kind)
{
	const struct histogram *h = p->kinds[kind].latency_ns;
	size_t i;

	json_begin(json, '{');
	json_put_string(json, "kind", iot_kind_info(kind)->name);
	json_put_unsigned(json, "count", h->count);
	json_key(json, "ns");
	json_begin(json, '[');
	json_unsigned(json, h->min);
	for (i = 1; i < ARRAY_SIZE(percents); i++)
		put_rounded(json, histogram_percentile(h, percents[i]));
	json_end(json, ']');
	json_end(json, '}');
}

/* Of the kinds with the most time. */
static void put_latencies(struct json *json, const struct profile *p)
{
	bool is_put[IOT_KIND_END] = {};
	u16 kind, most;
	u32 i;

	json_key(json, "latencies");
	json_begin(json, '[');
	for (i = 0; i < REPORT_KINDS_MAX; i++) {
		most = IOT_KIND_END;
		for (kind = 0; kind < IOT_KIND_END; kind++)
			if (p->kinds[kind].latency_ns && !is_put[kind] &&
			    (most == IOT_KIND_END || p->kinds[kind].sum.time_ns > p->kinds[most].sum.time_ns))
				most = kind;
		if (most == IOT_KIND_END)
			break;
		is_put[most] = true;
		put_curve(json, p, most);
	}
	json_end(json, ']');
}

/* -- waits --------------------------------------------------------------------------------------------------- */

/* Ranks in their order, then the processes with the most time. */
static int compare_times(const void *a, const void *b)
{
	const struct process_times *x = *(const struct process_times *const *)a, *y = *(const struct process_times *const *)b;

	if (x->rank != y->rank)
		return (u32)x->rank < (u32)y->rank ? -1 : 1; /* -1 is the largest */
	if (x->elapsed_ns != y->elapsed_ns)
		return x->elapsed_ns < y->elapsed_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Time of an unknown part is added to the last part. */
static void put_parts(struct json *json, const struct waits *w, const struct process_times *t)
{
	u64 unknown_ns = 0;

#define TIME_UNKNOWN(member, heading) \
	unknown_ns += waits_is_known(w, offsetof(struct process_times, member##_ns)) ? 0 : t->member##_ns;
	WAITS_TIMES(TIME_UNKNOWN)
#undef TIME_UNKNOWN
	json_begin(json, '[');
	json_unsigned(json, waits_is_known(w, offsetof(struct process_times, io_ns)) ? t->io_ns : 0);
	json_unsigned(json, waits_is_known(w, offsetof(struct process_times, compute_ns)) ? t->compute_ns : 0);
	json_unsigned(json, t->mpi_ns);
	json_unsigned(json, t->wait_ns);
	json_unsigned(json, t->unexplained_ns + unknown_ns);
	json_end(json, ']');
}

static void put_process(struct json *json, const struct waits *w, const struct process_times *t)
{
	char name[128];

	if (t->rank >= 0)
		snprintf(name, sizeof(name), "rank %d", t->rank);
	else
		snprintf(name, sizeof(name), "%s %u", t->command[0] ? t->command : "?", t->pid);
	json_begin(json, '{');
	json_put_string(json, "name", name);
	json_key(json, "ns");
	put_parts(json, w, t);
	json_end(json, '}');
}

static void put_times(struct json *json, const struct waits *w)
{
	static const char *const names[] = {
#define TIME_NAME(member, heading) heading,
		WAITS_TIMES(TIME_NAME)
#undef TIME_NAME
	};
	const struct process_times **times = calloc(w->count + 1ul, sizeof(*times));
	u32 i;

	json_key(json, "parts");
	json_begin(json, '[');
	for (i = 0; i < ARRAY_SIZE(names); i++)
		json_string(json, names[i]);
	json_end(json, ']');
	for (i = 0; times && i < w->count; i++)
		times[i] = &w->times[i];
	if (times)
		qsort(times, w->count, sizeof(*times), compare_times);
	json_put_unsigned(json, "processes", w->count);
	json_key(json, "times");
	json_begin(json, '[');
	for (i = 0; times && i < w->count && i < REPORT_ROWS_MAX; i++)
		put_process(json, w, times[i]);
	json_end(json, ']');
	free(times);
}

static void put_late(struct json *json, const struct late_arrivals *late)
{
	u32 i, count = late->rank_count < REPORT_ROWS_MAX ? late->rank_count : REPORT_ROWS_MAX;

	json_key(json, "late");
	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		struct waits_late_sum sum = waits_late_sum(late, late->ranks[i].rank);

		json_begin(json, '{');
		json_put_unsigned(json, "rank", late->ranks[i].rank);
		json_put_unsigned(json, "caused", sum.caused_ns);
		json_put_unsigned(json, "waited", sum.waited_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

/* -- runs ---------------------------------------------------------------------------------------------------- */

/* Time in operations by class. The class of a request is not known from its kind alone, but it has no time of its own. */
static void put_spent(struct json *json, const struct profile *p)
{
	u64 spent_ns[REPORT_CLASS_COUNT] = {};
	u16 kind;

	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct iot_record record = { .kind = kind };

		if (kind != IOT_KIND_complete && p->kinds[kind].sum.ops)
			spent_ns[report_class_of(&record)] += p->kinds[kind].sum.time_ns;
	}
	json_key(json, "spent");
	json_begin(json, '[');
	for (kind = 0; kind < REPORT_CLASS_COUNT; kind++)
		json_unsigned(json, spent_ns[kind]);
	json_unsigned(json, p->order_ns);
	json_end(json, ']');
}

static void put_started(struct json *json, const struct report *charts)
{
	u32 class;

	json_key(json, "started");
	json_begin(json, '[');
	for (class = 0; class < REPORT_CLASS_COUNT; class++)
		put_bins(json, NULL, charts->started[class], REPORT_BINS);
	json_end(json, ']');
}

static void put_run(struct json *json, const struct report_run *run)
{
	const struct report *charts = &run->charts;

	json_begin(json, '{');
	json_put_string(json, "name", run->run->path);
	json_put_string(json, "place", run->run->place);
	json_put_bool(json, "is_replay", run->run->is_replay);
	json_put_string(json, "pace", run->run->pace);
	json_put_real(json, "seconds", run->run->seconds);
	json_put_unsigned(json, "operations", charts->operations);
	json_put_bool(json, "all", charts->op_count + charts->nested >= charts->operations);
	json_put_unsigned(json, "end", charts->axis.end_ns - charts->axis.begin_ns);
	json_put_unsigned(json, "width", charts->axis.width_ns);
	json_put_unsigned(json, "map_width", charts->map_axis.width_ns);
	put_spent(json, run->run->profile);
	put_bins(json, "read", charts->read_bytes, REPORT_BINS);
	put_bins(json, "written", charts->written_bytes, REPORT_BINS);
	put_bins(json, "touched", charts->touched_bytes, REPORT_BINS);
	put_started(json, charts);
	put_lanes(json, charts);
	put_ops(json, charts);
	put_maps(json, charts);
	put_latencies(json, run->run->profile);
	if (run->has_waits)
		put_times(json, &run->waits);
	if (run->has_waits && run->waits.has_mpi)
		put_late(json, &run->waits.late);
	if (run->has_waits && run->around.node_count)
		report_around_data_put(json, run);
	json_end(json, '}');
	json_line(json);
}

/* Names and classes of kinds, by id. */
static void put_kinds(struct json *json)
{
	u16 kind;

	json_key(json, "kinds");
	json_begin(json, '{');
	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct iot_kind_info *info = iot_kind_info(kind);
		const struct iot_record record = { .kind = kind };
		char id[8];

		if (!info || (info->group != IOT_GROUP_op && info->group != IOT_GROUP_mpi))
			continue;
		snprintf(id, sizeof(id), "%u", kind);
		json_key(json, id);
		json_begin(json, '[');
		json_string(json, info->name);
		json_unsigned(json, report_class_of(&record));
		json_end(json, ']');
	}
	json_end(json, '}');
}

/**
 * report_data_put() - write the data of all charts
 */
void report_data_put(FILE *out, const struct report_view *view)
{
	struct json json;
	size_t i;

	json_open(&json, out);
	json.is_in_html = true;
	json_begin(&json, '{');
	json_key(&json, "classes");
	json_begin(&json, '[');
	for (i = 0; i < REPORT_CLASS_COUNT; i++)
		json_string(&json, report_class_name((enum report_class)i));
	json_end(&json, ']');
	json_key(&json, "percents");
	json_begin(&json, '[');
	for (i = 0; i < ARRAY_SIZE(percents); i++)
		json_real(&json, percents[i]);
	json_end(&json, ']');
	json_put_unsigned(&json, "bins", REPORT_BINS);
	json_put_unsigned(&json, "map_bins", REPORT_MAP_BINS);
	json_put_unsigned(&json, "map_rows", REPORT_MAP_ROWS);
	json_put_unsigned(&json, "share_levels", SHARE_LEVELS);
	json_put_unsigned(&json, "map_levels", MAP_LEVELS);
	put_kinds(&json);
	json_key(&json, "runs");
	json_begin(&json, '[');
	for (i = 0; i < view->comparison->run_count; i++)
		put_run(&json, &view->runs[i]);
	json_end(&json, ']');
	json_end(&json, '}');
}
