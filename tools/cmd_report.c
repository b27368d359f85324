// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_report.c - iotape report: a job, or runs side by side, in one HTML file that needs nothing else.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "browser.h"
#include "cmd.h"
#include "option.h"
#include "report_page.h"

/* Of each run, however many there are. */
#define LANES_MIN 16
#define MAPS_MIN  2

#define WAITS_OPERATIONS_MAX 3000000 /* the graph of waits takes about 300 bytes of memory for each */

struct options {
	const char *paths[COMPARISON_RUNS_MAX];
	u32 path_count;
	const char *output;
	const char *title;
	bool is_pdf;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_trace(struct option_state *state, char *path)
{
	struct options *options = state->options;

	if (options->path_count == COMPARISON_RUNS_MAX)
		option_error(state, "%s: at most %d traces at a time", path, COMPARISON_RUNS_MAX);
	options->paths[options->path_count++] = path;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->path_count)
		option_error(state, "no trace given");
	if (!options->output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the report to FILE (required)" },
	{ "pdf", 0, OPTION_FLAG, NULL, .field = FIELD(is_pdf),
	  .help = "write PDF instead of HTML, by an installed Chromium or Chrome" },
	{ "title", 't', OPTION_TEXT, "TEXT", .field = FIELD(title), .help = "heading (default: Report of a job, or Runs side by side)" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE...",
	.operand_type = OPTION_FILE,
	.add = add_trace,
	.check = check,
	.about = "Write one HTML file with charts and tables: for a trace, its operations over time, the division of its time, and "
		 "hints; for several traces, also the output of `iotape compare`.",
};

/* -- reading ------------------------------------------------------------------------------------- */

/* All runs share a page, which stays small. */
static struct report_limits limits_of(u32 runs)
{
	struct report_limits limits = { REPORT_LANES_MAX / runs, REPORT_OPS_MAX / runs, REPORT_FILES / runs };

	if (limits.lanes < LANES_MIN)
		limits.lanes = LANES_MIN;
	if (limits.maps < MAPS_MIN)
		limits.maps = MAPS_MIN;
	return limits;
}

/* Hints and waits are about a job, not about a replay of it. */
static int read_job(const char *path, struct report_run *run, struct iot_reject *reject)
{
	int err = advise_read(path, &run->advise, reject);

	run->has_advise = true;
	if (err)
		return err;
	if (run->run->profile->sum.ops + run->run->profile->mpi.ops > WAITS_OPERATIONS_MAX) {
		snprintf(run->why, sizeof(run->why), "Times, waits and dependencies are not computed here for more than %u "
			 "operations: see iotape stat --waits.", WAITS_OPERATIONS_MAX);
		return 0;
	}
	*reject = (struct iot_reject){};
	err = waits_read(&run->waits, path, reject);
	if (!err)
		err = around_make(&run->around, analysis_graph(run->waits.analysis), AROUND_NODES_MAX / run->all->run_count);
	run->has_waits = !err;
	if (err) { /* the passes need more of a trace than other readers: the rest of the report is kept */
		around_free(&run->around);
		waits_close(&run->waits);
		snprintf(run->why, sizeof(run->why), "Times, waits and dependencies could not be computed: %s.",
			 reject->reason ? iot_reject_sentence(reject) : strerror(-err));
	}
	return 0;
}

static int read_run(const struct report_limits *limits, struct report_run *run, struct iot_reject *reject)
{
	const char *path = run->run->path;
	int err = report_read(path, limits, &run->charts, reject);

	run->sites.key = BREAKDOWN_site;
	if (!err)
		err = breakdown_read(path, &run->sites, reject);
	if (run->run->is_replay)
		strcpy(run->why, "Hints, waits and dependencies are about a job, so they are not shown for a replay.");
	else if (!err)
		err = read_job(path, run, reject);
	return err;
}

static void runs_free(struct report_run *runs, u32 count)
{
	u32 i;

	for (i = 0; runs && i < count; i++) {
		report_free(&runs[i].charts);
		breakdown_free(&runs[i].sites);
		if (runs[i].has_advise)
			advise_free(&runs[i].advise);
		if (runs[i].has_waits) {
			around_free(&runs[i].around);
			waits_close(&runs[i].waits);
		}
	}
	free(runs);
}

/* -- writing ------------------------------------------------------------------------------------- */

static int nonce_make(char nonce[33])
{
	unsigned char bytes[16];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -errno;
	for (i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int write_report(const struct options *options, struct report_view *view)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	int err = out ? nonce_make(view->nonce) : -ENOMEM, code = EXIT_DONE;

	if (out && !err)
		report_page_put(out, view);
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err && options->is_pdf)
		code = browser_print(text, bytes, options->output);
	else if (!err)
		err = iot_file_save(options->output, text, bytes);
	free(text);
	return err ? fail("%s: %s", options->output, strerror(-err)) : code;
}

static int make_report(const struct options *options, const struct comparison *c)
{
	const struct report_limits limits = limits_of(c->run_count);
	struct report_view view = { .title = options->title, .comparison = c };
	struct iot_reject reject = {};
	int err, code = EXIT_DONE;
	u32 i;

	if (!view.title)
		view.title = c->run_count > 1 ? "Runs side by side" : "Report of a job";
	view.runs = calloc(c->run_count, sizeof(*view.runs));
	if (!view.runs)
		return fail("%s: %s", options->output, strerror(ENOMEM));
	for (i = 0; i < c->run_count && !code; i++) {
		view.runs[i].run = &c->runs[i];
		view.runs[i].all = c;
		view.runs[i].index = i;
		err = read_run(&limits, &view.runs[i], &reject);
		if (err)
			code = fail_reject(options->paths[i], err, &reject);
	}
	if (!code)
		code = write_report(options, &view);
	runs_free(view.runs, c->run_count);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct comparison comparison;
	struct iot_reject reject;
	u32 refused, i;
	int code;

	options_parse(&option_table, argc, argv, &options);
	for (i = 0; i < options.path_count; i++)
		if (iot_file_is_same(options.paths[i], options.output))
			return fail("%s: is both input and output", options.paths[i]);
	code = comparison_read(options.paths, options.path_count, &comparison, &refused, &reject);
	if (code)
		code = fail_reject(options.paths[refused], code, &reject);
	else
		code = make_report(&options, &comparison);
	comparison_free(&comparison);
	return code;
}

const struct cmd cmd_report = {
	.name = "report",
	.summary = "write a job, or runs side by side, to an HTML file with charts",
	.run = run,
	.options = &option_table,
};
