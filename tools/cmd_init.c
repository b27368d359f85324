// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_init.c - iotape init: create the initial tree of a replay.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "option_words.h"
#include "replay/replay.h"
#include "table.h"

struct options {
	const char *program;
	struct prepare_options prepare;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void show_change(const char *path, enum prepare_change change)
{
	char text[4 * IOT_PROGRAM_PATH_MAX + 8];

	progress_end();
	iot_text_bytes(text, sizeof(text), path, strlen(path));
	printf("%s: %s\n", text, prepare_change_sentences[change]);
}

static void set_verbose(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	(void)argument;
	options->prepare.change = show_change;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->prepare.target)
		option_error(state, "no --target given");
	if (options->is_json && options->prepare.change)
		option_error(state, "--verbose cannot be combined with --json");
}

static const struct option_row option_rows[] = {
	{ "target", 0, OPTION_DIRECTORY, "DIR", .field = FIELD(prepare.target),
	  .help = "directory to prepare; must be empty, except with --delta" },
	{ "delta", .field = FIELD(prepare.is_delta),
	  .help = "restore a directory that was prepared for PROGRAM before" },
	{ "data", 0, OPTION_CHOICE, OPTION_WORDS_DATA, .field = FIELD(prepare.data),
	  .help = "contents of files: incompressible data (default), zeros, or no data; the default with --delta is the previous value" },
	{ "cache", 0, OPTION_CHOICE, OPTION_WORDS_CACHE, .field = FIELD(prepare.cache),
	  .help = "state of the page cache: as in the trace (default), empty, all files, or unchanged" },
	{ "owner", .field = FIELD(prepare.takes_target),
	  .help = "also set owner and mode of DIR to those of the traced directory, for iotape replay --as=recorded" },
	{ "privileged-files", .field = FIELD(prepare.is_privileged),
	  .help = "create device nodes, set-user-ID files and capabilities with their privileges, see iotape-replay(1)" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print the summary as JSON" },
	{ "verbose", 'v', .set = set_verbose, .help = "with --delta, print each change" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "PROGRAM",
	.operand_type = OPTION_FILE,
	.operand_noun = "program",
	.operand = FIELD(program),
	.check = check,
	.about = "Create the initial tree of PROGRAM in an empty directory. PROGRAM may be a snapshot.",
};

static u64 entry_count; /* of the program */

static void show_progress(u64 entries, u64 bytes)
{
	char size[32];

	progress_share(entries, entry_count, "%llu of %llu entries, %s", entries, entry_count, quantity_size(size, bytes));
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
	char size[32];

	printf("%s", target);
	if (result->was_prepared)
		print_changes(result);
	printf("%s%llu entries, %s%s\n", result->was_prepared ? "; " : ": ", result->entries,
	       quantity_size(size, result->bytes), result->was_prepared ? " written" : "");
	if (result->harmless)
		printf("  %llu entries were created without their privileges: see --privileged-files\n",
		       result->harmless);
	omissions_print(stdout, "  ", omissions);
}

/* Return: true if the tree differs from the wanted one. */
static bool print_failures(const struct prepare_result *result)
{
	if (result->is_open)
		say("users without access to the traced directory can read or enter the target");
	if (result->cache_failed)
		say("%llu files cannot be read: their state in the page cache is unchanged",
		    result->cache_failed);
	if (!result->xattrs_failed)
		return false;
	if (result->xattrs_failed == 1)
		say("%s", result->xattr_failed);
	else
		say("%s; the same for %llu more", result->xattr_failed, result->xattrs_failed - 1);
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

	options_parse(&option_table, argc, argv, &options);
	err = iot_program_stream(options.program, 0, &program, &reject); /* it needs no operation */
	if (err)
		return fail_reject(options.program, err, &reject);
	iot_omissions_of_program(&omissions, &program);
	entry_count = program.entry_count;
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
	.options = &option_table,
};
