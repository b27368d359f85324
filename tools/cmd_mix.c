// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_mix.c - iotape mix: write a program that runs several programs at the same time.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "mix/mix.h"
#include "omissions.h"
#include "option.h"
#include "table.h"

#define THINK_FACTOR_MAX 65535
#define START_MAX_S	 (365ull * 24 * 3600)

struct options {
	struct mix_part *parts;
	u32 part_count;
	struct mix_part next; /* options of the programs that follow */
	const char *output;
	const char *outcomes;
	bool is_part_option;
	bool is_uncompressed;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void set_pace(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->is_part_option = true;
	if (!strcmp(argument, "natural"))
		options->next.think_scale = MIX_SCALE_ONE;
	else if (!strcmp(argument, "full"))
		options->next.think_scale = 0;
	else
		options->next.think_scale = (u32)(option_factor(state, argument, THINK_FACTOR_MAX) * MIX_SCALE_ONE);
}

static void add_program(struct option_state *state, char *operand)
{
	struct options *options = state->options;
	struct mix_part *larger = realloc(options->parts, (options->part_count + 1) * sizeof(*larger));

	if (!larger)
		option_failure(state, ENOMEM, "%s", operand);
	options->parts = larger;
	options->next.path = operand;
	options->parts[options->part_count++] = options->next;
}

static void check_parts(const struct option_state *state)
{
	const struct options *options = state->options;
	u32 i;

	if (!options->part_count)
		option_error(state, "no program given");
	if (!options->output)
		option_error(state, "no --output given");
	for (i = 0; i < options->part_count; i++)
		if (iot_file_is_same(options->parts[i].path, options->output))
			option_failure(state, 0, "%s: is both input and output", options->output);
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->outcomes) {
		check_parts(state);
		return;
	}
	if (options->output)
		option_error(state, "--times and --output exclude each other");
	if (options->is_part_option)
		option_error(state, "--times requires a mix only, without options of its programs");
	if (options->part_count != 1)
		option_error(state, "--times requires one mix");
}

static const char *const pace_words[] = { "natural", "full", NULL };

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(output), .help = "write the mix to FILE" },
	{ "copies", 'n', OPTION_COUNT, "N", .min = 1, .max = MIX_PROGRAMS_MAX, .field = FIELD(next.copies),
	  .given = FIELD(is_part_option), .help = "run N copies of each following PROGRAM (default: 1)" },
	{ "start", 0, OPTION_DURATION, "TIME", .max = START_MAX_S * OPTION_S, .unit = OPTION_S, .field = FIELD(next.start_ns),
	  .given = FIELD(is_part_option), .help = "start each following PROGRAM after TIME (default: 0)" },
	{ "stagger", 0, OPTION_DURATION, "TIME", .max = START_MAX_S * OPTION_S, .unit = OPTION_S, .field = FIELD(next.stagger_ns),
	  .given = FIELD(is_part_option), .help = "start each copy TIME after the preceding one (default: 0)" },
	{ "pace", 'p', OPTION_TEXT, "PACE", .words = pace_words, .set = set_pace,
	  .help = "think time of each following PROGRAM: natural (default), full (none), or a factor" },
	{ "uncompressed", .field = FIELD(is_uncompressed), .help = "do not compress the mix, for kernels without zstd" },
	{ "times", 't', OPTION_FILE, "OUTCOMES", .field = FIELD(outcomes),
	  .help = "print when each program of MIX ran in the replay with these outcomes" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print a JSON object instead of text" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "PROGRAM... -o FILE\n--times=OUTCOMES MIX",
	.operand_type = OPTION_FILE,
	.add = add_program,
	.check = check,
	.about = "Write a program that runs several programs at the same time, each in a directory of its own.",
	.notes = "--copies, --start, --stagger and --pace apply to the programs after them.",
};

