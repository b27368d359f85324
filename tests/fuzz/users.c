// SPDX-License-Identifier: GPL-2.0-only
/*
 * users.c - mutated traces through all that takes whole traces: columns, profile, hints, top, diff, partners, late arrivals,
 * charts, exports, compiler.
 *
 *	users [OPTION]... TRACE...	see fuzz_options()
 *
 * Also checks that all of them refuse the same traces, and that the compiler writes a valid
 * program, or refuses without leaving a file.
 */
#include <ftw.h>
#include <iotape/iotape.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "advise/advise.h"
#include "analyse/diff/diff.h"
#include "analyse/graph/graph_load.h"
#include "analyse/mpi/mpi_late.h"
#include "analyse/mpi/mpi_partners.h"
#include "analyse/stats/profile.h"
#include "compile/compile.h"
#include "export/export.h"
#include "make_trace.h"
#include "report/report.h"
#include "tools/top.h"

static char directory[] = "/tmp/iotape-fuzz-XXXXXX";
static char program_path[sizeof(directory) + sizeof("/program")];
static char output_path[sizeof(directory) + sizeof("/output")];

static void check(bool is_so, const char *what)
{
	if (is_so)
		return;
	fprintf(stderr, "# a promise is broken: %s\n", what);
	abort();
}

static int profile(const char *path, struct iot_reject *reject)
{
	struct profile *profile;
	int err = profile_read(path, &profile, reject);

	if (!err)
		profile_free(profile);
	return err;
}

static int diff(const char *path, struct iot_reject *reject)
{
	const char *const paths[] = { path, path };
	struct diff_result result;
	const struct diff_options options = { .items_max = 4 };
	int refused, err = diff_traces(paths, &options, &result, &refused, reject);

	if (!err)
		diff_free(&result);
	return err;
}

static int partners(const char *path, struct iot_reject *reject)
{
	struct partner *partners;
	struct graph *graph;
	struct tree *tree;
	u32 count, i;
	int err;

	if (graph_open(&graph) || tree_open(&tree))
		abort();
	err = load_trace(path, graph, tree, NULL, reject);
	if (!err) {
		check(!graph_partners(graph, &partners, &count), "partners of what was loaded are found");
		for (i = 0; i < count; i++)
			check(partners[i].with == GRAPH_NONE || partners[i].with < count, "a partner is a call");
		free(partners);
	}
	tree_close(tree);
	graph_close(graph);
	return err;
}

static int late(const char *path, struct iot_reject *reject)
{
	struct late_arrivals arrivals;
	const struct late_row *row;
	struct graph *graph;
	struct tree *tree;
	int err;

	if (graph_open(&graph) || tree_open(&tree))
		abort();
	err = load_trace(path, graph, tree, NULL, reject);
	if (!err) {
		check(!graph_late_arrivals(graph, &arrivals), "late arrivals of what was loaded are found");
		check(arrivals.certain <= arrivals.parts, "no part needs others twice");
		for (row = arrivals.rows; row; row = row->hh.next)
			check(row->times && row->max_ns <= row->sum_ns, "a row has waits");
		late_arrivals_free(&arrivals);
	}
	tree_close(tree);
	graph_close(graph);
	return err;
}

/* All columns of libiotape, in batches of some rows. */
static int columns(const char *path, struct rng *rng)
{
	static const char *const names[] = { "kind", "path",  "begin_ns", "end_ns",	  "task",     "moved_bytes",
					     "handle", "size_bytes", "result", "offset_bytes", "op_kind", "runtime_ns" };
	enum { COLUMNS = sizeof(names) / sizeof(names[0]), ROWS = 64 };
	static uint64_t values[COLUMNS][ROWS];
	static unsigned char known[COLUMNS][ROWS];
	struct iotape_column table[COLUMNS];
	struct iotape_reader *reader;
	int result, i;

	for (i = 0; i < COLUMNS; i++)
		table[i] = (struct iotape_column){ names[i], values[i], known[i] };
	result = iotape_reader_open(path, IOTAPE_READER_PATHS, &reader, NULL);
	if (result)
		return result;
	while ((result = iotape_reader_columns(reader, NULL, 0, table, COLUMNS, 1 + rng_below(rng, ROWS), NULL)) > 0) {
		for (i = 0; i < result; i++) {
			check(known[0][i] && iotape_kind_at(values[0][i]), "a kind exists");
			check(!known[1][i] || iotape_reader_path_at(reader, values[1][i]), "a path exists");
		}
	}
	iotape_reader_close(reader);
	return result;
}

