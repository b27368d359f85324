/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - aligned columns of text, and numbers as people read them.
 */
#ifndef IOTAPE_TABLE_H
#define IOTAPE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 16

/**
 * struct table - rows of cells
 * @columns: number of them
 * @cells: row by row
 * @is_short_of_memory: then nothing is printed
 */
struct table {
	int columns;
	char **cells;
	size_t count;
	size_t room;
	bool is_short_of_memory;
};

void table_open(struct table *table, int columns);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_time(struct table *table, uint64_t ns);
void table_bytes(struct table *table, uint64_t bytes);
void table_print(struct table *table, FILE *out);
void table_close(struct table *table);

const char *quantity_time(char text[32], uint64_t ns);
const char *quantity_bandwidth(char text[32], double bytes_per_s);
const char *quantity_size(char text[32], uint64_t bytes);
const char *quantity_bytes(char text[32], uint64_t bytes);

#endif
