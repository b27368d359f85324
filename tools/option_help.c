// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_help.c - the help of a command, from its table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "option.h"

#define HELP_COLUMN 29
#define WIDTH_MIN   40
#define WIDTH	    79

static int width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = {};
	int result = columns ? atoi(columns) : 0;

	if (!result && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		result = size.ws_col - 1;
	if (!result)
		return WIDTH;
	return result < WIDTH_MIN ? WIDTH_MIN : result;
}

/* Words of @text; each line begins in column @indent. */
static void print_wrapped(const char *text, int indent, int columns)
{
	int at = indent;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (at > indent && at + 1 + length > columns) {
			printf("\n%*s", indent, "");
			at = indent;
		} else if (at > indent) {
			putchar(' ');
			at++;
		}
		printf("%.*s", length, text);
		at += length;
		text += length;
		text += *text == ' ';
	}
	putchar('\n');
}

/**
 * option_argument() - the name of an option's argument in the help
 * @row: the option
 * @text: room for it
 */
const char *option_argument(const struct option_row *row, char text[128])
{
	const char *word;
	size_t at = 0, i;

	if (row->argument)
		return row->argument;
	text[0] = 0;
	for (i = 0; (word = option_word_at(row, i)) && at < 128; i++)
		at += (size_t)snprintf(text + at, 128 - at, "%s%s", i ? "|" : "", word);
	return text;
}

static void print_row(const struct option_row *row, int columns)
{
	char left[256], argument[128];
	int length;

	if (row->letter)
		length = snprintf(left, sizeof(left), "  -%c, --%s", row->letter, row->name);
	else
		length = snprintf(left, sizeof(left), "      --%s", row->name);
	if (row->type != OPTION_FLAG)
		length += snprintf(left + length, sizeof(left) - (size_t)length, row->is_optional ? "[=%s]" : "=%s",
				   option_argument(row, argument));
	if (length + 2 > HELP_COLUMN) {
		printf("%s\n%*s", left, HELP_COLUMN, "");
	} else {
		printf("%-*s", HELP_COLUMN, left);
	}
	print_wrapped(row->help, HELP_COLUMN, columns);
}

static void print_usage(const struct option_table *table, const char *command)
{
	const char *form = table->operands ?: "", *before = "Usage:";
	size_t length;

	do {
		length = strcspn(form, "\n");
		printf("%s %s [OPTION...]%s%.*s\n", before, command, length ? " " : "", (int)length, form);
		before = "  or: ";
		form += length + (form[length] == '\n');
	} while (*form);
}

/**
 * options_help() - print the help of a command
 * @table: of it
 * @command: as typed: "iotape stat"
 */
void options_help(const struct option_table *table, const char *command)
{
	const struct option_row *row;
	int columns = width();
	size_t i;

	print_usage(table, command);
	print_wrapped(table->about, 0, columns);
	putchar('\n');
	for (i = 0; (row = option_row_at(table, i)); i++)
		print_row(row, columns);
	if (table->notes) {
		putchar('\n');
		print_wrapped(table->notes, 0, columns);
	}
}
