// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_diff.c - iotape diff: did two traces do the same?
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/diff/diff.h"
#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "terminal.h"

struct options {
	const char *paths[2];
	int path_count;
	struct diff_options diff;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static const struct option_row option_rows[] = {
	{ "max", 'n', OPTION_COUNT, "N", .max = UINT32_MAX, .field = FIELD(diff.items_max),
	  .help = "describe the first N differences (default: 20)" },
	{ "privileged-files", .field = FIELD(diff.is_privileged),
	  .help = "the second trace is of a replay with this option: also compare operations that grant privileges" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "print nothing, only return the exit code" },
	{},
};

static void add_trace(struct option_state *state, char *path)
{
	struct options *options = state->options;

	if (options->path_count == 2)
		option_error(state, "%s: two traces at a time", path);
	options->paths[options->path_count++] = path;
}

static void check(struct option_state *state)
{
	if (state->operands < 2)
		option_error(state, "two traces are required");
}

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE TRACE",
	.operand_type = OPTION_FILE,
	.add = add_trace,
	.check = check,
	.is_paged = true,
	.about = "Compare the operations of two traces, task by task in order: kind, object, offset, "
		 "length, flags and result. The second may be a recording of a replay of the first.",
	.notes = "The exit code is 3 if they differ, or if one of them lacks operations of the run. Differences "
		 "that count as equal are listed in iotape-diff(1).",
};

static void print_text(const struct options *options, const struct diff_result *r,
		       const struct iot_omissions *omissions)
{
	char before[PATH_MAX + 4];
	size_t i;

	for (i = 0; i < r->item_count; i++) {
		if (r->items[i].task)
			printf("task %u: %s\n", r->items[i].task, r->items[i].text);
		else
			printf("%s\n", r->items[i].text);
	}
	if (r->differences > r->item_count)
		printf("... and %llu more\n", r->differences - r->item_count);
	printf("%s: %llu operations; %s: %llu operations; %llu differences\n", options->paths[0],
	       r->operations[0], options->paths[1], r->operations[1], r->differences);
	for (i = 0; i < 2; i++) {
		snprintf(before, sizeof(before), "%s: ", options->paths[i]);
		omissions_print(stdout, before, &r->omissions[i]);
	}
	if (r->harmless)
		printf("made harmless: %llu operations of the first grant privileges that those of the second do not: see --privileged-files\n",
		       r->harmless);
	if (r->left_out)
		printf("not compared: %llu operations of tasks that run no operation of the first trace\n",
		       r->left_out);
	omissions_print_verdict("", r->differences, omissions);
}

static void print_json(const struct diff_result *r, const struct iot_omissions *omissions)
{
	struct json json;
	size_t i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_key(&json, "operations");
	json_begin(&json, '[');
	json_unsigned(&json, r->operations[0]);
	json_unsigned(&json, r->operations[1]);
	json_end(&json, ']');
	json_key(&json, "traces");
	json_begin(&json, '[');
	for (i = 0; i < 2; i++) {
		json_begin(&json, '{');
		omissions_json(&json, &r->omissions[i]);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_put_unsigned(&json, "left_out", r->left_out);
	json_put_unsigned(&json, "harmless", r->harmless);
	json_put_unsigned(&json, "differences", r->differences);
	json_put_bool(&json, "is_exact", omissions_verdict(r->differences, omissions) == EXIT_DONE);
	json_key(&json, "items");
	json_begin(&json, '[');
	for (i = 0; i < r->item_count; i++) {
		json_begin(&json, '{');
		json_put_unsigned(&json, "task", r->items[i].task);
		json_put_string(&json, "text", r->items[i].text);
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static int run(int argc, char **argv)
{
	struct options options = { .diff.items_max = 20 };
	struct iot_omissions omissions;
	struct diff_result result;
	struct iot_reject reject;
	int err, refused;

	options_parse(&option_table, argc, argv, &options);
	err = diff_traces(options.paths, &options.diff, &result, &refused, &reject);
	if (err) {
		diff_free(&result);
		return fail_reject(options.paths[refused], err, &reject);
	}
	terminal_output_begin();
	omissions = result.omissions[0];
	iot_omissions_sum(&omissions, &result.omissions[1]);
	if (options.is_json)
		print_json(&result, &omissions);
	else if (!options.is_quiet)
		print_text(&options, &result, &omissions);
	diff_free(&result);
	return omissions_verdict(result.differences, &omissions);
}

const struct cmd cmd_diff = {
	.name = "diff",
	.summary = "check whether two traces have the same operations",
	.run = run,
	.options = &option_table,
};
