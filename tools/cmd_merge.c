// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_merge.c - iotape merge: one trace of those that the processes or nodes of a job wrote.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "merge/merge.h"

#define INPUTS_MAX 65536
#define SHARED_MAX 16

struct options {
	struct merge_options merge;
	const char *shared[SHARED_MAX + 1];
	size_t shared_count;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_input(struct option_state *state, const char *path)
{
	struct merge_options *merge = &((struct options *)state->options)->merge;
	char **paths = NULL;

	if (merge->path_count < INPUTS_MAX)
		paths = reallocarray(merge->paths, merge->path_count + 1, sizeof(*paths));
	if (!paths)
		option_failure(state, 0, "%s: too many traces", path);
	merge->paths = paths;
	paths[merge->path_count] = strdup(path);
	if (!paths[merge->path_count++])
		option_failure(state, ENOMEM, "%s", path);
}

static int is_trace(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".iot");
}

static void add_argument(struct option_state *state, char *path)
{
	struct dirent **names;
	int count = scandir(path, &names, is_trace, alphasort), i;
	char full[4096];

	if (count < 0 && errno == ENOTDIR) {
		add_input(state, path);
		return;
	}
	if (count < 0)
		option_failure(state, errno, "%s", path);
	for (i = 0; i < count; i++) {
		snprintf(full, sizeof(full), "%s/%s", path, names[i]->d_name);
		add_input(state, full);
		free(names[i]);
	}
	free(names);
	if (!count)
		option_failure(state, 0, "%s: no traces in the directory", path);
}

static void set_shared(struct option_state *state, char *dir)
{
	struct options *options = state->options;

	options->merge.is_shared_guessed = false;
	if (!strcmp(dir, "none"))
		return;
	if (options->shared_count == SHARED_MAX)
		option_error(state, "more than %d times --shared", SHARED_MAX);
	options->shared[options->shared_count++] = dir;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->merge.path_count)
		option_error(state, "no trace or directory given");
	if (!options->merge.output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(merge.output), .help = "write the trace to FILE" },
	{ "job", 0, OPTION_TEXT, "JOB|all", .field = FIELD(merge.job),
	  .help = "merge the traces of one job only, or of all jobs" },
	{ "shared", 0, OPTION_DIRECTORY, "DIR|none", .set = set_shared,
	  .help = "treat DIR as the same directory on all nodes; may be repeated. Default: directories on shared "
		  "file systems; none: no directory" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "DIRECTORY|TRACE...",
	.operand_type = OPTION_FILE,
	.add = add_argument,
	.check = check,
	.about = "Merge traces into one: those of the nodes of a job (`iotape record --join`), of its "
		 "processes (IOTAPE_MPI_OUT=DIRECTORY), or the outcomes of the nodes of a replay.",
};

/* -- result ---------------------------------------------------------------------------------- */

static void print_node(const struct merge_node_result *node)
{
	const struct clock_fit *fit = &node->clock;

	printf("%s: ranks %s; ", node->name, node->ranks[0] ? node->ranks : "none");
	if (fit->source == CLOCK_SOURCE_reference)
		printf("its clock is the clock of the trace");
	else
		printf("clock %+.6f s, %+.3f ppm", (double)fit->offset_ns / 1e9,
		       (double)fit->drift_ppb / 1e3);
	if (fit->source == CLOCK_SOURCE_messages)
		printf(fit->margin_ns < 0 ? ", no line fits: %.1f us short" : ", uncertainty %.1f us",
		       (double)llabs(fit->margin_ns) / 1e3);
	printf("; %llu of %llu bounds corrected", (unsigned long long)fit->corrected,
	       (unsigned long long)fit->bounds);
	if (fit->corrected)
		printf(", by up to %.1f us", (double)fit->corrected_max_ns / 1e3);
	putchar('\n');
}

static void print_text(const struct options *options, const struct merge_result *result)
{
	u32 i;

	printf("%s: %llu records of %llu traces, %llu jobs; %llu lost\n", options->merge.output,
	       (unsigned long long)result->records, (unsigned long long)result->traces,
	       (unsigned long long)result->jobs, (unsigned long long)result->lost);
	for (i = 0; i < result->node_count && result->node_count > 1; i++)
		print_node(&result->nodes[i]);
	omissions_print(stdout, "", &result->omissions);
}

static void put_signed(struct json *json, const char *key, long long value)
{
	json_key(json, key);
	json_integer(json, value);
}

static void put_node(struct json *json, const struct merge_node_result *node)
{
	const struct clock_fit *fit = &node->clock;

	json_begin(json, '{');
	json_put_string(json, "node", node->name);
	json_put_string(json, "ranks", node->ranks);
	json_put_unsigned(json, "traces", node->traces);
	json_put_string(json, "clock", clock_source_sentence(fit->source));
	put_signed(json, "offset_ns", fit->offset_ns);
	put_signed(json, "drift_ppb", fit->drift_ppb);
	put_signed(json, "margin_ns", fit->margin_ns);
	json_put_unsigned(json, "bounds", fit->bounds);
	json_put_unsigned(json, "corrected", fit->corrected);
	json_put_unsigned(json, "corrected_max_ns", fit->corrected_max_ns);
	json_put_unsigned(json, "contradicted", fit->contradicted);
	json_end(json, '}');
}

static void print_json(const struct options *options, const struct merge_result *result)
{
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "trace", options->merge.output);
	json_put_unsigned(&json, "records", result->records);
	json_put_unsigned(&json, "traces", result->traces);
	json_put_unsigned(&json, "jobs", result->jobs);
	json_put_unsigned(&json, "ranks", result->ranks);
	json_put_unsigned(&json, "unfinished", result->unfinished);
	json_put_unsigned(&json, "missing_ranks", result->missing_ranks);
	json_put_unsigned(&json, "missing_nodes", result->missing_nodes);
	json_put_unsigned(&json, "lost", result->lost);
	omissions_json(&json, &result->omissions);
	json_key(&json, "nodes");
	json_begin(&json, '[');
	for (i = 0; i < result->node_count; i++)
		put_node(&json, &result->nodes[i]);
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static int run(int argc, char **argv)
{
	struct options options = { .merge = { .say = say, .is_shared_guessed = true } };
	struct merge_result result;
	struct merge *merge;
	size_t i;
	int err;

	options_parse(&option_table, argc, argv, &options);
	options.merge.shared = options.shared;
	err = merge_open(&options.merge, &merge);
	if (!err)
		err = merge_run(merge, &result);
	if (!err && options.is_json)
		print_json(&options, &result);
	else if (!err && !options.is_quiet)
		print_text(&options, &result);
	merge_close(merge);
	for (i = 0; i < options.merge.path_count; i++)
		free(options.merge.paths[i]);
	free(options.merge.paths);
	return err ? EXIT_FAILED : EXIT_DONE;
}

const struct cmd cmd_merge = {
	.name = "merge",
	.summary = "merge the traces of the processes or nodes of a job",
	.run = run,
	.options = &option_table,
};
