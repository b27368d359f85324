// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_dump.c - iotape dump: a trace as text, one line per record.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "omissions.h"
#include "option.h"
#include "partners.h"

#define KINDS_MAX 64

struct options {
	const char *path;
	const char *pattern;
	const struct iot_kind_info *kinds[KINDS_MAX];
	int kind_count;
	bool is_group[IOT_GROUP_replay + 1];
	bool has_group;
	u64 task;
	bool is_failed_only;
	bool has_partners;
	bool is_json;
	u64 origin_ns; /* times are printed since then */
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
			option_error(state, "--kind=%s: no such kind or group of records", name);
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
	return options->kind_count || options->has_group || options->task || options->pattern ||
	       options->is_failed_only;
}

static void check(struct option_state *state)
{
	const struct options *options = state->options;

	if (options->has_partners && is_restricted(options))
		option_error(state, "--partners can be combined with --json only");
}

static const struct option_row option_rows[] = {
	{ "kind", 'k', OPTION_TEXT, "KIND[,...]", .word_at = kind_at, .set = set_kinds,
	  .help = "print only records of these kinds or groups: run who life op mpi replay (default: op life mpi replay)" },
	{ "all", 'a', .set = set_all, .help = "print records of all kinds" },
	{ "task", 't', OPTION_COUNT, "ID", .min = 1, .max = UINT32_MAX, .field = FIELD(task),
	  .help = "print only records of this task" },
	{ "path", 'p', OPTION_TEXT, "PATTERN", .field = FIELD(pattern),
	  .help = "print only operations on paths that match the shell pattern" },
	{ "failed", 'f', .field = FIELD(is_failed_only), .help = "print only failed operations" },
	{ "partners", .field = FIELD(has_partners),
	  .help = "print the matched MPI calls of each rank instead of records" },
	{ "json", 'j', .field = FIELD(is_json), .help = "print JSON, one object a line" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.operands = "TRACE",
	.operand_type = OPTION_FILE,
	.operand_noun = "trace",
	.operand = FIELD(path),
	.check = check,
	.about = "Print the records of a trace, one per line, in the order in which they ended.",
	.notes = "Columns: time since the start in seconds, task, number of the operation, kind, "
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

/* Does a record begin with the fields of an operation? A wait for the collector does not. */
static bool has_result(const struct iot_kind_info *info)
{
	return iot_kind_is_span(info) && info->group != IOT_GROUP_life;
}

static bool is_wanted(const struct options *options, struct iot_names *names,
		      const struct iot_record *record, const struct iot_kind_info *info)
{
	if (!is_kind_wanted(options, info))
		return false;
	if (options->task && iot_record_task(record) != options->task)
		return false;
	if (options->is_failed_only && (!has_result(info) || record->op.result >= 0))
		return false;
	if (options->pattern &&
	    (info->group != IOT_GROUP_op ||
	     fnmatch(options->pattern, iot_names_of_record(names, record).path, 0)))
		return false;
	return true;
}

/* What the line begins with already, or stands in the path. */
static bool is_shown_elsewhere(const struct iot_kind_info *info, const struct iot_field *field)
{
	if (field == &info->fields[0] || !strcmp(field->name, "task"))
		return true;
	return has_result(info) && !strcmp(field->name, "op");
}

static void print_field_text(struct iot_names *names, const struct iot_record *record,
			     const struct iot_field *field)
{
	char text[1024], escaped[4 * IOT_PROGRAM_PATH_MAX + 1];
	const char *path;

	if (field->class == IOT_CLASS_name) {
		path = iot_names_path(names, iot_field_get(record, field));
		iot_text_bytes(escaped, sizeof(escaped), path, strlen(path));
		printf(" %s=%s", field->name, escaped);
		return;
	}
	iot_text_field(text, sizeof(text), record, field);
	printf(" %s=%s", field->name, text);
}

static void print_head_text(const struct options *options, struct iot_names *names,
			    const struct iot_record *record, const struct iot_kind_info *info)
{
	s64 since_ns = (s64)(iot_field_get(record, &info->fields[0]) - options->origin_ns);
	struct iot_label label = iot_names_of_record(names, record);
	char escaped[4 * IOT_PROGRAM_PATH_MAX + 1];

	printf("%.6f %u", (double)since_ns / 1e9, iot_record_task(record));
	if (has_result(info))
		printf(" %u", record->op.op);
	else
		printf(" -");
	printf(" %s", info->name);
	if (info->group != IOT_GROUP_op)
		return;
	iot_text_bytes(escaped, sizeof(escaped), label.path, strlen(label.path));
	printf(" %s", label.path[0] ? escaped : "?");
	if (label.generation > 1)
		printf("#%u", label.generation);
}

static void print_text(const struct options *options, struct iot_names *names,
		       const struct iot_record *record, const struct iot_kind_info *info)
{
	char escaped[4 * IOT_TAIL_MAX_BYTES + 4];
	u32 i;

	print_head_text(options, names, record, info);
	for (i = 0; i < info->field_count; i++)
		if (!is_shown_elsewhere(info, &info->fields[i]))
			print_field_text(names, record, &info->fields[i]);
	if (record->tail_bytes) {
		iot_text_tail(escaped, sizeof(escaped), record);
		printf(" %s", escaped);
	}
	putchar('\n');
}

/* An object says by "kind" of which kind its record is: a field of that name has another key. */
static const char *key_of(const struct iot_field *field)
{
	return strcmp(field->name, "kind") ? field->name : "op_kind";
}

static void print_field_json(struct json *json, struct iot_names *names,
			     const struct iot_record *record, const struct iot_field *field)
{
	bool is_signed = field->type == IOT_WIRE_TYPE_s32 || field->type == IOT_WIRE_TYPE_s64;
	u64 value = iot_field_get(record, field);
	char text[1024];

	json_key(json, key_of(field));
	if (iot_class_info(field->class).symbols) {
		iot_text_field(text, sizeof(text), record, field);
		json_string(json, text);
	} else if (field->class == IOT_CLASS_name) {
		json_string(json, iot_names_path(names, value));
	} else if (is_signed) {
		json_integer(json, (s64)value);
	} else {
		json_unsigned(json, value);
	}
}

static void print_tail_json(struct json *json, const struct iot_record *record)
{
	char text[4 * IOT_TAIL_MAX_BYTES + 4];
	size_t bytes;
	const u8 *value = iot_record_value(record, &bytes);

	if (!record->tail_bytes)
		return;
	json_key(json, "tail");
	if (value || iot_record_has_list(record)) {
		iot_text_tail(text, sizeof(text), record);
		json_string(json, text);
	} else {
		json_text(json, record->tail, record->tail_bytes);
	}
}

static void print_json(struct iot_names *names, const struct iot_record *record,
		       const struct iot_kind_info *info)
{
	struct iot_label label = iot_names_of_record(names, record);
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "kind", info->name);
	if (info->group == IOT_GROUP_op) {
		json_put_string(&json, "path", label.path);
		json_put_unsigned(&json, "path_generation", label.generation);
	}
	for (i = 0; i < info->field_count; i++)
		print_field_json(&json, names, record, &info->fields[i]);
	print_tail_json(&json, record);
	json_end(&json, '}');
	json_line(&json);
}

/*
 * What a reader of the records must know of those that are not there. That a trace does not state
 * what it lacks is no news of its records, which are printed as they always were.
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
static int dump_records(const struct options *options, struct iot_reader *reader,
			struct iot_names *names, const struct iot_roots *roots)
{
	struct iot_omissions omissions = {};
	const struct iot_record *above;
	struct iot_record record, named;
	struct iot_reject reject;
	u32 i, count;
	int err;

	above = iot_roots_records(roots, &count);
	for (i = 0; i < count; i++)
		if (iot_names_before(names, &above[i]))
			return fail("%s: %s", options->path, strerror(ENOMEM));
	while ((err = iot_reader_next(reader, &record, &reject)) > 0) {
		const struct iot_kind_info *info = iot_kind_info(record.kind);

		iot_omissions_take(&omissions, &record);
		named = record;
		iot_roots_apply(roots, &named);
		if (iot_names_before(names, &named))
			return fail("%s: %s", options->path, strerror(ENOMEM));
		if (is_wanted(options, names, &record, info)) {
			if (options->is_json)
				print_json(names, &record, info);
			else
				print_text(options, names, &record, info);
		}
		if (iot_names_after(names, &record))
			return fail("%s: %s", options->path, strerror(ENOMEM));
		if (ferror(stdout))
			return EXIT_FAILED; /* main says why */
	}
	if (err < 0)
		return fail_reject(options->path, err, &reject);
	print_omissions(options, reader, &omissions);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options options = {};
	struct iot_trace_info info;
	struct iot_reader *reader;
	struct iot_reject reject = {};
	struct iot_names *names;
	struct iot_roots *roots;
	int err, code;

	options_parse(&option_table, argc, argv, &options);
	if (options.has_partners)
		return print_partners(options.path, options.is_json);
	err = iot_roots_open(options.path, &roots, &reject);
	if (err)
		return fail_reject(options.path, err, &reject);
	err = iot_reader_open(options.path, &reader, &reject);
	if (err) {
		iot_roots_close(roots);
		return fail_reject(options.path, err, &reject);
	}
	if (iot_names_open(&names)) {
		iot_reader_close(reader);
		iot_roots_close(roots);
		return fail("%s: %s", options.path, strerror(ENOMEM));
	}
	iot_reader_info(reader, &info);
	options.origin_ns = info.mono_ns;
	code = dump_records(&options, reader, names, roots);
	iot_names_close(names);
	iot_reader_close(reader);
	iot_roots_close(roots);
	return code;
}

const struct cmd cmd_dump = {
	.name = "dump",
	.summary = "print the records of a trace",
	.run = run,
	.options = &option_table,
};
