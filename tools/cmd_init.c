// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_init.c - iotape init: make what a replay needs to find.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "replay/replay.h"

struct options {
	const char *program;
	struct prepare_options prepare;
	bool is_json;
	bool is_quiet;
};

enum {
	KEY_TARGET = 256,
	KEY_DATA,
	KEY_CACHE,
	KEY_DELTA,
	KEY_OWNER,
	KEY_PRIVILEGED,
};

static const struct argp_option option_table[] = {
	{ "target", KEY_TARGET, "DIR", 0,
	  "directory to prepare; must be empty, except with --delta", 0 },
	{ "delta", KEY_DELTA, NULL, 0,
	  "restore a directory that was prepared for PROGRAM before", 0 },
	{ "data", KEY_DATA, "random|zero|sparse", 0,
	  "contents of files: incompressible data (default), zeros, or no data; with --delta, as before", 0 },
	{ "cache", KEY_CACHE, "match|cold|warm|keep", 0,
	  "state of the page cache: as in the trace (default), empty, all files, or unchanged", 0 },
	{ "owner", KEY_OWNER, NULL, 0,
	  "also set owner and mode of DIR to those of the traced directory, for iotape replay --as=recorded", 0 },
	{ "privileged-files", KEY_PRIVILEGED, NULL, 0,
	  "make device nodes, set-user-ID files and capabilities as they were, not harmless: see iotape-replay(1)", 0 },
	{ "json", 'j', NULL, 0, "print the summary as JSON", 0 },
	{ "verbose", 'v', NULL, 0, "with --delta, print each change", 0 },
	{ "quiet", 'q', NULL, 0, "do not print the summary", 0 },
	{}
};

static void show_change(const char *path, enum prepare_change change)
{
	char text[4 * IOT_PROGRAM_PATH_MAX + 8];

	progress_end();
	iot_text_bytes(text, sizeof(text), path, strlen(path));
	printf("%s: %s\n", text, prepare_change_sentences[change]);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_TARGET:
		options->prepare.target = argument;
		return 0;
	case KEY_DATA:
		options->prepare.data = option_prepare_data(state, argument);
		return 0;
	case KEY_CACHE:
		options->prepare.cache = option_prepare_cache(state, argument);
		return 0;
	case KEY_DELTA:
		options->prepare.is_delta = true;
		return 0;
	case KEY_OWNER:
		options->prepare.takes_target = true;
		return 0;
	case KEY_PRIVILEGED:
		options->prepare.is_privileged = true;
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case 'v':
		options->prepare.change = show_change;
		return 0;
	case 'q':
		options->is_quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->program)
			argp_error(state, "%s: one program at a time", argument);
		options->program = argument;
		return 0;
	case ARGP_KEY_END:
		if (!options->program)
			argp_error(state, "no program given");
		if (!options->prepare.target)
			argp_error(state, "no --target given");
		if (options->is_json && options->prepare.change)
			argp_error(state, "--verbose cannot be combined with --json");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse,
	.args_doc = "PROGRAM",
	.doc = "Create the initial tree of PROGRAM in an empty directory. "
	       "PROGRAM may be a snapshot.",
};

static void show_progress(u64 entries, u64 bytes)
{
	progress("%llu entries, %llu MiB", entries, bytes >> 20);
}

static void print_changes(const struct prepare_result *result)
{
	const char *before = ": ";
	int i;

	for (i = 0; i < PREPARE_CHANGE_COUNT; i++) {
		if (!result->changes[i])
			continue;
		printf("%s%llu %s", before, result->changes[i], prepare_change_sentences[i]);
		before = ", ";
	}
	if (!strcmp(before, ": "))
		printf(": nothing to change");
}

static void print_json(const char *target, const struct prepare_result *result,
		       const struct iot_omissions *omissions)
{
	static const char *const changes[] = {
#define NAME(name, sentence) [PREPARE_##name] = #name,
		PREPARE_CHANGES(NAME)
#undef NAME
	};
	struct json json;
	int i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "target", target);
	json_put_bool(&json, "was_prepared", result->was_prepared);
	json_put_unsigned(&json, "entries", result->entries);
	json_put_unsigned(&json, "written_bytes", result->bytes);
	json_key(&json, "changes");
	json_begin(&json, '{');
	for (i = 0; i < PREPARE_CHANGE_COUNT; i++)
		json_put_unsigned(&json, changes[i], result->changes[i]);
	json_end(&json, '}');
	json_put_unsigned(&json, "cache_failed", result->cache_failed);
	json_put_unsigned(&json, "xattrs_failed", result->xattrs_failed);
	json_put_unsigned(&json, "harmless", result->harmless);
	json_put_bool(&json, "is_open", result->is_open);
	omissions_json(&json, omissions);
	json_end(&json, '}');
	json_line(&json);
}

static void print_text(const char *target, const struct prepare_result *result,
		       const struct iot_omissions *omissions)
{
	printf("%s", target);
	if (result->was_prepared)
		print_changes(result);
	printf("%s%llu entries, %.1f MiB%s\n", result->was_prepared ? "; " : ": ", result->entries,
	       (double)result->bytes / (1 << 20), result->was_prepared ? " written" : "");
	if (result->harmless)
		printf("  %llu entries that give rights were made without them: see --privileged-files\n",
		       result->harmless);
	omissions_print(stdout, "  ", omissions);
}

/* Return: true if the tree is not what it was to be. */
static bool print_failures(const struct prepare_result *result)
{
	if (result->is_open)
		say("the target can be read or entered by users who could not read or enter the traced directory");
	if (result->cache_failed)
		say("%llu files may not be read: they are in the page cache, or not, as before",
		    result->cache_failed);
	if (!result->xattrs_failed)
		return false;
	if (result->xattrs_failed == 1)
		say("%s", result->xattr_failed);
	else
		say("%s; and so for %llu more", result->xattr_failed, result->xattrs_failed - 1);
	return true;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct iot_omissions omissions;
	struct prepare_result result;
	struct iot_program program;
	struct iot_reject reject = {};
	char why[IOT_PROGRAM_PATH_MAX + 256] = "";
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	err = iot_program_stream(options.program, 0, &program, &reject); /* it needs no operation */
	if (err)
		return fail_reject(options.program, err, &reject);
	iot_omissions_of_program(&omissions, &program);
	err = prepare_tree(&program, &options.prepare, show_progress, &result, why, sizeof(why));
	progress_end();
	iot_program_free(&program);
	if (err)
		return fail("%s", why[0] ? why : strerror(-err));
	if (options.is_json)
		print_json(options.prepare.target, &result, &omissions);
	else if (!options.is_quiet)
		print_text(options.prepare.target, &result, &omissions);
	return print_failures(&result) ? EXIT_DIFFERS : EXIT_DONE;
}

const struct cmd cmd_init = {
	.name = "init",
	.summary = "create the initial tree of a replay",
	.run = run,
	.argp = &argp,
};
