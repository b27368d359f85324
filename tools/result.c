// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - the result of a replay, as text and as JSON.
 */
#include "result.h"

#include <stdio.h>

#include "cmd.h"
#include "core/replay/pace.h"
#include "json.h"
#include "omissions.h"
#include "table.h"

/**
 * result_data() - the treatment of data that is read, as a word
 * @options: of the replay
 */
const char *result_data(const struct replay_options *options)
{
	if (!options->engine->data_modes)
		return "none";
	return options->data == IOT_DATA_COPY ? "copy" : "discard";
}

/**
 * result_pace() - how fast the replay is meant to be, in words
 * @options: of the replay
 * @text: room for them
 *
 * Return: the words, in @text or not.
 */
const char *result_pace(const struct replay_options *options, char text[RESULT_PACE_BYTES])
{
	if (options->pace == IOT_PACE_FULL)
		return "full";
	if (options->compute_scale == IOT_SCALE_ONE &&
	    options->pause_scale == IOT_SCALE_ONE)
		return "natural";
	snprintf(text, RESULT_PACE_BYTES, "compute x %.3f, pause x %.3f",
		 (double)options->compute_scale / IOT_SCALE_ONE,
		 (double)options->pause_scale / IOT_SCALE_ONE);
	return text;
}

static u64 count_wakeups(const struct iot_replay_lateness *lateness)
{
	u64 count = 0;
	u32 bucket;

	for (bucket = 0; bucket < IOT_LATENESS_BUCKETS; bucket++)
		count += lateness->wakeups[bucket];
	return count;
}

/* The maximum lateness of this share of all wake-ups, with the precision of the buckets. */
static u64 lateness_percentile(const struct iot_replay_lateness *lateness, double percent)
{
	double wanted = percent / 100 * (double)count_wakeups(lateness);
	u64 count = 0, limit_ns;
	u32 bucket = 0;

	while (bucket < IOT_LATENESS_BUCKETS - 1 &&
	       (double)(count += lateness->wakeups[bucket]) < wanted)
		bucket++;
	limit_ns = iot_lateness_limit(bucket) - 1;
	return limit_ns < lateness->max_ns ? limit_ns : lateness->max_ns;
}

static void print_lateness(const struct iot_replay_lateness *lateness)
{
	u64 count = count_wakeups(lateness);

	if (!count)
		return;
	printf("  %llu think times ended late by %.1f us on average, 50 %% within %.1f, 90 %% within %.1f, 99 %% within %.1f, at most %.1f us\n",
	       count, (double)lateness->sum_ns / 1e3 / (double)count,
	       (double)lateness_percentile(lateness, 50) / 1e3,
	       (double)lateness_percentile(lateness, 90) / 1e3,
	       (double)lateness_percentile(lateness, 99) / 1e3, (double)lateness->max_ns / 1e3);
}

static u32 count_nodes(const struct replay_options *options)
{
	return options->agent ? agent_view(options->agent).count : 1;
}

static void print_unsupported(const struct replay_result *r)
{
	if (r->unsupported)
		printf("  %llu of them because the target does not support the operation%s\n", r->unsupported,
		       r->emulated ? "" : ": see --emulate");
	if (r->emulated)
		printf("  %llu unsupported operations were emulated\n", r->emulated);
	if (r->harmless)
		printf("  %llu operations created files without their privileges: see --privileged-files\n",
		       r->harmless);
}

/**
 * result_code() - how a replay ended, as an exit code
 * @options: of the replay
 * @r: its result; it was not interrupted
 * @omissions: of its program
 *
 * An engine that performs nothing has compared nothing either.
 */
int result_code(const struct replay_options *options, const struct replay_result *r,
		const struct iot_omissions *omissions)
{
	return options->engine->uses_target ? omissions_verdict(r->diverged, omissions) : EXIT_DONE;
}

