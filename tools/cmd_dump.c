// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_dump.c - iotape dump: a trace as text, one line per record.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "dump.h"
#include "input.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "option_selection.h"
#include "partners.h"
#include "terminal.h"

#define KINDS_MAX 64

struct options {
	const char *path;
	const char *name; /* of it in messages */
	const struct iot_kind_info *kinds[KINDS_MAX];
	int kind_count;
	bool is_group[IOT_GROUP_replay + 1];
	bool has_group;
	struct selection selection;
	u64 max;
	bool is_failed_only;
	bool has_partners;
	bool is_json;
	bool has_clock;
	struct dump_view view;
};

#define FIELD(member) OPTION_FIELD(struct options, member)

static bool add_group(struct options *options, const char *name)
{
	enum iot_group group;

	for (group = IOT_GROUP_run; group <= IOT_GROUP_replay; group++) {
		if (strcmp(name, iot_group_name(group)))
			continue;
		options->is_group[group] = true;
		options->has_group = true;
		return true;
	}
	return false;
}

static void set_kinds(struct option_state *state, char *list)
{
	struct options *options = state->options;
	char *name;

	while ((name = strsep(&list, ","))) {
		const struct iot_kind_info *info = iot_kind_by_name(name);

		if (info && options->kind_count < KINDS_MAX)
			options->kinds[options->kind_count++] = info;
		else if (!add_group(options, name))
			option_error(state, "--kind=%s: unknown kind or group of records%s", name,
				     option_hint(state->row, name));
	}
}

static const char *kind_at(size_t index)
{
	const struct iot_kind_info *info = iot_kind_at(index);

	return info ? info->name : NULL;
}

static void set_all(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	(void)argument;
	memset(options->is_group, true, sizeof(options->is_group));
	options->has_group = true;
}

static bool is_restricted(const struct options *options)
{
	return options->kind_count || options->has_group || options->is_failed_only || options->max ||
	       !selection_is_all(&options->selection);
}

static void set_columns(struct option_state *state, char *list)
{
	struct dump_view *view = &((struct options *)state->options)->view;
	char *name;

	view->column_count = 0;
	while ((name = strsep(&list, ","))) {
		if (view->column_count == DUMP_COLUMNS_MAX)
			option_error(state, "--columns: more than %d columns", DUMP_COLUMNS_MAX);
		if (!dump_column_is_known(name))
			option_error(state, "--columns=%s: neither a column nor a field of a record%s", name,
				     option_hint(state->row, name));
		view->columns[view->column_count++] = name;
	}
}

static void set_json_format(struct option_state *state, char *argument)
{
	struct options *options = state->options;

	options->view.json_format = (u32)option_number(state, argument, 1, DUMP_JSON_FORMAT);
	options->is_json = true;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->is_json && (options->view.column_count || options->has_clock))
		option_error(state, "--columns and --clock cannot be combined with --json");
	if (options->has_partners && (is_restricted(options) || options->view.column_count || options->has_clock))
		option_error(state, "--partners can be combined with --json only");
}

static const char *const clock_words[] = { "relative", "wall", "monotonic", NULL };

