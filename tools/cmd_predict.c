// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_predict.c - iotape predict: how long would a recorded run take on another storage?
 *
 * The trace is compiled, and its program replayed several times in a new directory on that
 * storage, which is removed at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyse/stats/prediction.h"
#include "cmd.h"
#include "option.h"
#include "option_words.h"
#include "predict.h"
#include "replays.h"

#define RUNS_DEFAULT 3

struct options {
	const char *trace;
	const char *on;
	const char *validate;
	const char *output;
	u32 runs;
	const struct replay_engine *engine;
	struct prepare_options prepare;
	bool is_emulated;
	bool is_json;
};

/**
 * struct work - intermediate files
 * @replays: of the program
 * @outcomes: directory of the program, and of the outcomes of each replay
 * @paths: of the outcomes
 */
struct work {
	struct replays replays;
	char outcomes[REPLAYS_PATH_BYTES];
	char paths[COMPARISON_RUNS_MAX][REPLAYS_PATH_BYTES];
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void set_engine(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->engine = engine_find(argument);
	if (!options->engine || !options->engine->uses_target)
		option_error(state, "--engine=%s: not an engine that runs operations", argument);
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->on)
		option_error(state, "no --on given");
}

static const char *const engine_words[] = { "kernel", "thread", NULL };

static const struct option_row option_rows[] = {
	{ "on", 0, OPTION_DIRECTORY, "DIR", .field = FIELD(on),
	  .help = "a directory of the storage; the replays get a new one in it, which is removed afterwards" },
	{ "runs", 0, OPTION_COUNT, "N", .min = 1, .max = PREDICTION_RUNS_MAX, .field = FIELD(runs),
	  .help = "number of replays (default: 3)" },
	{ "validate", 0, OPTION_DIRECTORY, "DIR", .field = FIELD(validate),
	  .help = "a directory of the storage that the trace was recorded on: replay there, too, and print the "
		  "difference from the recording" },
	{ "engine", 0, OPTION_TEXT, .words = engine_words, .set = set_engine, .help = "as for iotape replay" },
	{ "cache", 0, OPTION_CHOICE, OPTION_WORDS_CACHE, .field = FIELD(prepare.cache), .help = "as for iotape init" },
	{ "data", 0, OPTION_CHOICE, OPTION_WORDS_DATA, .field = FIELD(prepare.data), .help = "as for iotape init" },
	{ "emulate", .field = FIELD(is_emulated), .help = "as for iotape replay" },
	{ "output", 'o', OPTION_DIRECTORY, "DIR", .field = FIELD(output),
	  .help = "keep the program and the outcomes in DIR, which is created" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(trace),
	.check = check,
	.about = "Predict the duration of the run in TRACE on another storage, by replays there.",
	.notes = "The exit code is 3 if an operation of a replay diverged from the trace, or part of the run is "
		 "missing in it: the prediction is not exact then.",
};

static int make_outcomes(const struct options *options, struct work *w)
{
	if (!options->output)
		return replays_directory(w->outcomes, replays_place());
	if (snprintf(w->outcomes, sizeof(w->outcomes), "%s", options->output) >= PATH_MAX)
		return fail("%s: %s", options->output, strerror(ENAMETOOLONG));
	if (mkdir(w->outcomes, 0700))
		return fail("%s: %s", options->output, strerror(errno));
	return EXIT_DONE;
}

/* -- from a trace to outcomes ----------------------------------------------------------------------- */

static int compile(const struct options *options, struct work *w)
{
	w->replays.trace = options->trace;
	w->replays.engine = options->engine;
	w->replays.prepare = options->prepare;
	w->replays.is_emulated = options->is_emulated;
	snprintf(w->replays.program, sizeof(w->replays.program), "%.*s/program.irp", PATH_MAX, w->outcomes);
	return replays_compile(&w->replays);
}

/* A prediction is of a recorded run, and of its operations on files. */
static int check_trace(const struct options *options, const struct work *w)
{
	struct iot_reject reject = {};
	struct iot_program program;
	bool is_replay;
	int err = iot_program_stream(w->replays.program, 0, &program, &reject);

	if (err)
		return fail_reject(w->replays.program, err, &reject);
	is_replay = iot_program_fact_value(&program, "trace.replay");
	iot_program_free(&program);
	if (is_replay)
		return fail("%s: contains outcomes of a replay, not a recording", options->trace);
	if (!w->replays.summary.operations)
		return fail("%s: no operations on files to predict", options->trace);
	return EXIT_DONE;
}

/* Replays in a new directory in @on. Return: an exit code. */
static int replay_on(const struct options *options, struct work *w, const char *on, const char *name)
{
	int code = replays_directory(w->replays.target, on), removed;
	u32 run;

	for (run = 1; run <= options->runs && !code; run++) {
		if (replay_has_signal()) {
			code = fail("interrupted after %u of %u replays", run - 1, options->runs);
			break;
		}
		progress("%s: replay %u of %u", on, run, options->runs);
		snprintf(w->paths[run], REPLAYS_PATH_BYTES, "%.*s/%s%u.iot", PATH_MAX, w->outcomes, name, run);
		code = replays_run(&w->replays, w->paths[run]);
	}
	progress_end();
	removed = replays_remove(w->replays.target);
	return code ? code : removed;
}

/* @comparison, too, is to be freed if it succeeds. */
static int predict_on(const struct options *options, struct work *w, const char *on, const char *name,
		      struct comparison *comparison, struct prediction *prediction)
{
	const char *paths[COMPARISON_RUNS_MAX] = { options->trace };
	struct iot_reject reject;
	u32 refused, run;
	int err, code = replay_on(options, w, on, name);

	if (code)
		return code;
	for (run = 1; run <= options->runs; run++)
		paths[run] = w->paths[run];
	err = comparison_read(paths, options->runs + 1, comparison, &refused, &reject);
	if (err)
		code = fail_reject(paths[refused], err, &reject);
	else if (prediction_make(comparison, prediction))
		code = fail("%s", strerror(ENOMEM));
	if (!code)
		return EXIT_DONE;
	if (!err)
		prediction_free(prediction);
	comparison_free(comparison);
	return code;
}

/* The traced directory's storage first: the prediction for the other one depends on it. */
static int predict(const struct options *options, struct work *w)
{
	struct comparison comparison, validation;
	struct prediction prediction, validated;
	struct predict_result result = {
		.trace = options->trace,
		.on = options->on,
		.comparison = &comparison,
		.prediction = &prediction,
		.summary = &w->replays.summary,
		.omissions = &w->replays.omissions,
		.validated_on = options->validate,
	};
	int code = EXIT_DONE;

	if (options->validate) {
		code = predict_on(options, w, options->validate, "validate", &validation, &validated);
		if (code)
			return code;
		result.validated = &validated;
	}
	code = predict_on(options, w, options->on, "run", &comparison, &prediction);
	if (!code) {
		code = options->is_json ? predict_json(&result) : predict_text(&result);
		prediction_free(&prediction);
		comparison_free(&comparison);
	}
	if (options->validate) {
		prediction_free(&validated);
		comparison_free(&validation);
	}
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = { .runs = RUNS_DEFAULT, .engine = engine_find("kernel") };
	static struct work work;
	int code, removed = EXIT_DONE;

	options_parse(&option_table, argc, argv, &options);
	replay_take_signals(); /* intermediate files are removed then, too */
	code = make_outcomes(&options, &work);
	if (code)
		return code;
	code = compile(&options, &work);
	if (!code)
		code = check_trace(&options, &work);
	if (!code)
		code = predict(&options, &work);
	compile_summary_free(&work.replays.summary);
	if (!options.output || code == EXIT_FAILED)
		removed = replays_remove(work.outcomes);
	return code == EXIT_DONE ? removed : code;
}

const struct cmd cmd_predict = {
	.name = "predict",
	.summary = "predict the duration of a recorded run on another storage",
	.run = run,
	.options = &option_table,
};
