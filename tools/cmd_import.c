// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_import.c - iotape import: the output of strace becomes a trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "import/import.h"
#include "json.h"
#include "omissions.h"

struct options {
	struct import_options import;
	bool is_json;
	bool is_quiet;
};

static const struct argp_option option_table[] = {
	{ "output", 'o', "FILE", 0, "write the trace to FILE (required)", 0 },
	{ "root", 'r', "DIR", 0,
	  "include operations below DIR, an absolute path (required); may be repeated", 0 },
	{ "json", 'j', NULL, 0, "print the summary as JSON", 0 },
	{ "quiet", 'q', NULL, 0, "print neither the summary nor the gaps of the log", 0 },
	{}
};

static void add_log(struct options *options, char *path, struct argp_state *state)
{
	struct import_options *import = &options->import;
	char **logs = reallocarray(import->logs, import->log_count + 1, sizeof(*logs));

	if (!logs)
		argp_failure(state, EXIT_FAILED, 0, "%s", strerror(ENOMEM));
	logs[import->log_count++] = path;
	import->logs = logs;
}

static void add_root(struct options *options, char *path, struct argp_state *state)
{
	struct import_options *import = &options->import;
	char **roots = reallocarray(import->roots, import->root_count + 1, sizeof(*roots));

	if (!roots)
		argp_failure(state, EXIT_FAILED, 0, "%s", strerror(ENOMEM));
	roots[import->root_count++] = path;
	import->roots = roots;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'o':
		options->import.trace = argument;
		return 0;
	case 'r':
		if (*argument != '/')
			argp_error(state, "--root: %s is not an absolute path", argument);
		add_root(options, argument, state);
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case 'q':
		options->is_quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		add_log(options, argument, state);
		return 0;
	case ARGP_KEY_END:
		if (!options->import.log_count)
			argp_error(state, "no strace output given");
		if (!options->import.root_count)
			argp_error(state, "no --root given");
		if (!options->import.trace)
			argp_error(state, "no --output given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "STRACE...",
	.doc = "Convert the output of `strace -f -ttt -T -y -v -s 4096 -o STRACE` to a trace.",
};

static void print_named(const struct import_summary *s, enum import_gap kind)
{
	size_t i;

	for (i = 0; i < s->named_count; i++)
		if (s->named[i].kind == kind)
			say("  %llu of %s", s->named[i].count, s->named[i].name);
}

static void print_text(const struct options *options, const struct import_summary *s)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	u32 i;

	printf("%s: %llu operations of %llu tasks, from %llu system calls\n", options->import.trace,
	       s->operations, s->tasks, s->calls);
	if (iot_omissions_text(&s->omissions, text))
		say("%s", text);
	for (i = 0; i < IMPORT_GAP_COUNT; i++) {
		if (!s->gaps[i])
			continue;
		say("%llu %s", s->gaps[i], import_gap_sentences[i]);
		print_named(s, i);
	}
}

static void put_named(struct json *json, const struct import_summary *s, enum import_gap kind)
{
	size_t i;

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
	json_key(&json, "gaps");
	json_begin(&json, '{');
	for (i = 0; i < IMPORT_GAP_COUNT; i++)
		if (s->gaps[i])
			json_put_unsigned(&json, import_gap_names[i], s->gaps[i]);
	json_end(&json, '}');
	json_key(&json, "named");
	json_begin(&json, '{');
	put_named(&json, s, IMPORT_GAP_call);
	put_named(&json, s, IMPORT_GAP_flag);
	json_end(&json, '}');
	omissions_json(&json, &s->omissions);
	json_end(&json, '}');
	json_line(&json);
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct import_summary summary;
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = import_strace(&options.import, &summary);
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
	.summary = "convert strace output to a trace",
	.run = run,
	.argp = &argp,
};
