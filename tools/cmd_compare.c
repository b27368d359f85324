// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_compare.c - iotape compare: runs side by side, originals and replays.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyse/stats/comparison.h"
#include "analyse/stats/repeats.h"
#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "runs.h"
#include "terminal.h"

struct options {
	const char *paths[COMPARISON_RUNS_MAX];
	u32 path_count;
	bool is_all;
	bool is_json;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct option_row option_rows[] = {
	{ "all", 'a', .field = FIELD(is_all),
	  .help = "print the latencies of all operations, not only of those with at least 1 % of the time" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON" },
	{},
};

static void add_trace(struct option_state *state, char *path)
{
	struct options *options = state->options;

	if (options->path_count == COMPARISON_RUNS_MAX)
		option_error(state, "%s: at most %d traces at a time", path, COMPARISON_RUNS_MAX);
	options->paths[options->path_count++] = path;
}

static void check(struct option_state *state)
{
	if (!state->operands)
		option_error(state, "no trace given");
}

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE...",
	.operand_type = OPTION_FILE,
	.add = add_trace,
	.check = check,
	.is_paged = true,
	.about = "Compare recordings and outcomes of replays (iotape replay -o) side by side.",
	.notes = "The timing error of a replay at natural pace is relative to a recording on the same storage "
		 "before it on the command line. Without one, the predicted change is relative to the recording "
		 "that it replays. Semantic errors are operations that diverged from the trace. Lines that begin "
		 "with # list what limits the comparison.",
};

/* -- JSON ----------------------------------------------------------------------------------------- */

static void put_if(struct json *json, const char *key, bool is_known, u64 value)
{
	if (is_known)
		json_put_unsigned(json, key, value);
	else
		json_put_null(json, key);
}

static void percentile_json(struct json *json, const char *key, const struct histogram *latency_ns,
			    double percent)
{
	put_if(json, key, latency_ns, latency_ns ? histogram_percentile(latency_ns, percent) : 0);
}

static void latencies_json(struct json *json, const struct profile *p)
{
	u16 kind;

	json_key(json, "latencies");
	json_begin(json, '{');
	for (kind = 0; kind < IOT_KIND_END; kind++) {
		const struct histogram *latency_ns = p->kinds[kind].latency_ns;

		if (!p->kinds[kind].sum.ops)
			continue;
		json_key(json, iot_kind_info(kind)->name);
		json_begin(json, '{');
		json_put_unsigned(json, "count", latency_ns ? latency_ns->count : 0);
		percentile_json(json, "p50_ns", latency_ns, 50);
		percentile_json(json, "p90_ns", latency_ns, 90);
		percentile_json(json, "p99_ns", latency_ns, 99);
		percentile_json(json, "max_ns", latency_ns, 100);
		json_end(json, '}');
	}
	json_end(json, '}');
}

static void node_json(struct json *json, const struct profile_node *node, bool is_known)
{
	json_begin(json, '{');
	json_put_string(json, "node", node->name);
	json_put_string(json, "host", node->host);
	json_put_string(json, "ranks", node->ranks);
	json_put_unsigned(json, "tasks", node->tasks);
	put_if(json, "operations", is_known, node->sum.ops);
	put_if(json, "failed", is_known, node->sum.errors);
	json_put_unsigned(json, "semantic_errors", node->diverged);
	put_if(json, "read_bytes", is_known, node->sum.read_bytes);
	put_if(json, "written_bytes", is_known, node->sum.written_bytes);
	put_if(json, "time_ns", is_known, node->sum.time_ns);
	json_put_unsigned(json, "late_ns", node->late_ns);
	json_put_unsigned(json, "late_max_ns", node->late_max_ns);
	json_end(json, '}');
}

static void nodes_json(struct json *json, const struct profile *p)
{
	u32 i;

	json_key(json, "nodes");
	json_begin(json, '[');
	for (i = 0; i < p->node_count; i++)
		node_json(json, &p->nodes[i], !p->is_mpi_only);
	json_end(json, ']');
}

/* -- divergences ---------------------------------------------------------------------------------- */

static const char *kind_name(u16 kind)
{
	const struct iot_kind_info *info = iot_kind_info(kind);

	return info ? info->name : "operation";
}

static void divergences_json(struct json *json, const struct profile *p)
{
	u32 i;

	json_key(json, "divergences");
	json_begin(json, '[');
	for (i = 0; i < p->divergence_count; i++) {
		const struct profile_divergence *d = &p->divergences[i];

		json_begin(json, '{');
		json_put_unsigned(json, "task", d->task);
		json_put_unsigned(json, "op", d->op);
		json_put_string(json, "kind", kind_name(d->kind));
		if (d->path)
			json_put_string(json, "path", d->path);
		else
			json_put_null(json, "path");
		json_key(json, "expected");
		json_signed(json, d->expected);
		json_key(json, "observed");
		json_signed(json, d->got);
		put_if(json, "other_task", d->other_task, d->other_task);
		put_if(json, "other_op", d->other_task, d->other_op);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void print_outcome(s64 result)
{
	const char *name = iot_text_errno(result);

	if (name)
		fputs(name, stdout);
	else
		printf("%lld", (long long)result);
}

static void print_divergences(const struct comparison_run *run)
{
	const struct profile *p = run->profile;
	char path[IOT_PROGRAM_PATH_MAX];
	u32 i;

	for (i = 0; i < p->divergence_count; i++) {
		const struct profile_divergence *d = &p->divergences[i];

		iot_text_bytes(path, sizeof(path), d->path ?: "?", strlen(d->path ?: "?"));
		printf("# %s: task %u, operation %u: %s %s: expected ", run->path, d->task, d->op, kind_name(d->kind), path);
		print_outcome(d->expected);
		printf(", observed ");
		print_outcome(d->got);
		if (d->other_task)
			printf("; the order after task %u, operation %u may be missing", d->other_task, d->other_op);
		putchar('\n');
	}
	if (p->diverged > p->divergence_count)
		printf("# %s: %llu more operations diverged\n", run->path,
		       (unsigned long long)(p->diverged - p->divergence_count));
}

static void run_json(struct json *json, const struct comparison_run *run)
{
	const struct profile *p = run->profile;
	bool is_known = !p->is_mpi_only;

	json_begin(json, '{');
	json_put_string(json, "trace", run->path);
	json_put_bool(json, "is_replay", run->is_replay);
	json_put_string(json, "on", run->place);
	json_put_string(json, "pace", run->pace);
	json_put_string(json, "data", run->data);
	json_put_real(json, "seconds", run->seconds);
	json_put_real(json, "timing_error", run->is_same_storage ? run->change : NAN);
	json_put_real(json, "predicted_change", run->is_same_storage ? NAN : run->change);
	json_put_unsigned(json, "semantic_errors", p->diverged);
	divergences_json(json, p);
	json_put_unsigned(json, "unsupported", p->unable);
	json_put_unsigned(json, "emulated", p->emulated);
	json_put_unsigned(json, "harmless", p->harmless);
	put_if(json, "operations", is_known, p->sum.ops);
	put_if(json, "failed", is_known, p->sum.errors);
	put_if(json, "read_bytes", is_known, p->sum.read_bytes);
	put_if(json, "written_bytes", is_known, p->sum.written_bytes);
	put_if(json, "touched_bytes", is_known, p->sum.touched_bytes);
	json_put_real(json, "read_bytes_per_s", profile_bandwidth(p, p->sum.read_bytes));
	json_put_real(json, "written_bytes_per_s", profile_bandwidth(p, p->sum.written_bytes));
	put_if(json, "time_ns", is_known, p->sum.time_ns);
	json_put_unsigned(json, "mpi_calls", p->mpi.ops);
	json_put_unsigned(json, "mpi_time_ns", p->mpi.time_ns);
	json_put_unsigned(json, "late_ns", p->late_ns);
	json_put_unsigned(json, "late_max_ns", p->late_max_ns);
	json_put_unsigned(json, "stalls", p->stalls);
	omissions_json(json, &p->omissions);
	nodes_json(json, p);
	latencies_json(json, p);
	json_end(json, '}');
}

static void repeats_json(struct json *json, const struct comparison *c)
{
	struct repeats repeats[COMPARISON_RUNS_MAX / 2];
	u32 i, count = repeats_find(c, repeats);

	json_key(json, "repeats");
	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		json_begin(json, '{');
		json_put_string(json, "first", c->runs[repeats[i].first].path);
		json_put_unsigned(json, "runs", repeats[i].count);
		json_put_real(json, "median_seconds", repeats[i].median_s);
		json_put_real(json, "min_seconds", repeats[i].min_s);
		json_put_real(json, "max_seconds", repeats[i].max_s);
		json_put_real(json, "change", repeats[i].change);
		json_put_bool(json, "is_within_noise", repeats[i].is_within_noise);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void print_json(const struct comparison *c)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_key(&json, "runs");
	json_begin(&json, '[');
	for (i = 0; i < c->run_count; i++)
		run_json(&json, &c->runs[i]);
	json_end(&json, ']');
	repeats_json(&json, c);
	json_key(&json, "warnings");
	json_begin(&json, '[');
	for (i = 0; i < c->warning_count; i++)
		json_string(&json, c->warnings[i].text);
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void print_text(const struct options *options, const struct comparison *c)
{
	struct table table;
	u32 i;

	runs_table(&table, c);
	table_print(&table, stdout);
	table_close(&table);
	putchar('\n');
	if (repeats_table(&table, c)) {
		table_print(&table, stdout);
		table_close(&table);
		putchar('\n');
	}
	if (runs_have_nodes(c)) {
		nodes_table(&table, c);
		table_print(&table, stdout);
		table_close(&table);
		putchar('\n');
	}
	latency_table(&table, c, options->is_all);
	table_print(&table, stdout);
	table_close(&table);
	for (i = 0; i < c->run_count; i++)
		print_divergences(&c->runs[i]);
	for (i = 0; i < c->warning_count; i++)
		printf("# %s\n", c->warnings[i].text);
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct comparison comparison;
	struct iot_reject reject;
	u32 refused;
	int err, code = EXIT_DONE;

	options_parse(&option_table, argc, argv, &options);
	err = comparison_read(options.paths, options.path_count, &comparison, &refused, &reject);
	if (!err)
		terminal_output_begin();
	if (err)
		code = fail_reject(options.paths[refused], err, &reject);
	else if (options.is_json)
		print_json(&comparison);
	else
		print_text(&options, &comparison);
	comparison_free(&comparison);
	return code;
}

const struct cmd cmd_compare = {
	.name = "compare",
	.summary = "compare recordings and replays side by side",
	.run = run,
	.options = &option_table,
};
