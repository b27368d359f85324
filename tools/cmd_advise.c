// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_advise.c - iotape advise: hints on changes that would make the I/O of a job cheaper.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "advise_gain.h"
#include "cmd.h"
#include "hint_quantity.h"
#include "input.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "table.h"
#include "terminal.h"

#define TOP	     5
#define RUNS_DEFAULT 3
#define JSON_VERSION 1

struct options {
	const char *path;
	const char *name; /* of it in messages */
	u32 top;
	bool has_top;
	bool is_json;
	struct gain_options gain;
	bool has_runs;
	bool has_engine;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void set_engine(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->gain.engine = engine_find(argument);
	options->has_engine = true;
	if (!options->gain.engine || !options->gain.engine->uses_target)
		option_error(state, "--engine=%s: not an engine that runs operations", argument);
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->gain.on && (options->has_runs || options->has_engine))
		option_error(state, "--%s requires --gain", options->has_runs ? "runs" : "engine");
}

static const char *const engine_words[] = { "kernel", "thread", NULL };

static const struct option_row option_rows[] = {
	{ "gain", 0, OPTION_DIRECTORY, "DIR", .field = FIELD(gain.on),
	  .help = "measure the gain of each hint that iotape pattern --set expresses, by replays of the job with and without the "
		  "change in new directories in DIR, which are removed afterwards" },
	{ "runs", 0, OPTION_COUNT, "N", .min = 1, .max = PREDICTION_RUNS_MAX, .field = FIELD(gain.runs), .given = FIELD(has_runs),
	  .help = "with --gain, number of replays with and without each change (default: 3)" },
	{ "engine", 0, OPTION_TEXT, .words = engine_words, .set = set_engine, .help = "with --gain, as for iotape replay" },
	{ "top", 'n', OPTION_COUNT, "N", .max = UINT32_MAX, .field = FIELD(top), .given = FIELD(has_top),
	  .help = "print the first N files, directories or ranks of a hint, 0 for all (default: 5)" },
	{ "json", 'j', .field = FIELD(is_json),
	  .help = "print JSON: all hints, including those that do not apply; without --top, all files" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(path),
	.check = check,
	.is_paged = true,
	.about = "Print hints on changes that would make the I/O of a job cheaper: evidence, thresholds, reasons, changes to try.",
	.notes = "TRACE may be a pipe, or - for standard input. Hints that are unknown because operations are "
		 "missing are listed with the reason. With --gain, the exit code is 3 if an operation of a replay diverged: the "
		 "gain is not exact then.",
};

/* -- text ----------------------------------------------------------------------------------------- */

static double percent(const struct advise_finding *finding)
{
	return finding->whole ? 100.0 * (double)finding->count / (double)finding->whole : 0;
}

static u32 at_most(u32 top, u32 count)
{
	return top && top < count ? top : count;
}

static void print_evidence(const struct advise_rule *rule, const struct advise_finding *finding)
{
	char count[32], whole[32], least[32];

	printf("  evidence: %s of %s %s (%.1f%%; threshold: %s, and %u%%)\n", hint_quantity(count, rule->unit, finding->count),
	       hint_quantity(whole, rule->unit, finding->whole), rule->share, percent(finding),
	       hint_quantity(least, rule->unit, rule->least), rule->percent);
}

static void print_items(const struct options *options, const struct advise_rule *rule,
			const struct advise_finding *finding)
{
	u32 i, count = at_most(options->top, finding->item_count);
	char value[32], escaped[4 * IOT_PROGRAM_PATH_MAX + 1];

	if (!count)
		return;
	printf("  %s:", rule->subjects);
	for (i = 0; i < count; i++) {
		const struct advise_item *item = &finding->items[i];

		iot_text_bytes(escaped, sizeof(escaped), item->name, strlen(item->name));
		printf("%s %s (%s)", i ? "," : "", escaped, hint_quantity(value, rule->unit, item->count));
	}
	if (count < finding->item_count)
		printf(", and %u more", finding->item_count - count);
	putchar('\n');
}

static void print_change(const char *change)
{
	if (!change)
		return;
	printf("  what if: iotape pattern TRACE -o job.ipt; iotape pattern --set=%s job.ipt -o changed.ipt; replay both; "
	       "--gain=DIR does this\n",
	       change);
}

static void print_times(const struct options *options, const struct gain *gain)
{
	printf("%.4g s (%.3g to %.4g s) instead of %.4g s (%.3g to %.4g s)", gain->after.median_s, gain->after.min_s, gain->after.max_s,
	       gain->before.median_s, gain->before.min_s, gain->before.max_s);
	if (options->gain.runs > 1)
		printf(", medians and ranges of %u replays", options->gain.runs);
	if (gain->diverged)
		printf("; not exact: %llu operations of a replay diverged", gain->diverged);
	putchar('\n');
}

static void print_gain(const struct options *options, const struct advise_finding *finding, const struct gain *gain)
{
	double change = gain->after.median_s / gain->before.median_s - 1;

	if (gain->why[0]) {
		printf("  gain: not predictable: %s\n", gain->why);
		return;
	}
	printf("  gain with %s: ", finding->change);
	if (options->gain.runs < 2)
		printf("the run is %.1f %% %s in one replay, so that the scatter is unknown: ", 100 * fabs(change), change < 0 ? "shorter" : "longer");
	else if (gain_is_within_scatter(gain))
		printf("none beyond the scatter of the replays: ");
	else
		printf("the run is %.1f %% %s: ", 100 * fabs(change), change < 0 ? "shorter" : "longer");
	print_times(options, gain);
}

static void print_found(const struct options *options, const struct advise_rule *rule,
			const struct advise_finding *finding, const struct gain *gain)
{
	printf("\n%s: %s\n", rule->name, rule->title);
	print_evidence(rule, finding);
	print_items(options, rule, finding);
	printf("  reason: %s\n", rule->reason);
	printf("  try: %s\n", rule->remedy);
	print_change(finding->change);
	if (options->gain.on)
		print_gain(options, finding, gain);
}

/* Is it the first hint with its reason? */
static bool is_first(const struct advise *advise, u32 hint)
{
	u32 i;

	for (i = 0; i < hint; i++)
		if (advise->findings[i].verdict == advise->findings[hint].verdict &&
		    !strcmp(advise->findings[i].why, advise->findings[hint].why))
			return false;
	return true;
}

/* A line for each reason. */
static void print_others(const struct advise *advise, enum advise_verdict verdict, const char *words)
{
	const struct advise_finding *findings = advise->findings;
	u32 i, j;

	for (i = 0; i < ADVISE_HINT_COUNT; i++) {
		if (findings[i].verdict != verdict || !is_first(advise, i))
			continue;
		printf("%s (%s): %s", words, findings[i].why, advise_rules[i].name);
		for (j = i + 1; j < ADVISE_HINT_COUNT; j++)
			if (findings[j].verdict == verdict && !strcmp(findings[j].why, findings[i].why))
				printf(", %s", advise_rules[j].name);
		putchar('\n');
	}
}

static u32 count_of(const struct advise *advise, enum advise_verdict verdict)
{
	u32 i, count = 0;

	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		count += advise->findings[i].verdict == verdict;
	return count;
}

static void print_text(const struct options *options, const struct advise *advise, const struct gains *gains)
{
	u32 unknown = count_of(advise, ADVISE_UNKNOWN), inapplicable = count_of(advise, ADVISE_INAPPLICABLE), i;

	printf("%s: %llu operations; of %u hints %u apply, %u are unknown\n", options->name, advise->operations,
	       ADVISE_HINT_COUNT, count_of(advise, ADVISE_FOUND), unknown);
	omissions_print(stdout, "", &advise->omissions);
	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		if (advise->findings[i].verdict == ADVISE_FOUND)
			print_found(options, &advise_rules[i], &advise->findings[i], &gains->hints[i]);
	if (unknown || inapplicable)
		putchar('\n');
	print_others(advise, ADVISE_UNKNOWN, "unknown");
	print_others(advise, ADVISE_INAPPLICABLE, "not applicable");
}

/* -- JSON ----------------------------------------------------------------------------------------- */

static void text_or_null(struct json *json, const char *key, const char *text)
{
	if (text)
		json_put_string(json, key, text);
	else
		json_put_null(json, key);
}

static void items_json(struct json *json, const struct options *options, const struct advise_finding *finding)
{
	u32 i, count = options->has_top ? at_most(options->top, finding->item_count) : finding->item_count;

	json_put_unsigned(json, "item_count", finding->item_count);
	json_key(json, "items");
	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		json_begin(json, '{');
		json_put_string(json, "name", finding->items[i].name);
		json_put_unsigned(json, "count", finding->items[i].count);
		json_end(json, '}');
	}
	json_end(json, ']');
}