/* The consequence for the replay: a part of it was run and compared. */
static void print_omissions(const struct replay_options *options, const struct replay_result *r,
			    const struct iot_omissions *omissions)
{
	omissions_print(stdout, "  ", omissions);
	if (options->engine->uses_target)
		omissions_print_verdict("  ", r->diverged, omissions);
}

/**
 * result_text() - print the result of a replay
 * @program: its name
 * @options: of the replay
 * @r: its result
 * @omissions: of the program
 */
void result_text(const char *program, const struct replay_options *options,
		 const struct replay_result *r, const struct iot_omissions *omissions)
{
	char size[32];
	double seconds = (double)r->elapsed_ns / 1e9;
	char text[RESULT_PACE_BYTES];

	printf("%s: %.3f s, %llu operations of %u tasks",
	       options->target ?: program, seconds, r->ops,
	       r->tasks);
	if (options->agent)
		printf(" on %u nodes", count_nodes(options));
	if (seconds > 0)
		printf(", %.0f operations/s", (double)r->ops / seconds);
	printf(", pace %s", result_pace(options, text));
	if (options->engine->data_modes)
		printf(", data %s, %llu diverged from the trace\n",
		       options->data == IOT_DATA_COPY ? "copied" : "discarded", r->diverged);
	else
		printf(", no operation was run\n");
	print_unsupported(r);
	print_lateness(&r->lateness);
	if (r->is_streamed)
		printf("  the program was read in a window of %s; prefetch stalls: %llu\n",
		       quantity_size(size, options->window_bytes), r->stalls);
	if (r->lost)
		printf("  %llu outcomes were lost\n", r->lost);
	print_omissions(options, r, omissions);
}

/* As latencies of operations are. */
static void lateness_json(struct json *json, const struct iot_replay_lateness *lateness)
{
	u64 count = count_wakeups(lateness);

	json_key(json, "lateness");
	json_begin(json, '{');
	json_put_unsigned(json, "count", count);
	json_put_unsigned(json, "mean_ns", count ? lateness->sum_ns / count : 0);
	json_put_unsigned(json, "p50_ns", lateness_percentile(lateness, 50));
	json_put_unsigned(json, "p90_ns", lateness_percentile(lateness, 90));
	json_put_unsigned(json, "p99_ns", lateness_percentile(lateness, 99));
	json_put_unsigned(json, "max_ns", lateness->max_ns);
	json_end(json, '}');
}

/**
 * result_json() - the same as JSON
 * @options: of the replay
 * @r: its result
 * @omissions: of the program
 */
void result_json(const struct replay_options *options, const struct replay_result *r,
		 const struct iot_omissions *omissions)
{
	struct json json;
	char text[RESULT_PACE_BYTES];

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_real(&json, "seconds", (double)r->elapsed_ns / 1e9);
	json_put_unsigned(&json, "operations", r->ops);
	json_put_unsigned(&json, "tasks", r->tasks);
	json_put_unsigned(&json, "nodes", count_nodes(options));
	json_put_unsigned(&json, "workers", r->workers);
	json_put_unsigned(&json, "diverged", r->diverged);
	json_put_unsigned(&json, "unsupported", r->unsupported);
	json_put_unsigned(&json, "emulated", r->emulated);
	json_put_unsigned(&json, "harmless", r->harmless);
	json_put_bool(&json, "is_streamed", r->is_streamed);
	json_put_unsigned(&json, "stalls", r->stalls);
	json_put_unsigned(&json, "lost", r->lost);
	lateness_json(&json, &r->lateness);
	json_put_string(&json, "pace", result_pace(options, text));
	json_put_string(&json, "engine", options->engine->name);
	json_put_string(&json, "data", result_data(options));
	json_put_bool(&json, "is_cancelled", r->is_cancelled);
	json_put_bool(&json, "is_exact", options->engine->uses_target && !r->is_cancelled &&
					 omissions_verdict(r->diverged, omissions) == EXIT_DONE);
	omissions_json(&json, omissions);
	json_end(&json, '}');
	json_line(&json);
}
