// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * columns_encode.c - records to columns.
 *
 * Two passes over the records: the first counts those of each kind, the second predicts each value and puts the
 * differences where the count says. Then each column is coded.
 */
#include <stdlib.h>

#include "columns.h"
#include "core/trace/record.h"

#define KINDS 65536

/*
 * A kind of records in the chunk: @at of @count are taken. @numbers: of each column @count, then the lengths of the
 * tails, or of whole records that are kept as they are.
 */
struct part {
	struct column_table table;
	u32 count;
	u32 at;
	u64 *numbers;
};

/**
 * struct columns - what columns_encode() needs
 * @part_of: by kind: 1 + the index of its part; 0 if the chunk has none of it
 * @raw_part: the same of records that are kept as they are
 * @tables: by kind, from column_table_of(); one of a kind that is not known, or was not needed yet, has no columns
 * @order: the part of each record
 * @numbers: of all columns
 * @bytes: the result
 */
struct columns {
	struct column_coder *coder;
	struct column_model model;
	u8 part_of[KINDS];
	u8 raw_part;
	struct part parts[COLUMN_TABLES_MAX];
	u32 part_count;
	struct column_table tables[IOT_KIND_END];
	u64 *order;
	size_t order_room;
	u64 *numbers;
	size_t number_room;
	u8 *bytes;
	size_t byte_room;
};

/**
 * columns_open() - make what columns_encode() needs
 * @columns: out: to be freed by columns_close()
 *
 * Return: 0 or -ENOMEM.
 */
int columns_open(struct columns **columns)
{
	struct columns *c = calloc(1, sizeof(*c));

	if (!c || column_coder_open(&c->coder)) {
		columns_close(c);
		return -ENOMEM;
	}
	*columns = c;
	return 0;
}

/**
 * columns_close() - free it; NULL is allowed
 */
void columns_close(struct columns *columns)
{
	if (!columns)
		return;
	column_coder_close(columns->coder);
	free(columns->order);
	free(columns->numbers);
	free(columns->bytes);
	free(columns);
}

static int reserve(void *pointer, size_t *room, size_t count, size_t element_bytes)
{
	void **array = pointer, *bigger;

	if (count <= *room)
		return 0;
	bigger = reallocarray(*array, count, element_bytes);
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	*room = count;
	return 0;
}

/* -- which parts -------------------------------------------------------------------------------- */

static u32 record_bytes(const u8 *record)
{
	return iot_get_u16(record);
}

/* Is this a record as iot_record_encode() makes it, and as the columns give it back? */
static bool is_regular(const struct column_table *table, const u8 *record)
{
	return record_bytes(record) ==
		       IOT_RECORD_HEAD_BYTES + table->fields_bytes + (u32)iot_get_u16(record + 4) &&
	       !iot_get_u16(record + 6);
}

/* Return: NULL if the kind is not known here. */
static const struct column_table *table_of(struct columns *columns, u16 kind)
{
	struct column_table *table = kind < IOT_KIND_END ? &columns->tables[kind] : NULL;

	if (table && (table->column_count || column_table_of(kind, table)))
		return table;
	return NULL;
}

/* Imports and replays do not know all times: a field that is 0 in the first record is not predicted from others. */
static void adapt(struct column_table *table, const u8 *record)
{
	struct column *column = table->columns, *stop = column + table->column_count;
	const u8 *fields = record + IOT_RECORD_HEAD_BYTES;

	if (!is_regular(table, record))
		return;
	for (; column < stop; column++)
		if ((column->predictor == IOT_PREDICT_OTHER || column->predictor == IOT_PREDICT_RUNTIME) &&
		    column->is_wide && !iot_get_u64(fields + column->at * COLUMN_UNIT_BYTES))
			column->predictor = IOT_PREDICT_NONE;
}

/* The last part is reserved for records that are kept as they are. Return: its index, or -1. */
static int part_new(struct columns *columns, const u8 *record)
{
	struct part *part = &columns->parts[columns->part_count];
	u16 kind = iot_get_u16(record + 2);
	const struct column_table *table = table_of(columns, kind);

	if (!table || columns->part_count >= COLUMN_TABLES_MAX - 1)
		return -1;
	part->table = *table;
	adapt(&part->table, record);
	part->count = part->at = 0;
	columns->part_of[kind] = (u8)++columns->part_count;
	return (int)columns->part_count - 1;
}

static int raw_part(struct columns *columns)
{
	if (!columns->raw_part) {
		columns->parts[columns->part_count] = (struct part){ .table.form = IOT_COLUMNS_RAW };
		columns->raw_part = (u8)++columns->part_count;
	}
	return columns->raw_part - 1;
}

static int part_of(struct columns *columns, const u8 *record)
{
	u16 kind = iot_get_u16(record + 2);
	int part = columns->part_of[kind] ? columns->part_of[kind] - 1 : part_new(columns, record);

	if (part < 0 || !is_regular(&columns->parts[part].table, record))
		part = raw_part(columns);
	return part;
}

/* Return: 0; -EINVAL if the bytes are not that many records. */
static int sort(struct columns *columns, const u8 *record, size_t bytes, u32 count)
{
	u32 i;
	int part;

	for (i = 0; i < count; i++) {
		if (bytes < IOT_RECORD_HEAD_BYTES || record_bytes(record) < IOT_RECORD_HEAD_BYTES ||
		    record_bytes(record) > bytes)
			return -EINVAL;
		part = part_of(columns, record);
		columns->parts[part].count++;
		columns->order[i] = (u64)part;
		bytes -= record_bytes(record);
		record += record_bytes(record);
	}
	return bytes ? -EINVAL : 0;
}