/* Numbers of an unknown hint are those of the recorded part; of one that is not applicable there are none. */
static void numbers_json(struct json *json, const struct advise_rule *rule, const struct advise_finding *finding)
{
	static const char *const units[] = { "count", "bytes", "ns" };

	json_put_string(json, "unit", units[rule->unit]);
	if (finding->verdict == ADVISE_INAPPLICABLE) {
		json_put_null(json, "count");
		json_put_null(json, "whole");
	} else {
		json_put_unsigned(json, "count", finding->count);
		json_put_unsigned(json, "whole", finding->whole);
	}
	json_put_unsigned(json, "threshold", rule->least);
	json_put_unsigned(json, "threshold_percent", rule->percent);
}

static void time_json(struct json *json, const char *key, const struct gain_time *time)
{
	json_key(json, key);
	json_begin(json, '{');
	json_put_real(json, "median_s", time->median_s);
	json_put_real(json, "min_s", time->min_s);
	json_put_real(json, "max_s", time->max_s);
	json_end(json, '}');
}

static void gain_json(struct json *json, const struct options *options, const struct advise_finding *finding,
		      const struct gain *gain)
{
	if (!options->gain.on || finding->verdict != ADVISE_FOUND) {
		json_put_null(json, "gain");
		return;
	}
	json_key(json, "gain");
	json_begin(json, '{');
	text_or_null(json, "why", gain->why[0] ? gain->why : NULL);
	if (!gain->why[0]) {
		json_put_unsigned(json, "changed", gain->changed);
		json_put_unsigned(json, "runs", options->gain.runs);
		time_json(json, "before", &gain->before);
		time_json(json, "after", &gain->after);
		json_put_real(json, "change", gain->after.median_s / gain->before.median_s - 1);
		json_put_bool(json, "is_within_scatter", options->gain.runs < 2 || gain_is_within_scatter(gain));
		json_put_unsigned(json, "diverged", gain->diverged);
	}
	json_end(json, '}');
}

