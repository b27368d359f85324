// SPDX-License-Identifier: GPL-2.0-only
/*
 * option.c - parse a command line by the table of the command.
 *
 * The syntax and the messages are those of getopt_long(3): options may follow operands, long names may be
 * abbreviated, and -- ends the options.
 */
#include "option.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "suggest.h"
#include "terminal.h"

/**
 * option_error() - wrong usage: print a sentence and where the options are listed, and exit
 */
void option_error(const struct option_state *state, const char *format, ...)
{
	va_list arguments;

	(void)state;
	fprintf(stderr, "%s: ", program_invocation_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nTry `%s --help' for more information.\n", program_invocation_name);
	exit(EXIT_USAGE);
}

/**
 * option_failure() - an argument is right in form, but cannot be used: print a sentence and exit
 * @err: positive errno, of which the text is appended; 0 for none
 */
void option_failure(const struct option_state *state, int err, const char *format, ...)
{
	va_list arguments;

	(void)state;
	fprintf(stderr, "%s: ", program_invocation_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s%s\n", err ? ": " : "", err ? strerror(err) : "");
	exit(EXIT_FAILED);
}

/**
 * option_real_path() - the absolute path of an existing file
 * @path: argument of an option
 *
 * Return: the path, which lives as long as the process; if there is none, a sentence is printed and the process exits.
 */
char *option_real_path(const struct option_state *state, const char *path)
{
	char *real_path = realpath(path, NULL);

	if (!real_path)
		option_failure(state, errno, "%s", path);
	return real_path;
}

/**
 * option_word_at() - a word that the argument of an option may be
 *
 * Return: the word; NULL after the last.
 */
const char *option_word_at(const struct option_row *row, size_t index)
{
	if (row->word_at)
		return row->word_at(index);
	return row->words ? row->words[index] : NULL;
}

/**
 * option_hint() - the word that was probably meant as the argument of an option
 * @row: the option
 * @word: as typed, none of its words
 *
 * Return: the end of a message, "; did you mean X?", valid until the next call; "" if no word is similar.
 */
const char *option_hint(const struct option_row *row, const char *word)
{
	static char text[128];
	struct suggestion suggestion;
	const char *candidate;
	size_t i;

	suggest_open(&suggestion, word);
	for (i = 0; (candidate = option_word_at(row, i)); i++)
		suggest_candidate(&suggestion, candidate);
	if (!suggestion.nearest)
		return "";
	snprintf(text, sizeof(text), "; did you mean %s?", suggestion.nearest);
	return text;
}

static void field_store(const struct option_state *state, struct option_field field, uint64_t value)
{
	void *at = (char *)state->options + field.offset;

	switch (field.bytes) {
	case sizeof(uint8_t):
		*(bool *)at = value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)at = (uint32_t)value;
		break;
	case sizeof(uint64_t):
		*(uint64_t *)at = value;
		break;
	}
}

static void field_store_text(const struct option_state *state, struct option_field field, const char *text)
{
	if (field.bytes)
		*(const char **)((char *)state->options + field.offset) = text;
}

static void row_set(struct option_state *state, const struct option_row *row, char *argument)
{
	size_t choice;

	state->row = row;
	field_store(state, row->given, true);
	if (row->set) {
		row->set(state, argument);
		return;
	}
	if (row->type != OPTION_FLAG && !argument) {
		field_store(state, row->field, row->absent);
		return;
	}
	switch (row->type) {
	case OPTION_FLAG:
		field_store(state, row->field, true);
		break;
	case OPTION_CHOICE:
		choice = option_choice(state, argument);
		field_store(state, row->field, row->values ? (uint64_t)row->values[choice] : choice);
		break;
	case OPTION_WORD:
		field_store_text(state, row->field, option_word_at(row, option_choice(state, argument)));
		break;
	case OPTION_COUNT:
		field_store(state, row->field, option_number(state, argument, row->min, row->max));
		break;
	case OPTION_SIZE:
	case OPTION_DURATION:
		field_store(state, row->field, option_quantity(state, argument));
		break;
	default:
		field_store_text(state, row->field, argument);
	}
}

/* -- long options ------------------------------------------------------------------------------- */

static void set_no_pager(struct option_state *state, char *argument)
{
	(void)state;
	(void)argument;
	terminal_without_pager();
}

static const struct option_row no_pager_row = { "no-pager", .set = set_no_pager,
						.help = "print long output on a terminal directly" };
static const struct option_row help_row = { "help", 'h', .help = "print this help" };

/**
 * option_row_at() - an option of a command, those that its table does not list included
 *
 * Return: the option; NULL after the last.
 */
const struct option_row *option_row_at(const struct option_table *table, size_t index)
{
	const struct option_row *row = table->rows;

	while (row->name && index) {
		row++;
		index--;
	}
	if (row->name)
		return row;
	if (!table->is_paged)
		index++;
	return !index ? &no_pager_row : index == 1 ? &help_row : NULL;
}

static const char *nearest_name(const struct option_table *table, const char *name, size_t length)
{
	struct suggestion suggestion;
	const struct option_row *row;
	char word[64];
	size_t i;

	snprintf(word, sizeof(word), "%.*s", (int)length, name);
	suggest_open(&suggestion, word);
	for (i = 0; (row = option_row_at(table, i)); i++)
		suggest_candidate(&suggestion, row->name);
	return suggestion.nearest;
}

static void fail_ambiguous(const struct option_state *state, const char *name, size_t length)
{
	const struct option_row *row;
	char list[512] = "";
	size_t at = 0;

	for (row = state->table->rows; row->name; row++)
		if (!strncmp(row->name, name, length) && at < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at, " '--%s'", row->name);
	option_error(state, "option '--%.*s' is ambiguous; possibilities:%s", (int)length, name, list);
}

static const struct option_row *row_by_name(const struct option_state *state, const char *name, size_t length)
{
	const struct option_row *row, *found = NULL;
	const char *nearest;
	unsigned int count = 0;

	for (row = state->table->rows; row->name; row++) {
		if (strncmp(row->name, name, length))
			continue;
		if (!row->name[length])
			return row;
		found = row;
		count++;
	}
	if (count > 1)
		fail_ambiguous(state, name, length);
	if (found)
		return found;
	if (length && !strncmp(help_row.name, name, length))
		return &help_row;
	if (length && state->table->is_paged && !strncmp(no_pager_row.name, name, length))
		return &no_pager_row;
	nearest = nearest_name(state->table, name, length);
	if (nearest)
		option_error(state, "unrecognized option '--%.*s'; did you mean --%s?", (int)length, name, nearest);
	option_error(state, "unrecognized option '--%.*s'", (int)length, name);
}

static void print_help(const struct option_state *state)
{
	options_help(state->table, program_invocation_name);
	if (fflush(stdout))
		option_failure(state, errno, "standard output");
	exit(EXIT_DONE);
}

static void parse_long(struct option_state *state, char *text)
{
	size_t length = strcspn(text, "=");
	const struct option_row *row = row_by_name(state, text, length);
	char *argument = text[length] ? text + length + 1 : NULL;

	if (row->type == OPTION_FLAG && argument)
		option_error(state, "option '--%s' doesn't allow an argument", row->name);
	if (row == &help_row)
		print_help(state);
	if (row->type != OPTION_FLAG && !argument && !row->is_optional) {
		if (state->next == state->argc)
			option_error(state, "option '--%s' requires an argument", row->name);
		argument = state->argv[state->next++];
	}
	row_set(state, row, argument);
}

/* -- short options ------------------------------------------------------------------------------- */

static void parse_letters(struct option_state *state, char *letters)
{
	const struct option_row *row;

	for (; *letters; letters++) {
		for (row = state->table->rows; row->name && row->letter != *letters;)
			row++;
		if (!row->name && (*letters == 'h' || *letters == '?'))
			print_help(state);
		if (!row->name)
			option_error(state, "invalid option -- '%c'", *letters);
		if (row->type == OPTION_FLAG) {
			row_set(state, row, NULL);
			continue;
		}
		if (letters[1])
			row_set(state, row, letters + 1);
		else if (row->is_optional)
			row_set(state, row, NULL);
		else if (state->next == state->argc)
			option_error(state, "option requires an argument -- '%c'", *letters);
		else
			row_set(state, row, state->argv[state->next++]);
		return;
	}
}

static void parse_operand(struct option_state *state, char *operand)
{
	const struct option_table *table = state->table;

	if (table->add)
		table->add(state, operand);
	else if (!table->operand_noun)
		option_error(state, "%s: takes no arguments", operand);
	else if (state->operands)
		option_error(state, "%s: one %s at a time", operand, table->operand_noun);
	else
		field_store_text(state, table->operand, operand);
	state->operands++;
}

/**
 * options_parse() - parse a command line
 * @table: of the command
 * @argc, @argv: the command line; argv[0] is not read
 * @options: the command's struct, with the defaults; filled in
 *
 * Does not return after --help and wrong usage.
 */
void options_parse(const struct option_table *table, int argc, char **argv, void *options)
{
	struct option_state state = { .table = table, .options = options, .argc = argc, .argv = argv, .next = 1 };
	bool has_ended = false;

	while (state.next < argc) {
		char *argument = argv[state.next++];

		if (has_ended || argument[0] != '-' || !argument[1])
			parse_operand(&state, argument);
		else if (!strcmp(argument, "--"))
			has_ended = true;
		else if (argument[1] == '-')
			parse_long(&state, argument + 2);
		else
			parse_letters(&state, argument + 1);
	}
	state.row = NULL;
	if (table->operand_noun && !state.operands)
		option_error(&state, "no %s given", table->operand_noun);
	if (table->check)
		table->check(&state);
}