static void print_json(const struct options *options, const struct mix_summary *summary)
{
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "mix", options->output);
	json_put_unsigned(&json, "programs", summary->programs);
	json_put_unsigned(&json, "tasks", summary->tasks);
	json_put_unsigned(&json, "operations", summary->operations);
	json_put_unsigned(&json, "entries", summary->entries);
	omissions_json(&json, &summary->omissions);
	json_end(&json, '}');
	json_line(&json);
}

static int make(const struct options *options)
{
	struct mix_summary summary;
	char why[PATH_MAX + 256] = "";

	if (mix_make(options->parts, options->part_count, options->output, options->is_uncompressed, &summary, why, sizeof(why)))
		return fail("%s", why);
	if (options->is_json) {
		print_json(options, &summary);
	} else if (!options->is_quiet) {
		printf("%s: %u programs, %llu operations of %u tasks, %llu initial entries\n", options->output, summary.programs,
		       summary.operations, summary.tasks, summary.entries);
		omissions_print(stdout, "  ", &summary.omissions);
	}
	return EXIT_DONE;
}

/* -- times of the programs ----------------------------------------------------------------------------------- */

static void times_json(const struct mix_times *times, u32 count)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_key(&json, "programs");
	json_begin(&json, '[');
	for (i = 0; i < count; i++) {
		json_begin(&json, '{');
		json_put_unsigned(&json, "directory", i + 1);
		json_put_string(&json, "program", times[i].program);
		json_put_unsigned(&json, "operations", times[i].operations);
		json_put_unsigned(&json, "diverged", times[i].diverged);
		if (times[i].operations) {
			json_put_unsigned(&json, "begin_ns", times[i].begin_ns);
			json_put_unsigned(&json, "end_ns", times[i].end_ns);
		} else {
			json_put_null(&json, "begin_ns");
			json_put_null(&json, "end_ns");
		}
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static void times_row(struct table *table, const struct mix_times *times, u32 number)
{
	char escaped[4 * PATH_MAX + 1];

	iot_text_bytes(escaped, sizeof(escaped), times->program, strlen(times->program));
	table_cell(table, "%u", number);
	if (times->operations) {
		table_cell(table, "%.3f", (double)times->begin_ns / 1e9);
		table_cell(table, "%.3f", (double)times->end_ns / 1e9);
		table_cell(table, "%.3f", (double)(times->end_ns - times->begin_ns) / 1e9);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
		table_cell(table, "-");
	}
	table_cell(table, "%llu", times->operations);
	table_cell(table, "%llu", times->diverged);
	table_cell(table, "%s", escaped);
}

static void times_text(const struct mix_times *times, u32 count)
{
	static const char *const head[] = { "directory", "begin [s]", "end [s]", "time [s]", "operations", "diverged", "program" };
	struct table table;
	u32 i;

	table_open(&table, ARRAY_SIZE(head));
	for (i = 0; i < ARRAY_SIZE(head); i++)
		table_cell(&table, "%s", head[i]);
	for (i = 0; i < count; i++)
		times_row(&table, &times[i], i + 1);
	table_print(&table, stdout);
	table_close(&table);
}

static int print_times(const struct options *options)
{
	const char *path = options->parts->path;
	struct iot_reject reject = {};
	struct mix_times *times;
	struct iot_program mix;
	char why[PATH_MAX + 256] = "";
	u32 count;
	int err = iot_program_stream(path, 0, &mix, &reject); /* it needs no operation */

	if (err)
		return fail_reject(path, err, &reject);
	err = mix_read_times(&mix, path, options->outcomes, &times, &count, why, sizeof(why));
	if (err) {
		iot_program_free(&mix);
		return fail("%s", why);
	}
	if (options->is_json)
		times_json(times, count);
	else
		times_text(times, count);
	free(times);
	iot_program_free(&mix);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = { .next = { .copies = 1, .think_scale = MIX_SCALE_ONE } };
	int code;

	options_parse(&option_table, argc, argv, &options);
	code = options.outcomes ? print_times(&options) : make(&options);
	free(options.parts);
	return code;
}

const struct cmd cmd_mix = {
	.name = "mix",
	.summary = "combine programs to one that runs them at the same time",
	.run = run,
	.options = &option_table,
};