static void hint_json(struct json *json, const struct options *options, const struct advise_rule *rule,
		      const struct advise_finding *finding, const struct gain *gain)
{
	static const char *const verdicts[] = { "absent", "applies", "unknown", "not applicable" };

	json_begin(json, '{');
	json_put_string(json, "name", rule->name);
	json_put_string(json, "title", rule->title);
	json_put_string(json, "verdict", verdicts[finding->verdict]);
	text_or_null(json, "why", finding->why);
	numbers_json(json, rule, finding);
	json_put_string(json, "share", rule->share);
	json_put_string(json, "subjects", rule->subjects);
	items_json(json, options, finding);
	json_put_string(json, "reason", rule->reason);
	json_put_string(json, "try", rule->remedy);
	text_or_null(json, "set", finding->change);
	gain_json(json, options, finding, gain);
	json_end(json, '}');
}

static void print_json(const struct options *options, const struct advise *advise, const struct gains *gains)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_unsigned(&json, "version", JSON_VERSION);
	json_put_unsigned(&json, "operations", advise->operations);
	omissions_json(&json, &advise->omissions);
	json_key(&json, "hints");
	json_begin(&json, '[');
	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		hint_json(&json, options, &advise_rules[i], &advise->findings[i], &gains->hints[i]);
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static int measure(const struct options *options, const struct advise *advise, struct gains *gains)
{
	if (!options->gain.on)
		return EXIT_DONE;
	replay_take_signals(); /* intermediate files are removed then, too */
	return gains_measure(&options->gain, options->path, advise, gains);
}

static int advise_job(const struct options *options)
{
	static struct gains gains;
	struct iot_reject reject = {};
	struct advise advise;
	int code, err = advise_read(options->path, &advise, &reject);

	code = err ? fail_reject(options->name, err, &reject) : measure(options, &advise, &gains);
	if (!code) {
		terminal_output_begin();
		if (options->is_json)
			print_json(options, &advise, &gains);
		else
			print_text(options, &advise, &gains);
		code = gains.has_diverged ? EXIT_DIFFERS : EXIT_DONE;
	}
	advise_free(&advise);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = { .top = TOP, .gain = { .runs = RUNS_DEFAULT, .engine = engine_find("kernel") } };
	char copy[INPUT_PATH_BYTES];
	int code;

	options_parse(&option_table, argc, argv, &options);
	options.name = strcmp(options.path, "-") ? options.path : "standard input";
	code = input_open(&options.path, copy);
	return code ? code : advise_job(&options);
}

const struct cmd cmd_advise = {
	.name = "advise",
	.summary = "print hints on changes that would make the I/O cheaper",
	.run = run,
	.options = &option_table,
};
