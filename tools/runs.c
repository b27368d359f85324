// SPDX-License-Identifier: GPL-2.0-only
/*
 * runs.c - runs side by side, as tables.
 */
#include "runs.h"

#include <math.h>
#include <string.h>

#include "analyse/stats/repeats.h"

/* Operations with less of the time of every run are left out unless requested. */
#define SHARE_SHOWN 0.01

typedef void (*cell_fn)(struct table *table, const struct comparison_run *run);

static void trace_cell(struct table *table, const struct comparison_run *run)
{
	const char *slash = strrchr(run->path, '/');

	table_cell(table, "%s", slash ? slash + 1 : run->path);
}

static void type_cell(struct table *table, const struct comparison_run *run)
{
	table_cell(table, run->is_replay ? "replay" : "original");
}

static void place_cell(struct table *table, const struct comparison_run *run)
{
	table_cell(table, "%s", run->place);
}

static void pace_cell(struct table *table, const struct comparison_run *run)
{
	table_cell(table, "%s", run->pace[0] ? run->pace : "-");
}

static void seconds_cell(struct table *table, const struct comparison_run *run)
{
	table_cell(table, "%.3f", run->seconds);
}

static void change_cell(struct table *table, const struct comparison_run *run, bool is_shown)
{
	if (isnan(run->change) || !is_shown)
		table_cell(table, "-");
	else
		table_cell(table, "%+.1f %%", 100 * run->change);
}

static void timing_cell(struct table *table, const struct comparison_run *run)
{
	change_cell(table, run, run->is_same_storage);
}

static void predicted_cell(struct table *table, const struct comparison_run *run)
{
	change_cell(table, run, !run->is_same_storage);
}

static void semantic_cell(struct table *table, const struct comparison_run *run)
{
	if (run->is_replay)
		table_cell(table, "%llu", run->profile->diverged);
	else
		table_cell(table, "-");
}

static void unsupported_cell(struct table *table, const struct comparison_run *run)
{
	if (run->is_replay)
		table_cell(table, "%llu", run->profile->unable);
	else
		table_cell(table, "-");
}

static void emulated_cell(struct table *table, const struct comparison_run *run)
{
	if (run->is_replay)
		table_cell(table, "%llu", run->profile->emulated);
	else
		table_cell(table, "-");
}

static void harmless_cell(struct table *table, const struct comparison_run *run)
{
	if (run->is_replay)
		table_cell(table, "%llu", run->profile->harmless);
	else
		table_cell(table, "-");
}

static void late_cell(struct table *table, const struct comparison_run *run)
{
	if (run->is_replay)
		table_time(table, run->profile->late_ns);
	else
		table_cell(table, "-");
}

static void latest_cell(struct table *table, const struct comparison_run *run)
{
	if (run->is_replay)
		table_time(table, run->profile->late_max_ns);
	else
		table_cell(table, "-");
}

/* -- of operations on files, if they were recorded -- */

static void count_cell(struct table *table, const struct comparison_run *run, u64 count)
{
	if (run->profile->is_mpi_only)
		table_cell(table, "-");
	else
		table_cell(table, "%llu", count);
}

static void bytes_cell(struct table *table, const struct comparison_run *run, u64 bytes)
{
	if (run->profile->is_mpi_only)
		table_cell(table, "-");
	else
		table_bytes(table, bytes);
}

static void spent_cell(struct table *table, const struct comparison_run *run, u64 ns)
{
	if (run->profile->is_mpi_only)
		table_cell(table, "-");
	else
		table_time(table, ns);
}

/* A lower bound: for some reasons, the number of missing operations is unknown. */
static void missing_cell(struct table *table, const struct comparison_run *run)
{
	const struct iot_omissions *omissions = &run->profile->omissions;
	bool are_more;
	u64 missing = iot_omissions_operations(omissions, &are_more);
	u64 all = omissions->operations + missing;

	if (!missing)
		table_cell(table, are_more ? "unknown" : "0");
	else
		table_cell(table, "%s%.1f %%", are_more ? ">= " : "",
			   100 * (double)missing / (double)all);
}

static void operations_cell(struct table *table, const struct comparison_run *run)
{
	count_cell(table, run, run->profile->sum.ops);
}

