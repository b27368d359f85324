// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_import.c - iotape import: a log of strace or another tool becomes a trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "import/import.h"
#include "import_text.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "table.h"

struct options {
	struct import_options import;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void list_add(struct option_state *state, char ***list, size_t *count, char *item)
{
	char **larger = reallocarray(*list, *count + 1, sizeof(*larger));

	if (!larger)
		option_failure(state, ENOMEM, "%s", item);
	larger[(*count)++] = item;
	*list = larger;
}

static void add_log(struct option_state *state, char *path)
{
	struct options *options = state->options;

	list_add(state, &options->import.logs, &options->import.log_count, path);
}

static void set_root(struct option_state *state, char *path)
{
	struct options *options = state->options;

	if (*path != '/')
		option_error(state, "--root: %s is not an absolute path", path);
	list_add(state, &options->import.roots, &options->import.root_count, path);
}

static void set_format(struct option_state *state, char *argument)
{
	struct options *options = state->options;
	const char *name;
	size_t i;

	for (i = 0; (name = import_format_at(i)); i++)
		if (!strcmp(name, argument))
			options->import.format = name;
	if (!options->import.format)
		option_error(state, "--format=%s: unknown format", argument);
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->import.log_count)
		option_error(state, "no log given");
	if (!options->import.root_count)
		option_error(state, "no --root given");
	if (!options->import.trace)
		option_error(state, "no --output given");
	if (options->import.directory && *options->import.directory != '/')
		option_error(state, "--cwd=%s: not an absolute path", options->import.directory);
	if (options->import.calibration && options->import.keeps_cost)
		option_error(state, "--calibration contradicts --keep-cost");
}

static const struct option_row option_rows[] = {
	{ "format", 'f', OPTION_TEXT, "FORMAT", .word_at = import_format_at, .set = set_format,
	  .help = "strace, dxt (text of darshan-dxt-parser), fio (I/O log), dftracer (.pfw), recorder (text of recorder2text), "
		  "perf (output of perf trace), perf-script (events of system calls, as perf script prints them) or lttng (system calls, as "
		  "babeltrace2 prints them); "
		  "default: detected from the logs" },
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(import.trace), .help = "write the trace to FILE (required)" },
	{ "root", 'r', OPTION_DIRECTORY, "DIR", .set = set_root,
	  .help = "include operations below DIR, an absolute path (required); may be repeated" },
	{ "cwd", 0, OPTION_DIRECTORY, "DIR", .field = FIELD(import.directory),
	  .help = "the program was started in DIR, an absolute path; for logs of perf, perf-script and LTTng, which do not show it" },
	{ "calibration", 'c', OPTION_FILE, "LOG", .field = FIELD(import.calibration),
	  .help = "derive the time that strace takes from LOG, written by the same strace for a program that makes only short calls; "
		  "default: a lower bound from the logs" },
	{ "keep-cost", 'k', .field = FIELD(import.keeps_cost), .help = "keep the time that strace takes in the think time" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print the summary as JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "print neither the summary nor the gaps of the log" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "LOG...",
	.operand_type = OPTION_FILE,
	.add = add_log,
	.check = check,
	.about = "Convert the output of `strace -f -ttt -T -y -v -s 255 -o LOG`, or a log of another tool, to a trace.",
	.notes = "Logs of tools other than strace may be compressed by gzip. Missing information is counted and stated in the trace.",
};

static void print_text(const struct options *options, const struct import_summary *s)
{
	printf("%s: %llu operations of %llu tasks, from %llu system calls\n", options->import.trace,
	       s->operations, s->tasks, s->calls);
	import_say_gaps(s);
}

static void put_named(struct json *json, const struct import_summary *s, enum import_gap kind, bool is_always)
{
	size_t i;

	for (i = 0; i < s->named_count && s->named[i].kind != kind; i++)
		;
	if (i == s->named_count && !is_always)
		return;
	json_key(json, import_gap_names[kind]);
	json_begin(json, '{');
	for (i = 0; i < s->named_count; i++)
		if (s->named[i].kind == kind)
			json_put_unsigned(json, s->named[i].name, s->named[i].count);
	json_end(json, '}');
}

static void print_json(const struct import_summary *s)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "calls", s->calls);
	json_put_unsigned(&json, "operations", s->operations);
	json_put_unsigned(&json, "tasks", s->tasks);
	json_key(&json, "strace");
	json_begin(&json, '{');
	json_put_unsigned(&json, "subtracted_ns", s->held_ns);
	json_put_unsigned(&json, "gap_ns", s->cost.gap_ns);
	json_put_unsigned(&json, "call_ns", s->cost.call_ns);
	json_put_bool(&json, "is_calibrated", s->is_calibrated);
	json_end(&json, '}');
	json_key(&json, "gaps");
	json_begin(&json, '{');
	for (i = 0; i < IMPORT_GAP_COUNT; i++)
		if (s->gaps[i])
			json_put_unsigned(&json, import_gap_names[i], s->gaps[i]);
	json_end(&json, '}');
	json_key(&json, "named");
	json_begin(&json, '{');
	for (i = 0; i < IMPORT_GAP_COUNT; i++)
		put_named(&json, s, i, i == IMPORT_GAP_call || i == IMPORT_GAP_flag);
	json_end(&json, '}');
	omissions_json(&json, &s->omissions);
	json_end(&json, '}');
	json_line(&json);
}

static void show_progress(u64 done_bytes, u64 total_bytes)
{
	char size[32];

	progress_share(done_bytes, total_bytes, "logs of %s", quantity_size(size, total_bytes / IMPORT_PASSES));
}

static int run(int argc, char **argv)
{
	struct options options = { .import.progress = show_progress };
	struct import_summary summary;
	int err;

	options_parse(&option_table, argc, argv, &options);
	err = import_logs(&options.import, &summary);
	progress_end();
	free(options.import.logs);
	free(options.import.roots);
	if (err)
		fail("%s", summary.message);
	else if (options.is_json)
		print_json(&summary);
	else if (!options.is_quiet)
		print_text(&options, &summary);
	import_summary_free(&summary);
	return err ? EXIT_FAILED : EXIT_DONE;
}

const struct cmd cmd_import = {
	.name = "import",
	.summary = "convert a log of strace or another tool to a trace",
	.run = run,
	.options = &option_table,
};
