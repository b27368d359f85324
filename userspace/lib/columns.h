/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * columns.h - the records of a chunk as columns, and back.
 *
 * The bytes are described in Documentation/trace-format.md. Writer and reader predict each value from values that
 * precede it, and the file has the differences:
 *
 *	columns_table.c	 which columns and predictions the writer uses, from the record tables
 *	columns_encode.c records to columns
 *	column_code.c	 the numbers of one column to bytes, and back
 *	columns_decode.c columns to records; nothing that it reads is trusted
 */
#ifndef IOTAPE_LIB_COLUMNS_H
#define IOTAPE_LIB_COLUMNS_H

#include <iotape/trace_file.h>

#include "core/port.h"

#define COLUMNS_MAX	 64  /* of a table */
#define COLUMN_TABLES_MAX 255
#define COLUMN_MEMORIES	 48
#define COLUMN_SLOT_BITS 9
#define COLUMN_SLOTS	 (1 << COLUMN_SLOT_BITS)
#define COLUMN_NONE	 255 /* no key: one slot for all */
#define COLUMN_UNUSED	 254
#define COLUMN_UNIT_BYTES 4

/**
 * struct column - a field in the records of one table
 * @at: its place behind the head, in units of 4 bytes
 * @is_wide: 8 bytes rather than 4
 * @predictor: an enum iot_column_predictor
 * @key: index of a preceding column in the table, or COLUMN_NONE
 * @memory: number of the memory for the prediction, in which the value is then remembered
 * @plus: index of a column whose value is added before, or COLUMN_UNUSED
 * @also: index of a column that is the key under which the value is also remembered in the next memory;
 *	or COLUMN_NONE, or COLUMN_UNUSED
 */
struct column {
	u8 at;
	bool is_wide;
	u8 predictor;
	u8 key;
	u8 memory;
	u8 plus;
	u8 also;
};

/**
 * struct column_table - the layout of records of one kind
 * @kind: of its records
 * @form: an enum iot_column_form
 * @fields_bytes: length of a record without head and tail
 * @columns: in the order in which they are predicted
 */
struct column_table {
	u16 kind;
	u8 form;
	u32 fields_bytes;
	u32 column_count;
	struct column columns[COLUMNS_MAX];
};

/**
 * struct column_model - what predictions depend on: equal in the writer and the reader after each record
 * @end_ns: end of the preceding record
 * @memories: by number and slot
 */
struct column_model {
	u64 end_ns;
	u64 memories[COLUMN_MEMORIES][COLUMN_SLOTS];
};

static inline u64 column_slot(u8 key, const u64 *values)
{
	return key == COLUMN_NONE ? 0 : values[key] * 0x9e3779b97f4a7c15ull >> (64 - COLUMN_SLOT_BITS);
}

/* The predicted value of a column; @values: those of the preceding columns of the record. */
static inline u64 column_predict(const struct column_model *model, const struct column *column, const u64 *values)
{
	switch (column->predictor) {
	case IOT_PREDICT_MEMORY:
	case IOT_PREDICT_ID:
		return model->memories[column->memory][column_slot(column->key, values)];
	case IOT_PREDICT_END:
		return model->end_ns;
	case IOT_PREDICT_OTHER:
		return values[column->key];
	case IOT_PREDICT_RUNTIME:
		return values[0] + model->memories[column->memory][column_slot(column->key, values)];
	default:
		return 0;
	}
}

/* After a record; @values: all of its values. */
static inline void column_remember(struct column_model *model, const struct column_table *table, const u64 *values)
{
	const struct column *column = table->columns;
	const struct column *stop = column + table->column_count;
	u64 value;

	model->end_ns = values[0] + (table->form == IOT_COLUMNS_EVENT ? 0 : values[1]);
	for (; column < stop; column++) {
		value = values[column - table->columns];
		if (column->predictor == IOT_PREDICT_RUNTIME)
			value += values[2] - model->end_ns;
		else if (column->predictor < IOT_PREDICT_MEMORY || (column->predictor == IOT_PREDICT_ID && !value))
			continue;
		else if (column->plus != COLUMN_UNUSED)
			value += values[column->plus];
		model->memories[column->memory][column_slot(column->key, values)] = value;
		if (column->also != COLUMN_UNUSED)
			model->memories[column->memory + 1][column_slot(column->also, values)] = value;
	}
}

struct columns;

int columns_open(struct columns **columns);
void columns_close(struct columns *columns);
int columns_encode(struct columns *columns, const u8 *records, size_t record_bytes, u32 count, const u8 **bytes,
		   size_t *byte_count);

struct columns_decoder;

int columns_decoder_open(struct columns_decoder **decoder);
void columns_decoder_close(struct columns_decoder *decoder);
int columns_decode(struct columns_decoder *decoder, const u8 *bytes, size_t byte_count, u8 *records,
		   size_t record_bytes, u32 count);

/* -- columns_table.c ---------------------------------------------------------------------------------- */

bool column_table_of(u16 kind, struct column_table *table);

/* -- column_code.c ------------------------------------------------------------------------------------ */

/* Bytes that column_encode() needs at most. */
#define COLUMN_ROOM_BYTES(count) ((size_t)(count) * 10 + 4096)

struct column_coder;

int column_coder_open(struct column_coder **coder);
void column_coder_close(struct column_coder *coder);
u8 *column_encode(struct column_coder *coder, const u64 *numbers, u32 count, u8 *p);
const u8 *column_decode(const u8 *p, const u8 *stop, u64 *numbers, u32 count);

static inline u64 zigzag(u64 difference)
{
	return difference << 1 ^ (u64)((s64)difference >> 63);
}

static inline u64 unzigzag(u64 number)
{
	return number >> 1 ^ -(number & 1);
}

static inline u8 *varint_put(u8 *p, u64 value)
{
	for (; value >= 128; value >>= 7)
		*p++ = (u8)(value | 128);
	*p++ = (u8)value;
	return p;
}

/* Return: the byte after it; NULL if it does not end before @stop, or is too large. */
static inline const u8 *varint_get(const u8 *p, const u8 *stop, u64 *value)
{
	u32 shift = 0;

	for (*value = 0; p < stop && shift < 64; shift += 7) {
		*value |= (u64)(*p & 127) << shift;
		if (*p++ < 128)
			return p;
	}
	return NULL;
}

#endif