static void failed_cell(struct table *table, const struct comparison_run *run)
{
	count_cell(table, run, run->profile->sum.errors);
}

static void read_cell(struct table *table, const struct comparison_run *run)
{
	bytes_cell(table, run, run->profile->sum.read_bytes);
}

static void written_cell(struct table *table, const struct comparison_run *run)
{
	bytes_cell(table, run, run->profile->sum.written_bytes);
}

static void bandwidth_cell(struct table *table, const struct comparison_run *run, u64 bytes)
{
	char text[32];

	table_cell(table, "%s", quantity_bandwidth(text, profile_bandwidth(run->profile, bytes)));
}

static void read_bandwidth_cell(struct table *table, const struct comparison_run *run)
{
	bandwidth_cell(table, run, run->profile->sum.read_bytes);
}

static void write_bandwidth_cell(struct table *table, const struct comparison_run *run)
{
	bandwidth_cell(table, run, run->profile->sum.written_bytes);
}

static void touched_cell(struct table *table, const struct comparison_run *run)
{
	bytes_cell(table, run, run->profile->sum.touched_bytes);
}

static void time_cell(struct table *table, const struct comparison_run *run)
{
	spent_cell(table, run, run->profile->sum.time_ns);
}

/* -- of MPI calls, if there are any -- */

static void mpi_calls_cell(struct table *table, const struct comparison_run *run)
{
	if (run->profile->mpi.ops)
		table_cell(table, "%llu", run->profile->mpi.ops);
	else
		table_cell(table, "-");
}

static void mpi_time_cell(struct table *table, const struct comparison_run *run)
{
	if (run->profile->mpi.ops)
		table_time(table, run->profile->mpi.time_ns);
	else
		table_cell(table, "-");
}

static bool has_prediction(const struct comparison *c)
{
	u32 i;

	for (i = 0; i < c->run_count; i++)
		if (!isnan(c->runs[i].change) && !c->runs[i].is_same_storage)
			return true;
	return false;
}

static const struct {
	const char *name;
	cell_fn cell;
	bool (*is_shown)(const struct comparison *c); /* NULL: always */
} rows[] = {
	{ "", trace_cell },
	{ "run", type_cell },
	{ "on", place_cell },
	{ "pace", pace_cell },
	{ "seconds", seconds_cell },
	{ "timing error", timing_cell },
	{ "predicted change", predicted_cell, has_prediction },
	{ "semantic errors", semantic_cell },
	{ "target cannot", unsupported_cell },
	{ "emulated", emulated_cell },
	{ "made harmless", harmless_cell },
	{ "operations", operations_cell },
	{ "missing operations", missing_cell },
	{ "failed", failed_cell },
	{ "read", read_cell },
	{ "written", written_cell },
	{ "touched", touched_cell },
	{ "read bandwidth", read_bandwidth_cell },
	{ "write bandwidth", write_bandwidth_cell },
	{ "time in operations", time_cell },
	{ "MPI calls", mpi_calls_cell, comparison_has_mpi },
	{ "time in MPI calls", mpi_time_cell, comparison_has_mpi },
	{ "late wake-ups", late_cell },
	{ "latest wake-up", latest_cell },
};

/**
 * runs_table() - the totals of each run
 * @table: filled in; to be freed by table_close()
 * @c: the runs
 */
void runs_table(struct table *table, const struct comparison *c)
{
	size_t i;
	u32 n;

	table_open(table, (int)c->run_count + 1);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].is_shown && !rows[i].is_shown(c))
			continue;
		table_cell(table, "%s", rows[i].name);
		for (n = 0; n < c->run_count; n++)
			rows[i].cell(table, &c->runs[n]);
	}
}

/**
 * runs_have_nodes() - is any run one on several nodes?
 */
bool runs_have_nodes(const struct comparison *c)
{
	u32 i;

	for (i = 0; i < c->run_count; i++)
		if (c->runs[i].profile->node_count > 1)
			return true;
	return false;
}

/* Values that are equal on all nodes are not repeated for each node. */
static const char *host_of(const struct comparison_run *run, const struct profile_node *node)
{
	const char *host = profile_fact(run->profile, "host");

	if (node->host[0])
		return node->host;
	return run->is_replay ? host ? host : "-" : node->name;
}