static const struct option_row option_rows[] = {
	{ "kind", 'k', OPTION_TEXT, "KIND[,...]", .word_at = kind_at, .set = set_kinds,
	  .help = "print only records of these kinds or groups: run who life op mpi replay (default: op life mpi replay)" },
	{ "all", 'a', .set = set_all, .help = "print records of all kinds" },
	OPTION_ROWS_SELECTION(struct options, selection),
	{ "failed", 'f', .field = FIELD(is_failed_only), .help = "print only failed operations" },
	{ "max", 'n', OPTION_COUNT, "N", .min = 1, .max = UINT64_MAX, .field = FIELD(max),
	  .help = "print only the first N records" },
	{ "columns", 'c', OPTION_TEXT, "COLUMN,...", .word_at = dump_column_at, .set = set_columns,
	  .help = "print these columns: time latency task pid rank op kind path size site fields text, or fields by name" },
	{ "clock", 0, OPTION_CHOICE, .words = clock_words, .field = FIELD(view.clock), .given = FIELD(has_clock),
	  .help = "print times in seconds since the start of the trace (default), as UTC, or of the monotonic clock" },
	{ "partners", .field = FIELD(has_partners),
	  .help = "print the matched MPI calls of each rank instead of records" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON, one object per line" },
	{ "json-format", 0, OPTION_COUNT, "1|2", .set = set_json_format,
	  .help = "print JSON of this version (default: 1); 2 begins with an object that has the version, and has numbers above 2^53 as strings" },
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
	.about = "Print the records of a trace, one per line, in the order in which they ended.",
	.notes = "TRACE may be a pipe, or - for standard input. Columns: time since the start in seconds, task, number of the operation, kind, "
		 "path with the generation of the object if it is not the first, fields of the kind. "
		 "Lines at the end that begin with # list the omissions.",
};

static bool is_kind_wanted(const struct options *options, const struct iot_kind_info *info)
{
	int i;

	for (i = 0; i < options->kind_count; i++)
		if (options->kinds[i] == info)
			return true;
	if (options->kind_count && !options->has_group)
		return false;
	if (options->has_group)
		return options->is_group[info->group];
	return info->group != IOT_GROUP_run && info->group != IOT_GROUP_who;
}

/* Of the records in a chunk, can one be printed? */
static bool may_be_wanted(const void *context, const struct iot_summary *summary)
{
	const struct options *options = context;
	const struct iot_kind_info *info;
	u32 i;

	for (i = 0; (info = iot_kind_at(i)); i++)
		if (summary->kinds[info->kind / 64] >> info->kind % 64 & 1 && is_kind_wanted(options, info))
			return selection_may_match(&options->selection, &options->view.actors, summary);
	return false;
}

/* Chunks without a record that is printed, or is necessary for one, are skipped. */
static void skip(const struct options *options, struct iot_reader *reader)
{
	struct iot_need need = { .may_match = may_be_wanted, .context = options };

	iot_omissions_kinds(need.always);
	selection_kinds(&options->selection, need.state);
	if (options->view.symbols)
		symbols_kinds(need.state);
	iot_reader_need(reader, &need);
}

static bool is_wanted(const struct options *options, struct iot_names *names,
		      const struct iot_record *record, const struct iot_kind_info *info)
{
	if (!is_kind_wanted(options, info))
		return false;
	if (options->is_failed_only && (!dump_has_result(info) || record->op.result >= 0))
		return false;
	return selection_match(&options->selection, &options->view.actors, names, record);
}

static void print(const struct options *options, struct iot_names *names, const struct iot_record *record,
		  const struct iot_kind_info *info)
{
	if (options->is_json)
		dump_json(&options->view, names, record, info);
	else if (options->view.column_count)
		dump_columns(&options->view, names, record, info);
	else
		dump_text(&options->view, names, record, info);
}

/*
 * Information about missing records for their reader. A trace of a version without omissions
 * has no statement about its records, so they are printed without a remark.
 */
static void print_omissions(const struct options *options, const struct iot_reader *reader,
			    struct iot_omissions *omissions)
{
	struct iot_trace_info info;
	struct json json;

	iot_reader_info(reader, &info);
	iot_omissions_finish(omissions, &info);
	omissions->of[IOT_OMISSION_unstated].count = 0;
	if (!options->is_json) {
		omissions_list(stdout, "# ", omissions);
		return;
	}
	if (iot_omissions_is_none(omissions))
		return;
	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "kind", "omissions");
	omissions_json(&json, omissions);
	json_end(&json, '}');
	json_line(&json);
}

/* The directories that recorded ones are in are not records of the trace: they have their part in paths. */
static int dump_records(struct options *options, struct iot_reader *reader,
			struct iot_names *names, const struct iot_roots *roots)
{
	struct iot_omissions omissions = {};
	const struct iot_record *above;
	struct iot_record record, named;
	struct iot_reject reject;
	u64 printed = 0;
	u32 i, count;
	int err;

