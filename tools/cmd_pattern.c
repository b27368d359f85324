// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_pattern.c - iotape pattern: the operations of a trace as loops, the same for many ranks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "omissions.h"
#include "option.h"
#include "pattern/pattern.h"
#include "pattern_trace.h"

struct options {
	const char *input;
	const char *output;
	bool is_expand;
	bool is_print;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the pattern of the trace to FILE; with --expand, the trace of the pattern" },
	{ "expand", 'e', .field = FIELD(is_expand),
	  .help = "print all operations of a pattern, one per line, and check that they are those of the trace" },
	{ "print", 'p', .field = FIELD(is_print), .help = "print a pattern as loops with expressions as operands" },
	{ "quiet", 'q', .field = FIELD(is_quiet),
	  .help = "do not print the summary; with --expand, only check the operations" },
	{}
};

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->is_expand && options->is_print)
		option_error(state, "--expand and --print exclude each other");
	if (options->output && options->is_print)
		option_error(state, "--output and --print exclude each other");
	if (!options->output && !options->is_expand && !options->is_print)
		option_error(state, "no --output, --expand or --print given");
}

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE -o FILE\nPATTERN --print\nPATTERN --expand\nPATTERN --expand -o FILE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace or pattern",
	.operand = FIELD(input),
	.check = check,
	.about = "Describe the operations of a trace by nested loops and by groups of ranks, without loss: a small file that "
		 "can be printed, and expanded again.",
	.notes = "The exit code is 3 if the operations of a pattern are not those of the trace that it was made from.",
};

/* The pattern is expanded before it is written: a file that exists is right. */
static int verify(const char *path, const struct pattern *pattern, FILE *out)
{
	struct pattern_summary summary;
	u8 digest[32];
	u64 operations;
	int err = pattern_expand(pattern, out, UINT64_MAX, digest, &operations);

	if (err == -ENOMEM)
		return fail("%s: %s", path, strerror(ENOMEM));
	pattern_summarize(pattern, &summary);
	if (!err && !memcmp(digest, summary.digest, sizeof(digest)))
		return EXIT_DONE;
	say("%s: its operations are not those of the trace", path);
	return EXIT_DIFFERS;
}

static int save(const struct options *options, const struct pattern *pattern, size_t *bytes)
{
	void *image;
	int err = pattern_image(pattern, &image, bytes);

	if (err)
		return fail("%s: %s", options->output, strerror(-err));
	err = iot_file_save(options->output, image, *bytes);
	free(image);
	return err ? fail("%s: %s", options->output, strerror(-err)) : EXIT_DONE;
}

static int make(const struct options *options)
{
	struct iot_omissions omissions;
	struct pattern_summary summary;
	struct pattern *pattern;
	struct iot_reject reject;
	size_t bytes = 0;
	int code, err;

	if (iot_file_is_same(options->input, options->output))
		return fail("%s: is the trace itself", options->output);
	err = pattern_make(options->input, &pattern, &omissions, &reject);
	if (err)
		return fail_reject(options->input, err, &reject);
	code = verify(options->input, pattern, NULL);
	if (!code)
		code = save(options, pattern, &bytes);
	pattern_summarize(pattern, &summary);
	if (!code && !options->is_quiet) {
		printf("%s: %llu operations of %llu tasks in %zu bytes; %llu ranks, %llu groups\n", options->output,
		       (unsigned long long)summary.operations, (unsigned long long)summary.tasks, bytes,
		       (unsigned long long)summary.ranks, (unsigned long long)summary.groups);
		omissions_print(stdout, "", &omissions);
	}
	pattern_free(pattern);
	return code;
}

/* The operations of a pattern as a trace. */
static int expand_to_trace(const struct options *options, const struct pattern *pattern)
{
	if (iot_file_is_same(options->input, options->output))
		return fail("%s: is the pattern itself", options->output);
	return write_pattern_trace(options->input, pattern, options->output, options->is_quiet);
}

static int show(const struct options *options)
{
	struct iot_reject reject;
	struct pattern *pattern;
	int code = EXIT_DONE, err = pattern_load(options->input, &pattern, &reject);

	if (err)
		return fail_reject(options->input, err, &reject);
	if (options->is_expand && options->output) {
		code = expand_to_trace(options, pattern);
	} else if (options->is_expand) {
		code = verify(options->input, pattern, options->is_quiet ? NULL : stdout);
	} else {
		err = pattern_print(pattern, stdout);
		if (err)
			code = fail("%s: %s", options->input, strerror(-err));
	}
	pattern_free(pattern);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = {};

	options_parse(&option_table, argc, argv, &options);
	return options.output && !options.is_expand ? make(&options) : show(&options);
}

const struct cmd cmd_pattern = {
	.name = "pattern",
	.summary = "describe the operations of a trace by loops and groups of ranks",
	.run = run,
	.options = &option_table,
};