static void node_row(struct table *table, const struct comparison_run *run, const struct profile_node *node)
{
	trace_cell(table, run);
	table_cell(table, "%s", node->name);
	table_cell(table, "%s", host_of(run, node));
	table_cell(table, "%s", node->ranks[0] ? node->ranks : "-");
	table_cell(table, "%llu", node->tasks);
	count_cell(table, run, node->sum.ops);
	count_cell(table, run, node->sum.errors);
	if (run->is_replay)
		table_cell(table, "%llu", node->diverged);
	else
		table_cell(table, "-");
	bytes_cell(table, run, node->sum.read_bytes);
	bytes_cell(table, run, node->sum.written_bytes);
	spent_cell(table, run, node->sum.time_ns);
	if (run->is_replay)
		table_time(table, node->late_max_ns);
	else
		table_cell(table, "-");
}

/**
 * nodes_table() - the totals of each node, for runs on several nodes
 * @table: filled in; to be freed by table_close()
 * @c: the runs
 */
void nodes_table(struct table *table, const struct comparison *c)
{
	static const char *const heads[] = {
		"", "node", "host", "ranks", "tasks", "operations", "failed", "semantic errors", "read",
		"written", "time in operations", "latest wake-up",
	};
	size_t i;
	u32 n, k;

	table_open(table, sizeof(heads) / sizeof(heads[0]));
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		table_cell(table, "%s", heads[i]);
	for (n = 0; n < c->run_count; n++)
		for (k = 0; k < c->runs[n].profile->node_count; k++)
			node_row(table, &c->runs[n], &c->runs[n].profile->nodes[k]);
}

/**
 * repeats_table() - runs that were made more than once
 * @table: filled in; to be freed by table_close()
 * @c: the runs
 *
 * Return: false, and nothing is filled in, if there are none.
 */
bool repeats_table(struct table *table, const struct comparison *c)
{
	static const char *const heads[] = { "repeats", "runs", "median", "from", "to", "change", "" };
	struct repeats repeats[COMPARISON_RUNS_MAX / 2];
	u32 i, count = repeats_find(c, repeats);
	size_t k;

	if (!count)
		return false;
	table_open(table, sizeof(heads) / sizeof(heads[0]));
	for (k = 0; k < sizeof(heads) / sizeof(heads[0]); k++)
		table_cell(table, "%s", heads[k]);
	for (i = 0; i < count; i++) {
		trace_cell(table, &c->runs[repeats[i].first]);
		table_cell(table, "%u", repeats[i].count);
		table_cell(table, "%.3f s", repeats[i].median_s);
		table_cell(table, "%.3f s", repeats[i].min_s);
		table_cell(table, "%.3f s", repeats[i].max_s);
		if (isnan(repeats[i].change))
			table_cell(table, "-");
		else
			table_cell(table, "%+.1f %%", 100 * repeats[i].change);
		table_cell(table, "%s", repeats[i].is_within_noise ? "within the scatter" : "");
	}
	return true;
}

static const struct {
	const char *name;
	double percent;
} percentiles[] = { { "p50", 50 }, { "p99", 99 }, { "max", 100 } };

static void latency_cell(struct table *table, const struct histogram *latency_ns, double percent)
{
	if (latency_ns)
		table_time(table, histogram_percentile(latency_ns, percent));
	else
		table_cell(table, "-");
}

static void latency_rows(struct table *table, const struct comparison *c, u16 kind)
{
	size_t i;
	u32 n;

	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		table_cell(table, "%s %s", iot_kind_info(kind)->name, percentiles[i].name);
		for (n = 0; n < c->run_count; n++)
			latency_cell(table, c->runs[n].profile->kinds[kind].latency_ns,
				     percentiles[i].percent);
	}
}

/**
 * latency_table() - percentiles of the operations of each run
 * @table: filled in; to be freed by table_close()
 * @c: the runs
 * @is_all: of all operations, not only of those that take a share of the time
 */
void latency_table(struct table *table, const struct comparison *c, bool is_all)
{
	u16 kind;

	table_open(table, (int)c->run_count + 1);
	for (kind = 0; kind < IOT_KIND_END; kind++)
		if (comparison_has_kind(c, kind) &&
		    (is_all || comparison_share(c, kind) >= SHARE_SHOWN))
			latency_rows(table, c, kind);
}