static int advise(const char *path, struct iot_reject *reject)
{
	struct advise advise;
	int err = advise_read(path, &advise, reject);

	advise_free(&advise);
	return err;
}

static void check_lanes(const struct report *report, const struct report_limits *limits)
{
	u64 operations = 0;
	u32 i;

	check(report->lane_count <= limits->lanes, "rows have a limit");
	for (i = 0; i < report->lane_count; i++) {
		check(report->lanes[i].ranks && report->lanes[i].name[0], "a row has a name");
		operations += report->lanes[i].operations;
	}
	check(operations == report->operations, "each operation is in a row");
}

static int charts(const char *path, struct iot_reject *reject)
{
	static struct report report;
	const struct report_limits limits = { 4, 20, 2 };
	int err = report_read(path, &limits, &report, reject);
	u64 started = 0;
	u32 class, i;

	if (!err) {
		for (class = 0; class < REPORT_CLASS_COUNT; class++)
			for (i = 0; i < REPORT_BINS; i++)
				started += report.started[class][i];
		check(started == report.operations, "each operation is in a bin");
		check_lanes(&report, &limits);
		check(report.op_count <= limits.ops && report.map_count <= limits.maps, "charts have limits");
	}
	report_free(&report);
	return err;
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	return remove(path);
}

static int top(const char *path, struct iot_reject *reject)
{
	struct top top;
	int err = top_open(&top, path, reject);

	if (!err)
		err = top_take(&top, reject);
	top_close(&top);
	return err;
}

/* One of the formats. */
static int export(const char *path, struct rng *rng, struct iot_reject *reject)
{
	static struct export_summary summary;
	struct export_options options = { .trace = path };
	size_t count = 0;
	int err;

	while (export_format_at(count))
		count++;
	options.format = export_format_at(rng_below(rng, (u32)count));
	options.directory = output_path;
	options.out = fopen("/dev/null", "w");
	if (!options.out || mkdir(output_path, 0700))
		abort();
	err = export_trace(&options, &summary, reject);
	fclose(options.out);
	if (nftw(output_path, remove_entry, 16, FTW_DEPTH | FTW_PHYS))
		abort();
	return err;
}

static int compile(const char *path, struct iot_reject *reject)
{
	const struct compile_options options = { .trace = path, .program = program_path };
	struct compile_summary summary;
	struct iot_program program;
	int err = compile_trace(&options, &summary, reject);

	compile_summary_free(&summary);
	if (err) {
		check(access(program_path, F_OK), "there is no program that was not made");
		return err;
	}
	check(!iot_program_load(program_path, &program, reject), "a program that was made is sound");
	iot_program_free(&program);
	unlink(program_path);
	return 0;
}

/* What needs single operations also refuses a trace in which they were counted, at the first sign of that. */
static bool agree(int other_err, const struct iot_reject *other, int err, const struct iot_reject *reject)
{
	return other->reason == IOT_REJECT_counted || (other_err == err && other->reason == reject->reason);
}

static int feed(struct trace_bytes *input, struct rng *rng, struct iot_reject *reject)
{
	const char *path = trace_path(input->bytes, input->count);
	struct iot_reject other = {};
	int err = profile(path, reject);

	check(columns(path, rng) == err, "columns refuse the same");
	check(agree(advise(path, &other), &other, err, reject), "hints refuse the same");
	other = (struct iot_reject){};
	check(agree(charts(path, &other), &other, err, reject), "charts refuse the same");
	other = (struct iot_reject){};
	check(agree(top(path, &other), &other, err, reject), "top refuses the same");
	other = (struct iot_reject){};
	check(agree(diff(path, &other), &other, err, reject), "diff refuses the same");
	other = (struct iot_reject){};
	check(agree(partners(path, &other), &other, err, reject), "partners refuses the same");
	other = (struct iot_reject){};
	check(agree(late(path, &other), &other, err, reject), "late arrivals refuse the same");
	other = (struct iot_reject){};
	check(agree(export(path, rng, &other), &other, err, reject), "exports refuse the same");
	other = (struct iot_reject){};
	if (!err)
		return compile(path, reject);
	check(agree(compile(path, &other), &other, err, reject), "compile refuses the same");
	return err;
}

int main(int argc, char **argv)
{
	struct tally tally = { .what = "traces in diff, stat and compile" };
	int code = 1;

	if (!mkdtemp(directory))
		return 1;
	sprintf(program_path, "%s/program", directory);
	sprintf(output_path, "%s/output", directory);
	if (!fuzz_traces(argc, argv, &tally, feed))
		code = tally_report(&tally, 0, 0, NULL); /* reasons are counted by traces.c */
	rmdir(directory);
	return code;
}
