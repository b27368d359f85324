// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_verify.c - iotape verify: is a trace intact?
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "condition.h"
#include "input.h"
#include "option.h"

struct options {
	const char *path;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct option_row option_rows[] = {
	{ "quiet", 'q', OPTION_FLAG, .field = FIELD(is_quiet), .help = "do not print the sentence about an intact trace" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(path),
	.about = "Check the header, all chunks and the index of a trace: checksums, sizes, and numbers of records.",
	.notes = "TRACE may be a pipe, or - for standard input. The exit code is 1 if the trace is damaged or ends inside a chunk. "
		 "iotape repair saves the intact chunks of a damaged trace.",
};

static int print(const struct options *options, const char *name, const struct iot_condition *condition)
{
	char text[CONDITION_TEXT_BYTES];

	condition_text(condition, text);
	if (condition->damages)
		return fail("%s:0x%llx: %s; %s", name, (unsigned long long)condition->first.offset_bytes,
			    iot_reject_sentence(&condition->first), text);
	if (condition->is_torn)
		return fail("%s: %s", name, text);
	if (!options->is_quiet)
		printf("%s: %s\n", name, text);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct iot_condition condition;
	struct iot_reject reject = {};
	char copy[INPUT_PATH_BYTES];
	const char *name;
	int code, err;

	options_parse(&option_table, argc, argv, &options);
	name = strcmp(options.path, "-") ? options.path : "standard input";
	code = input_open(&options.path, copy);
	if (code)
		return code;
	err = iot_trace_verify(options.path, &condition, &reject);
	return err ? fail_reject(name, err, &reject) : print(&options, name, &condition);
}

const struct cmd cmd_verify = {
	.name = "verify",
	.summary = "check whether a trace is intact",
	.run = run,
	.options = &option_table,
};
