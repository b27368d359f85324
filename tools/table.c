// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - print rows with their columns aligned: the first to the left, all others to
 * the right.
 */
#include "table.h"
#include "terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define FIRST_COLUMN_MIN 16 /* on a terminal */

/**
 * table_open() - an empty table
 * @table: filled in; to be freed by table_close()
 * @columns: at most TABLE_COLUMNS_MAX
 */
void table_open(struct table *table, int columns)
{
	*table = (struct table){ .columns = columns };
}

static void add(struct table *table, char *cell)
{
	if (cell && table->count == table->room) {
		size_t room = table->room ? 2 * table->room : 64;
		char **cells = reallocarray(table->cells, room, sizeof(*cells));

		if (!cells) {
			free(cell);
			cell = NULL;
		} else {
			table->cells = cells;
			table->room = room;
		}
	}
	if (cell)
		table->cells[table->count++] = cell;
	else
		table->is_short_of_memory = true;
}

/**
 * table_cell() - add the next cell
 */
void table_cell(struct table *table, const char *format, ...)
{
	va_list arguments;
	char *cell;

	va_start(arguments, format);
	if (vasprintf(&cell, format, arguments) < 0)
		cell = NULL;
	va_end(arguments);
	add(table, cell);
}

/**
 * table_time() - add a length of time as a cell
 */
void table_time(struct table *table, uint64_t ns)
{
	char text[32];

	table_cell(table, "%s", quantity_time(text, ns));
}

/**
 * table_bytes() - add a number of bytes as a cell
 */
void table_bytes(struct table *table, uint64_t bytes)
{
	char text[32];

	table_cell(table, "%s", quantity_bytes(text, bytes));
}

/* Columns on the screen of the first @bytes of a text; of bytes that are not characters, their number. */
static int width_of(const char *text, size_t bytes)
{
	mbstate_t state = {};
	wchar_t c;
	int width = 0;

	while (bytes) {
		size_t length = mbrtowc(&c, text, bytes, &state);
		bool is_character = length && length <= bytes;

		width += is_character && wcwidth(c) >= 0 ? wcwidth(c) : 1;
		if (!is_character) {
			length = 1;
			state = (mbstate_t){};
		}
		text += length;
		bytes -= length;
	}
	return width;
}

static void measure(const struct table *table, int *widths)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		int width = width_of(table->cells[i], strlen(table->cells[i])), column = (int)(i % (size_t)table->columns);

		if (width > widths[column])
			widths[column] = width;
	}
}

/* The first column is shortened if the others need room. */
static void fit(const struct table *table, int *widths, int columns)
{
	int total = 2 * (table->columns - 1), i;

	for (i = 0; i < table->columns; i++)
		total += widths[i];
	if (!columns || total <= columns || widths[0] <= FIRST_COLUMN_MIN)
		return;
	widths[0] -= total - columns;
	if (widths[0] < FIRST_COLUMN_MIN)
		widths[0] = FIRST_COLUMN_MIN;
}

/* A character's first byte: the others have 10 as highest bits. */
static bool is_begin(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

/* A text that is too wide loses its middle: of a path, first directories and name remain. */
static int print_shortened(FILE *out, const char *text, int width)
{
	size_t bytes = strlen(text), head = 0, tail = bytes, next;
	int head_max = (width - 3) / 2, tail_max = width - 3 - head_max;

	if (width_of(text, bytes) <= width)
		return fputs(text, out) < 0 ? 0 : width_of(text, bytes);
	for (next = 1; next < bytes && width_of(text, next) <= head_max; next++)
		if (is_begin(text[next]))
			head = next;
	for (next = bytes - 1; next > head && width_of(text + next, bytes - next) <= tail_max; next--)
		if (is_begin(text[next]))
			tail = next;
	fprintf(out, "%.*s...%s", (int)head, text, text + tail);
	return width_of(text, head) + 3 + width_of(text + tail, bytes - tail);
}

static void print_row(const struct table *table, FILE *out, char *const *cells, const int *widths)
{
	int column, width = print_shortened(out, cells[0], widths[0]);

	fprintf(out, "%*s", widths[0] - width, "");
	for (column = 1; column < table->columns; column++)
		fprintf(out, "%*s%s", 2 + widths[column] - width_of(cells[column], strlen(cells[column])), "", cells[column]);
}

/**
 * table_print() - print all rows that are complete
 *
 * The first row is the heading. On a terminal, the first column becomes narrower if the table does not fit.
 */
void table_print(struct table *table, FILE *out)
{
	int widths[TABLE_COLUMNS_MAX] = {};
	size_t i;

	if (table->is_short_of_memory)
		return;
	measure(table, widths);
	fit(table, widths, out == stdout ? terminal_columns() : 0);
	for (i = 0; i + (size_t)table->columns <= table->count; i += (size_t)table->columns) {
		fputs(i ? "" : terminal_style(out, STYLE_HEADING), out);
		print_row(table, out, &table->cells[i], widths);
		fputs(i ? "" : terminal_style(out, STYLE_PLAIN), out);
		fputc('\n', out);
	}
}

/**
 * table_close() - free
 */
void table_close(struct table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
}

/* Three digits that mean something, and the unit. */
static const char *scaled(char text[32], double value, double step, const char *const *units)
{
	while (value >= step && units[1]) {
		value /= step;
		units++;
	}
	snprintf(text, 32, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, *units);
	return text;
}

/**
 * quantity_time() - a length of time with its unit
 */
const char *quantity_time(char text[32], uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s", NULL };

	return scaled(text, (double)ns / 1000, 1000, units);
}

/**
 * quantity_bytes() - a number of bytes with its unit
 */
const char *quantity_bytes(char text[32], uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", NULL };

	if (bytes >= 1024)
		return scaled(text, (double)bytes / 1024, 1024, units);
	snprintf(text, 32, "%llu", (unsigned long long)bytes);
	return text;
}

/**
 * quantity_size() - the same in a sentence, with a unit also below 1 KiB
 */
const char *quantity_size(char text[32], uint64_t bytes)
{
	if (bytes < 1024)
		snprintf(text, 32, "%llu B", (unsigned long long)bytes);
	else
		quantity_bytes(text, bytes);
	return text;
}

/**
 * quantity_bandwidth() - bytes per second with their unit, "-" if it is NAN
 */
const char *quantity_bandwidth(char text[32], double bytes_per_s)
{
	static const char *const units[] = { "B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", NULL };

	return isnan(bytes_per_s) ? "-" : scaled(text, bytes_per_s, 1024, units);
}