static void clear(struct columns *columns)
{
	u32 i;

	for (i = 0; i < columns->part_count; i++)
		columns->part_of[columns->parts[i].table.kind] = 0;
	columns->raw_part = 0;
	columns->part_count = 0;
	memset(&columns->model, 0, sizeof(columns->model));
}

/* -- differences ------------------------------------------------------------------------------------ */

static int place(struct columns *columns)
{
	size_t sum = 0;
	u64 *numbers;
	u32 i;

	for (i = 0; i < columns->part_count; i++)
		sum += (size_t)columns->parts[i].count * (columns->parts[i].table.column_count + 1);
	if (reserve(&columns->numbers, &columns->number_room, sum, sizeof(u64)))
		return -ENOMEM;
	numbers = columns->numbers;
	for (i = 0; i < columns->part_count; i++) {
		columns->parts[i].numbers = numbers;
		numbers += (size_t)columns->parts[i].count * (columns->parts[i].table.column_count + 1);
	}
	return 0;
}

static void take(struct column_model *model, struct part *part, const u8 *record)
{
	const struct column *column = part->table.columns, *stop = column + part->table.column_count;
	u64 *number = part->numbers + part->at++, values[COLUMNS_MAX], *value = values, difference;
	const u8 *p;

	for (; column < stop; column++, number += part->count) {
		p = record + IOT_RECORD_HEAD_BYTES + column->at * COLUMN_UNIT_BYTES;
		*value = column->is_wide ? iot_get_u64(p) : iot_get_u32(p);
		difference = *value++ - column_predict(model, column, values);
		*number = zigzag(column->is_wide ? difference : (u64)(s64)(s32)difference);
	}
	*number = part->table.form == IOT_COLUMNS_RAW ? record_bytes(record) : iot_get_u16(record + 4);
	if (part->table.form != IOT_COLUMNS_RAW)
		column_remember(model, &part->table, values);
}

/* -- to bytes -------------------------------------------------------------------------------------------- */

static u8 *put_table(u8 *p, const struct column_table *table)
{
	const struct column *column = table->columns;
	u32 i;

	p = iot_put_u16(p, table->kind);
	*p++ = table->form;
	*p++ = (u8)(table->fields_bytes / COLUMN_UNIT_BYTES);
	*p++ = (u8)table->column_count;
	for (i = 0; i < table->column_count; i++, column++) {
		*p++ = (u8)(column->at | (column->is_wide ? IOT_COLUMN_WIDE : 0));
		*p++ = column->predictor;
		*p++ = column->key;
		*p++ = column->memory;
		*p++ = column->plus;
		*p++ = column->also;
	}
	return p;
}

/* Tails of records, or whole ones, one after the other. */
static u8 *put_tails(const struct columns *columns, const u8 *record, u32 count, u8 *p)
{
	u32 i, bytes;

	for (i = 0; i < count; i++, record += bytes) {
		bytes = record_bytes(record);
		if (columns->parts[columns->order[i]].table.form == IOT_COLUMNS_RAW) {
			memcpy(p, record, bytes);
			p += bytes;
		} else if (iot_get_u16(record + 4)) {
			memcpy(p, record + bytes - iot_get_u16(record + 4), iot_get_u16(record + 4));
			p += iot_get_u16(record + 4);
		}
	}
	return p;
}

#define TABLE_BYTES (5 + 6 * COLUMNS_MAX)

/* Room for everything: of a column, the room of column_encode(). */
static size_t room_bytes(const struct columns *columns, size_t record_bytes, u32 count)
{
	size_t sum = 1 + record_bytes + COLUMN_ROOM_BYTES(count);
	u32 i;

	for (i = 0; i < columns->part_count; i++)
		sum += TABLE_BYTES + (columns->parts[i].table.column_count + 1) * COLUMN_ROOM_BYTES(columns->parts[i].count);
	return sum;
}

static u8 *put_parts(struct columns *columns, u32 count, u8 *p)
{
	const struct part *part = columns->parts, *stop = part + columns->part_count;
	u32 c;

	*p++ = (u8)columns->part_count;
	for (; part < stop; part++)
		p = put_table(p, &part->table);
	p = column_encode(columns->coder, columns->order, count, p);
	for (part = columns->parts; part < stop; part++) {
		for (c = 0; c <= part->table.column_count; c++)
			p = column_encode(columns->coder, part->numbers + (size_t)c * part->count, part->count, p);
	}
	return p;
}

/**
 * columns_encode() - records to columns
 * @columns: what it needs
 * @records: the records on the wire
 * @record_bytes: of them
 * @count: their number
 * @bytes: out: the columns, valid until the next call
 * @byte_count: out: their length
 *
 * Return: 0; -EINVAL if the bytes are not so many records; -ENOMEM.
 */
int columns_encode(struct columns *columns, const u8 *records, size_t record_bytes, u32 count, const u8 **bytes,
		   size_t *byte_count)
{
	const u8 *record = records;
	int err;
	u32 i;
	u8 *p;

	clear(columns);
	if (!count || count > record_bytes / IOT_RECORD_HEAD_BYTES)
		return -EINVAL;
	if (reserve(&columns->order, &columns->order_room, count, sizeof(u64)))
		return -ENOMEM;
	err = sort(columns, records, record_bytes, count);
	if (!err)
		err = place(columns);
	if (!err)
		err = reserve(&columns->bytes, &columns->byte_room, room_bytes(columns, record_bytes, count), 1);
	if (err)
		return err;
	for (i = 0; i < count; i++, record += iot_get_u16(record))
		take(&columns->model, &columns->parts[columns->order[i]], record);
	p = put_parts(columns, count, columns->bytes);
	p = put_tails(columns, records, count, p);
	*bytes = columns->bytes;
	*byte_count = (size_t)(p - columns->bytes);
	return 0;
}
