// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - print rows with their columns aligned: the first to the left, all others to
 * the right.
 */
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/**
 * table_open() - an empty table
 * @table: filled in; to be given to table_close()
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

static void measure(const struct table *table, int *widths)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		int width = (int)strlen(table->cells[i]), column = (int)i % table->columns;

		if (width > widths[column])
			widths[column] = width;
	}
}

/**
 * table_print() - print all rows that are complete
 */
void table_print(struct table *table, FILE *out)
{
	int widths[TABLE_COLUMNS_MAX] = {}, column;
	size_t i;

	if (table->is_short_of_memory)
		return;
	measure(table, widths);
	for (i = 0; i + (size_t)table->columns <= table->count; i += (size_t)table->columns) {
		fprintf(out, "%-*s", widths[0], table->cells[i]);
		for (column = 1; column < table->columns; column++)
			fprintf(out, "  %*s", widths[column], table->cells[i + (size_t)column]);
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
 * quantity_bandwidth() - bytes per second with their unit, "-" if it is NAN
 */
const char *quantity_bandwidth(char text[32], double bytes_per_s)
{
	static const char *const units[] = { "B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", NULL };

	return isnan(bytes_per_s) ? "-" : scaled(text, bytes_per_s, 1024, units);
}
