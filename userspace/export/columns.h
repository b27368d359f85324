/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * columns.h - an event as a row, for formats that are tables. Private to this directory.
 */
#ifndef IOTAPE_EXPORT_COLUMNS_H
#define IOTAPE_EXPORT_COLUMNS_H

#include "format.h"

#define EXPORT_ROW_TEXT_BYTES 16384 /* more than all fields of a record as text */

enum export_column_type {
	EXPORT_COLUMN_UNSIGNED,
	EXPORT_COLUMN_SIGNED,
	EXPORT_COLUMN_WORD, /* a text without blanks, commas and quotes */
	EXPORT_COLUMN_TEXT,
};

/**
 * struct export_value - a value of a row
 * @number: of a column of numbers; of a signed one, an s64
 * @text, @bytes: of a column of texts, any bytes; valid until the next value
 * @room: memory for @text
 */
struct export_value {
	u64 number;
	const void *text;
	size_t bytes;
	char room[EXPORT_ROW_TEXT_BYTES];
};

/**
 * struct export_column - a column
 * @name: with the unit
 * @field: the field of a record that has its values; NULL: @get has them
 * @get: the value of an event; returns whether it is known
 */
struct export_column {
	const char *name;
	enum export_column_type type;
	const char *field;
	bool (*get)(const struct export *x, const struct export_event *e, struct export_value *value);
};

const struct export_column *export_column_at(size_t index);
bool export_column_value(const struct export *x, const struct export_event *e, const struct export_column *column,
			 struct export_value *value);

#endif
