// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_repair.c - iotape repair: a new trace of the intact chunks of a damaged one.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "condition.h"
#include "option.h"

struct options {
	const char *path;
	const char *output;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the new trace to FILE" },
	{ "quiet", 'q', OPTION_FLAG, .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(path),
	.check = check,
	.about = "Write a finished trace of all intact chunks of a damaged, torn or unfinished one. A fact `partial` in it states "
		 "the loss.",
	.notes = "A trace with a damaged header or schema cannot be repaired. iotape verify shows the condition of a trace.",
};

static int run(int argc, char **argv)
{
	char text[CONDITION_TEXT_BYTES];
	struct options options = {};
	struct iot_condition condition;
	struct iot_reject reject = {};
	bool is_output;
	int err;

	options_parse(&option_table, argc, argv, &options);
	if (iot_file_is_same(options.path, options.output))
		return fail("%s: is both input and output", options.path);
	err = iot_trace_repair(options.path, options.output, &condition, &reject, &is_output);
	if (err && is_output)
		return fail("%s: %s", options.output, strerror(-err));
	if (err)
		return fail_reject(options.path, err, &reject);
	condition_text(&condition, text);
	if (!options.is_quiet)
		printf("%s: %s\n", options.path, text);
	return EXIT_DONE;
}

const struct cmd cmd_repair = {
	.name = "repair",
	.summary = "save the intact chunks of a damaged trace",
	.run = run,
	.options = &option_table,
};
