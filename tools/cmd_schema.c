// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_schema.c - iotape schema: the record tables, for people and for programs.
 *
 * Documentation/records.md is its output as Markdown.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "option.h"
#include "terminal.h"

enum form {
	FORM_MARKDOWN,
	FORM_JSON,
	FORM_TEXT,
};

static void set_form(struct option_state *state, char *argument)
{
	enum form *form = state->options;

	(void)argument;
	*form = state->row->letter == 'j' ? FORM_JSON : state->row->letter == 't' ? FORM_TEXT : FORM_MARKDOWN;
}

static const struct option_row option_rows[] = {
	{ "markdown", 'm', .set = set_form, .help = "print Markdown, as in Documentation/records.md (default)" },
	{ "json", 'j', .set = set_form, .help = "print JSON, one object" },
	{ "text", 't', .set = set_form, .help = "print the text that is embedded in traces" },
	{},
};

static const struct option_table option_table = {
	.rows = option_rows,
	.is_paged = true,
	.about = "Print the record kinds that a trace may contain, and their fields.",
};

#define COUNT_FIELD(type, field, class, sentence) +1
enum { OP_FIELDS = 0 IOT_FIELDS_op(COUNT_FIELD) };
#undef COUNT_FIELD

/* Does a kind begin with the fields that all operations have? */
static bool is_operation(const struct iot_kind_info *info)
{
	return info->field_count >= OP_FIELDS &&
	       info->fields[0].class == IOT_CLASS_instant &&
	       info->fields[OP_FIELDS - 1].class == IOT_CLASS_result;
}

/* -- Markdown ---------------------------------------------------------------------------- */

static const char *const group_sentences[] = {
	[IOT_GROUP_run] = "Facts about the run and the machine.",
	[IOT_GROUP_who] = "The meaning of ids in other records.",
	[IOT_GROUP_life] = "Creation and end of tasks.",
	[IOT_GROUP_op] = "Operations of programs on the file system.",
	[IOT_GROUP_mpi] = "Operations on messages.",
	[IOT_GROUP_replay] = "Information that only a replay has.",
};

/* A sentence of the tables, with characters that are special in Markdown escaped. */
static void md_text(const char *sentence)
{
	for (; *sentence; sentence++) {
		if (strchr("*|<\\", *sentence))
			putchar('\\');
		putchar(*sentence);
	}
}

static void md_fields(const struct iot_kind_info *info, u32 first, u32 count)
{
	u32 i;

	puts("| field | type | class | meaning |\n|---|---|---|---|");
	for (i = first; i < count; i++) {
		const struct iot_field *field = &info->fields[i];

		printf("| `%s` | %s | %s | ", field->name, iot_wire_type_name(field->type),
		       iot_class_info(field->class).name);
		md_text(field->sentence);
		puts(" |");
	}
}

static void md_kind(const struct iot_kind_info *info)
{
	const char *tail = iot_kind_tail(info->kind);
	u32 first = is_operation(info) ? OP_FIELDS : 0;

	printf("\n### %s (%u)\n\n%c", info->name, info->kind, toupper(info->sentence[0]));
	md_text(info->sentence + 1);
	printf(". %u bytes%s%s.\n\n", info->wire_bytes, tail ? " and a tail: " : "", tail ? tail : "");
	if (first)
		printf("The fields of every operation%s", first < info->field_count ? ", and\n\n" : ".\n");
	if (first < info->field_count)
		md_fields(info, first, info->field_count);
}

static void md_group(enum iot_group group)
{
	const struct iot_kind_info *info;
	size_t i;

	printf("\n## Group %s\n\n%s\n", iot_group_name(group), group_sentences[group]);
	for (i = 0; (info = iot_kind_at(i)); i++)
		if (info->group == group)
			md_kind(info);
}

static void md_classes(void)
{
	enum iot_class class;

	puts("\n## Classes\n\n"
	     "The meaning of a field, independent of its type. Two runs of the same program must agree on\n"
	     "fields of the classes that are compared.\n\n"
	     "| class | compared | meaning |\n|---|---|---|");
	for (class = 0; class < IOT_CLASS_END; class++) {
		struct iot_class_info info = iot_class_info(class);

		printf("| %s | %s | ", info.name, info.is_compared ? "yes" : "no");
		if (info.symbols)
			printf("%s, [see below](#%s)", info.is_bits ? "bits" : "a value", info.name);
		else
			md_text(info.sentence);
		puts(" |");
	}
}

static void md_symbols(const struct iot_class_info *class)
{
	const struct iot_symbol *symbol = class->symbols;

	printf("\n### %s\n\n| %s | name | meaning |\n|---|---|---|\n", class->name,
	       class->is_bits ? "bit" : "value");
	for (; symbol->name; symbol++) {
		printf("| %d | %s | ", class->is_bits ? __builtin_ctzll(symbol->value) :
							(int)symbol->value, symbol->name);
		md_text(symbol->sentence);
		puts(" |");
	}
}