	above = iot_roots_records(roots, &count);
	for (i = 0; i < count; i++)
		if (iot_names_before(names, &above[i]))
			return fail("%s: %s", options->name, strerror(ENOMEM));
	while ((err = iot_reader_next(reader, &record, &reject)) > 0) {
		const struct iot_kind_info *info = iot_kind_info(record.kind);

		iot_omissions_take(&omissions, &record);
		if (selection_take(&options->selection, &record) ||
		    (options->view.symbols && symbols_take(options->view.symbols, &record)))
			return fail("%s: %s", options->name, strerror(ENOMEM));
		named = record;
		iot_roots_apply(roots, &named);
		if (iot_names_before(names, &named))
			return fail("%s: %s", options->name, strerror(ENOMEM));
		if (is_wanted(options, names, &record, info)) {
			print(options, names, &record, info);
			if (++printed == options->max)
				return EXIT_DONE;
		}
		if (iot_names_after(names, &record))
			return fail("%s: %s", options->name, strerror(ENOMEM));
		if (ferror(stdout))
			return EXIT_FAILED; /* main prints the reason */
	}
	if (err < 0)
		return fail_reject(options->name, err, &reject);
	if (!printed && is_restricted(options))
		say("%s: no record matches", options->name);
	print_omissions(options, reader, &omissions);
	return EXIT_DONE;
}

/* Of a damaged trace, the records in front of the damage are printed. Return: 0 or -ENOMEM. */
static int read_symbols(struct options *options)
{
	struct iot_reject reject = {};

	if (symbols_open(options->path, &options->view.symbols, &reject) == -ENOMEM)
		return -ENOMEM;
	if (symbols_has_stacks(options->view.symbols))
		return 0;
	symbols_close(options->view.symbols);
	options->view.symbols = NULL;
	return 0;
}

static int dump(struct options *options)
{
	struct iot_trace_info info;
	struct iot_reader *reader;
	struct iot_reject reject = {};
	struct iot_names *names;
	struct iot_roots *roots;
	int err, code;

	err = iot_roots_open(options->path, &roots, &reject);
	if (err)
		return fail_reject(options->name, err, &reject);
	err = iot_reader_open(options->path, &reader, &reject);
	if (err) {
		iot_roots_close(roots);
		return fail_reject(options->name, err, &reject);
	}
	if (iot_names_open(&names)) {
		iot_reader_close(reader);
		iot_roots_close(roots);
		return fail("%s: %s", options->name, strerror(ENOMEM));
	}
	iot_reader_info(reader, &info);
	options->view.origin_ns = info.mono_ns;
	options->view.real_ns = info.real_ns;
	options->view.actors.origin_ns = info.mono_ns;
	terminal_output_begin();
	err = read_symbols(options);
	if (options->is_json)
		dump_json_head(&options->view, info.capture);
	skip(options, reader);
	code = err || selection_open(&options->selection) ? fail("%s: %s", options->name, strerror(ENOMEM)) :
						     dump_records(options, reader, names, roots);
	selection_close(&options->selection);
	iot_names_close(names);
	iot_reader_close(reader);
	iot_roots_close(roots);
	return code;
}

static int run(int argc, char **argv)
{
	struct options options = { .view.json_format = 1 };
	struct iot_reject reject = {};
	char copy[INPUT_PATH_BYTES];
	int err = 0, code;

	options_parse(&option_table, argc, argv, &options);
	options.name = strcmp(options.path, "-") ? options.path : "standard input";
	code = input_open(&options.path, copy);
	if (code)
		return code;
	if (options.has_partners)
		return print_partners(options.path, options.is_json);
	if (selection_needs_actors(&options.selection) || dump_columns_need_actors(&options.view))
		err = actors_read(options.path, &options.view.actors, &reject);
	code = err ? fail_reject(options.name, err, &reject) : dump(&options);
	actors_free(&options.view.actors);
	symbols_close(options.view.symbols);
	filter_free((struct filter *)options.selection.filter);
	return code;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.summary = "print the records of a trace",
	.run = run,
	.options = &option_table,
};
