// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_snapshot.c - iotape snapshot: save the contents of a directory, or print a saved one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "json.h"
#include "option.h"
#include "snapshot/snapshot.h"
#include "table.h"

struct options {
	struct snapshot_options snapshot;
	const char *argument;
	bool is_list;
	bool is_json;
	bool is_quiet;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static void add_operand(struct option_state *state, char *operand)
{
	struct options *options = state->options;

	if (options->argument)
		option_error(state, "%s: one at a time", operand);
	options->argument = operand;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (!options->argument)
		option_error(state, options->is_list ? "no snapshot given" : "no directory given");
	if (options->is_list && options->snapshot.output)
		option_error(state, "--list cannot be combined with --output");
	if (!options->is_list && !options->snapshot.output)
		option_error(state, "no --output given");
}

static const struct option_row option_rows[] = {
	{ "output", 'o', OPTION_FILE, "FILE", .field = FIELD(snapshot.output), .help = "write the snapshot to FILE" },
	{ "list", 'l', .field = FIELD(is_list),
	  .help = "print the entries of a snapshot, or of the initial tree of any program" },
	{ "cross-file-systems", 'X', .field = FIELD(snapshot.crosses_file_systems),
	  .help = "include file systems mounted below the directory" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON" },
	{ "quiet", 'q', .field = FIELD(is_quiet), .help = "do not print the summary" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "DIR\n--list SNAPSHOT",
	.operand_type = OPTION_FILE,
	.add = add_operand,
	.check = check,
	.about = "Save the metadata of the tree below DIR, for `iotape compile --snapshot` and `iotape init`.",
};

/* -- taking one ---------------------------------------------------------------------- */

static void show_progress(u64 entries)
{
	progress("%llu names", entries);
}

/* Return: true if something is missing. */
static bool print_gaps(const struct snapshot_result *result)
{
	bool is_missing = false;
	int i;

	for (i = 0; i < SNAPSHOT_GAP_COUNT; i++) {
		if (!result->gaps[i])
			continue;
		if (!snapshot_gap_is_expected((enum snapshot_gap)i))
			is_missing = true;
		if (result->gaps[i] == 1)
			say("%s: %s", result->gap_paths[i], snapshot_gap_sentences[i]);
		else
			say("%s: %s; the same for %llu more", result->gap_paths[i],
			    snapshot_gap_sentences[i], result->gaps[i] - 1);
	}
	return is_missing;
}

static void print_summary(const struct options *options, const struct snapshot_result *result)
{
	char size[32], data[32];
	struct json json;

	if (options->is_json) {
		json_open(&json, stdout);
		json_begin(&json, '{');
		json_put_unsigned(&json, "entries", result->entries);
		json_put_unsigned(&json, "size_bytes", result->size_bytes);
		json_put_unsigned(&json, "data_bytes", result->data_bytes);
		json_end(&json, '}');
		json_line(&json);
	} else if (!options->is_quiet) {
		printf("%s: %llu entries, %s, %s of data\n", options->snapshot.output, result->entries,
		       quantity_size(size, result->size_bytes), quantity_size(data, result->data_bytes));
	}
}

static int take(struct options *options)
{
	struct snapshot_result result;
	char why[IOT_PROGRAM_PATH_MAX + 256] = "";
	bool is_missing;
	int err;

	options->snapshot.directory = options->argument;
	err = snapshot_take(&options->snapshot, show_progress, &result, why, sizeof(why));
	progress_end();
	if (err) {
		snapshot_result_free(&result);
		return fail("%s", why);
	}
	is_missing = print_gaps(&result);
	print_summary(options, &result);
	snapshot_result_free(&result);
	return is_missing ? EXIT_DIFFERS : EXIT_DONE;
}

/* -- printing one -------------------------------------------------------------------- */

static void print_bytes(const char *bytes, size_t count)
{
	static char text[4 * IOT_XATTR_VALUE_MAX + 8];

	iot_text_bytes(text, sizeof(text), bytes, count);
	fputs(text, stdout);
}

static void print_text(const char *text)
{
	print_bytes(text, strlen(text));
}

static char letter_of(u32 mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return '-';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	default:
		return '=';
	}
}

static void list_extents(const struct iot_program *program, u32 index)
{
	const struct iot_program_entry *entry = &program->tree[index];
	const struct iot_program_extent *extents;
	u32 count, i;

	if (!(le32_to_cpu(entry->flags) & IOT_ENTRY_EXTENTS))
		return;
	extents = iot_tree_extents(program, index, &count);
	printf(" data=");
	for (i = 0; i < count; i++)
		printf("%s%llu+%llu", i ? "," : "", (u64)le64_to_cpu(extents[i].offset_bytes),
		       (u64)le64_to_cpu(extents[i].length_bytes));
}

static void list_xattrs(const struct iot_program *program, u32 index)
{
	const struct iot_program_xattr *xattrs;
	u32 count, i;

	xattrs = iot_tree_xattrs(program, index, &count);
	for (i = 0; i < count; i++) {
		printf(" ");
		print_text(iot_program_string(program, xattrs[i].name));
		printf("=");
		print_bytes(iot_program_string(program, xattrs[i].value),
			    le32_to_cpu(xattrs[i].value_bytes));
	}
}

static void list_entry(const struct iot_program *program, u32 index)
{
	const struct iot_program_entry *entry = &program->tree[index];
	u32 mode = le32_to_cpu(entry->mode);

	printf("%c", letter_of(mode));
	if (mode)
		printf(" %04o %u:%u", mode & 07777, le32_to_cpu(entry->uid), le32_to_cpu(entry->gid));
	printf(" ");
	print_text(iot_program_string(program, entry->path));
	if (entry->target) {
		printf(" -> ");
		print_text(iot_program_string(program, entry->target));
	}
	if (S_ISREG(mode))
		printf(" size=%llu", (u64)le64_to_cpu(entry->size_bytes));
	if (S_ISCHR(mode) || S_ISBLK(mode))
		printf(" device=%#llx", (u64)le64_to_cpu(entry->rdev));
	list_extents(program, index);
	list_xattrs(program, index);
	printf("\n");
}

static void json_extents(struct json *json, const struct iot_program *program, u32 index)
{
	const struct iot_program_extent *extents;
	u32 count, i;

	extents = iot_tree_extents(program, index, &count);
	json_key(json, "data");
	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		json_begin(json, '{');
		json_put_unsigned(json, "offset_bytes", le64_to_cpu(extents[i].offset_bytes));
		json_put_unsigned(json, "length_bytes", le64_to_cpu(extents[i].length_bytes));
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void json_xattrs(struct json *json, const struct iot_program *program, u32 index)
{
	const struct iot_program_xattr *xattrs;
	u32 count, i;

	xattrs = iot_tree_xattrs(program, index, &count);
	json_key(json, "xattrs");
	json_begin(json, '{');
	for (i = 0; i < count; i++) {
		json_key(json, iot_program_string(program, xattrs[i].name));
		json_text(json, iot_program_string(program, xattrs[i].value),
			   le32_to_cpu(xattrs[i].value_bytes));
	}
	json_end(json, '}');
}

static void list_json(const struct iot_program *program, u32 index)
{
	const struct iot_program_entry *entry = &program->tree[index];
	u32 flags = le32_to_cpu(entry->flags), mode = le32_to_cpu(entry->mode);
	struct json json;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "path", iot_program_string(program, entry->path));
	if (!mode || S_ISLNK(mode))
		json_put_string(&json, mode ? "target" : "same_as",
			     iot_program_string(program, entry->target));
	if (mode) {
		json_put_unsigned(&json, "mode", mode);
		json_put_unsigned(&json, "uid", le32_to_cpu(entry->uid));
		json_put_unsigned(&json, "gid", le32_to_cpu(entry->gid));
		json_put_unsigned(&json, "rdev", le64_to_cpu(entry->rdev));
		json_put_unsigned(&json, "size_bytes", le64_to_cpu(entry->size_bytes));
	}
	if (flags & IOT_ENTRY_EXTENTS)
		json_extents(&json, program, index);
	if (flags & IOT_ENTRY_XATTRS)
		json_xattrs(&json, program, index);
	json_end(&json, '}');
	json_line(&json);
}

static int list(const struct options *options)
{
	struct iot_program program;
	struct iot_reject reject = {};
	int err = iot_program_load(options->argument, &program, &reject);
	u32 i;

	if (err)
		return fail_reject(options->argument, err, &reject);
	for (i = 0; i < program.entry_count; i++)
		if (options->is_json)
			list_json(&program, i);
		else
			list_entry(&program, i);
	iot_program_free(&program);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = {};

	options_parse(&option_table, argc, argv, &options);
	return options.is_list ? list(&options) : take(&options);
}

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.summary = "save the metadata of a directory tree",
	.run = run,
	.options = &option_table,
};