/* The number of a sentence is N. */
static void md_omissions(void)
{
	u32 i;

	puts("\n## Omissions\n\n"
	     "Reasons of omissions in a trace, a program or the outcomes of a replay, as stated by facts\n"
	     "`omission.`*name*; from ioctl-api/include/iotape/omission.h.\n\n"
	     "| name | id | |\n|---|---|---|");
	for (i = 1; i < IOT_OMISSION_END; i++) {
		const char *sentence = iot_omission_sentence(i), *number = strstr(sentence, "%llu");
		int before = number ? (int)(number - sentence) : (int)strlen(sentence);

		printf("| `%s` | %u | %.*s%s%s |\n", iot_omission_name(i), i, before, sentence,
		       number ? "N" : "", number ? number + strlen("%llu") : "");
	}
}

static void print_markdown(void)
{
	enum iot_group group;
	enum iot_class class;

	puts("# Records\n\n"
	     "Every record kind with its fields, in the order in which they are stored. Generated by\n"
	     "`make docs` from ioctl-api/include/iotape/schema.h, which describes the wire form of a\n"
	     "record.\n\n"
	     "## Fields of every operation\n");
	md_fields(iot_kind_info(IOT_KIND_statfs), 0, OP_FIELDS);
	for (group = IOT_GROUP_run; group <= IOT_GROUP_replay; group++)
		md_group(group);
	md_classes();
	puts("\n## Values and bits");
	for (class = 0; class < IOT_CLASS_END; class++) {
		struct iot_class_info info = iot_class_info(class);

		if (info.symbols)
			md_symbols(&info);
	}
	md_omissions();
}

/* -- JSON ----------------------------------------------------------------------------------- */

static void json_pair(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

static void json_number(struct json *json, const char *key, u64 value)
{
	json_key(json, key);
	json_unsigned(json, value);
}

static void json_kind(struct json *json, const struct iot_kind_info *info)
{
	u32 i;

	json_begin(json, '{');
	json_pair(json, "name", info->name);
	json_number(json, "kind", info->kind);
	json_pair(json, "group", iot_group_name(info->group));
	json_number(json, "wire_bytes", info->wire_bytes);
	json_pair(json, "sentence", info->sentence);
	if (iot_kind_tail(info->kind))
		json_pair(json, "tail", iot_kind_tail(info->kind));
	json_key(json, "fields");
	json_begin(json, '[');
	for (i = 0; i < info->field_count; i++) {
		const struct iot_field *field = &info->fields[i];

		json_begin(json, '{');
		json_pair(json, "name", field->name);
		json_pair(json, "type", iot_wire_type_name(field->type));
		json_pair(json, "class", iot_class_info(field->class).name);
		json_pair(json, "sentence", field->sentence);
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

static void json_class(struct json *json, const struct iot_class_info *class)
{
	const struct iot_symbol *symbol = class->symbols;

	json_begin(json, '{');
	json_pair(json, "name", class->name);
	json_key(json, "is_compared");
	json_bool(json, class->is_compared);
	json_pair(json, "sentence", class->sentence);
	if (symbol) {
		json_key(json, class->is_bits ? "bits" : "values");
		json_begin(json, '[');
	}
	for (; symbol && symbol->name; symbol++) {
		json_begin(json, '{');
		json_pair(json, "name", symbol->name);
		json_number(json, "value", symbol->value);
		json_pair(json, "sentence", symbol->sentence);
		json_end(json, '}');
	}
	if (class->symbols)
		json_end(json, ']');
	json_end(json, '}');
}

static void print_json(void)
{
	const struct iot_kind_info *info;
	enum iot_class class;
	struct json json;
	size_t i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_key(&json, "kinds");
	json_begin(&json, '[');
	for (i = 0; (info = iot_kind_at(i)); i++)
		json_kind(&json, info);
	json_end(&json, ']');
	json_key(&json, "classes");
	json_begin(&json, '[');
	for (class = 0; class < IOT_CLASS_END; class++) {
		struct iot_class_info class_info = iot_class_info(class);

		json_class(&json, &class_info);
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_line(&json);
}

static int print_text(void)
{
	char *text;
	size_t bytes;
	int err = iot_schema_print(&text, &bytes);

	if (err)
		return fail("%s", strerror(-err));
	fwrite(text, 1, bytes, stdout);
	free(text);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	enum form form = FORM_MARKDOWN;

	options_parse(&option_table, argc, argv, &form);
	terminal_output_begin();
	if (form == FORM_TEXT)
		return print_text();
	if (form == FORM_JSON)
		print_json();
	else
		print_markdown();
	return EXIT_DONE;
}

const struct cmd cmd_schema = {
	.name = "schema",
	.summary = "list record kinds and their fields",
	.run = run,
	.options = &option_table,
};
