// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * columns_decode.c - columns to records. Nothing that it reads is trusted.
 */
#include <stdlib.h>

#include "columns.h"
#include "core/trace/record.h"

#define HEAD_BYTES   5 /* of a table */
#define COLUMN_BYTES 6 /* of the description of a column */

/*
 * The records of one table: @at of @count are put. @numbers: of each column @count, then the lengths of the tails,
 * or of whole records that are as they are.
 */
struct part {
	struct column_table table;
	u32 count;
	u32 at;
	const u64 *numbers;
};

/**
 * struct columns_decoder - columns that are being decoded
 * @p: the next byte
 * @stop: end of the bytes
 * @order: the part of each record
 * @numbers: of all columns
 */
struct columns_decoder {
	const u8 *p;
	const u8 *stop;
	u64 *order;
	size_t order_room;
	u64 *numbers;
	size_t number_room;
	u32 count;
	u32 part_count;
	struct column_model model;
	struct part parts[COLUMN_TABLES_MAX];
};

/* -- tables ----------------------------------------------------------------------------------------- */

/* Is a column a key, or added, in the order of the predictions? */
static bool is_column_right(const struct column_table *table, const struct column *column, u32 index)
{
	u32 width = column->is_wide ? 2 : 1;

	if (column->predictor > IOT_PREDICT_RUNTIME || column->memory >= COLUMN_MEMORIES ||
	    column->at + width > table->fields_bytes / COLUMN_UNIT_BYTES)
		return false;
	if (column->plus != COLUMN_UNUSED && column->plus >= table->column_count)
		return false;
	if (column->also < COLUMN_UNUSED && column->also >= table->column_count)
		return false;
	if (column->also != COLUMN_UNUSED && column->memory + 1 >= COLUMN_MEMORIES)
		return false;
	if (column->predictor == IOT_PREDICT_OTHER && column->key == COLUMN_NONE)
		return false;
	if (column->predictor == IOT_PREDICT_RUNTIME && (table->form != IOT_COLUMNS_OPERATION || !index))
		return false;
	return column->key == COLUMN_NONE || column->key < index;
}

static bool get_column(struct columns_decoder *decoder, struct column_table *table, u32 index)
{
	struct column *column = &table->columns[index];
	const u8 *p = decoder->p;

	*column = (struct column){
		.at = p[0] & (IOT_COLUMN_WIDE - 1),
		.is_wide = p[0] & IOT_COLUMN_WIDE,
		.predictor = p[1],
		.key = p[2],
		.memory = p[3],
		.plus = p[4],
		.also = p[5],
	};
	decoder->p += COLUMN_BYTES;
	return is_column_right(table, column, index);
}

/* Does each byte of the fields belong to exactly one column? */
static bool is_covered(const struct column_table *table)
{
	u8 units[IOT_COLUMN_WIDE + 1] = {};
	u32 i, sum = 0;

	for (i = 0; i < table->column_count; i++) {
		units[table->columns[i].at]++;
		if (table->columns[i].is_wide)
			units[table->columns[i].at + 1]++;
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (units[i] > 1)
			return false;
		sum += units[i];
	}
	return sum == table->fields_bytes / COLUMN_UNIT_BYTES;
}

static bool get_table(struct columns_decoder *decoder, struct column_table *table)
{
	const u8 *p = decoder->p;
	u32 i;

	if (decoder->stop - p < HEAD_BYTES)
		return false;
	table->kind = iot_get_u16(p);
	table->form = p[2];
	table->fields_bytes = p[3] * COLUMN_UNIT_BYTES;
	table->column_count = p[4];
	decoder->p += HEAD_BYTES;
	if (table->form > IOT_COLUMNS_OPERATION || table->column_count > COLUMNS_MAX ||
	    decoder->stop - decoder->p < (ptrdiff_t)table->column_count * COLUMN_BYTES ||
	    table->column_count < table->form)
		return false;
	for (i = 0; i < table->column_count; i++)
		if (!get_column(decoder, table, i))
			return false;
	return table->form == IOT_COLUMNS_RAW ? !table->column_count : is_covered(table);
}

static bool get_tables(struct columns_decoder *decoder)
{
	u32 i;

	if (decoder->p == decoder->stop)
		return false;
	decoder->part_count = *decoder->p++;
	for (i = 0; i < decoder->part_count; i++) {
		decoder->parts[i].count = decoder->parts[i].at = 0;
		if (!get_table(decoder, &decoder->parts[i].table))
			return false;
	}
	return true;
}

/* -- numbers -------------------------------------------------------------------------------------------- */

static bool get_order(struct columns_decoder *decoder)
{
	u32 i;

	decoder->p = column_decode(decoder->p, decoder->stop, decoder->order, decoder->count);
	if (!decoder->p)
		return false;
	for (i = 0; i < decoder->count; i++) {
		if (decoder->order[i] >= decoder->part_count)
			return false;
		decoder->parts[decoder->order[i]].count++;
	}
	return true;
}

/*
 * Numbers of all columns. A record that is as it is has one, and a length of at least the head; any other one has as
 * many as its fields take units at most, and one for its tail. So there are not more than its bytes.
 */
static bool count_numbers(const struct columns_decoder *decoder, size_t record_bytes, size_t *sum)
{
	const struct part *part = decoder->parts;
	u64 bytes = 0;
	u32 i;

	*sum = 0;
	for (i = 0; i < decoder->part_count; i++, part++) {
		if (!part->count)
			return false;
		bytes += (u64)part->count * (IOT_RECORD_HEAD_BYTES + part->table.fields_bytes);
		*sum += (size_t)part->count * (part->table.column_count + 1);
	}
	return bytes <= record_bytes;
}

static bool get_parts(struct columns_decoder *decoder)
{
	struct part *part = decoder->parts, *stop = part + decoder->part_count;
	u64 *numbers = decoder->numbers;
	u32 c;

	for (; part < stop; part++) {
		part->numbers = numbers;
		for (c = 0; c <= part->table.column_count; c++, numbers += part->count) {
			decoder->p = column_decode(decoder->p, decoder->stop, numbers, part->count);
			if (!decoder->p)
				return false;
		}
	}
	return true;
}

/* -- records -------------------------------------------------------------------------------------------- */

static void put_fields(struct column_model *model, const struct part *part, const u64 *number, u8 *fields)
{
	const struct column *column = part->table.columns, *stop = column + part->table.column_count;
	u64 values[COLUMNS_MAX], *value = values;
	u8 *p;

	values[0] = values[1] = 0; /* there are always as many as the form requires, which compilers do not see */
	for (; column < stop; column++, number += part->count) {
		*value = unzigzag(*number) + column_predict(model, column, values);
		p = fields + column->at * COLUMN_UNIT_BYTES;
		if (column->is_wide) {
			iot_put_u64(p, *value++);
		} else {
			*value &= 0xffffffff;
			iot_put_u32(p, (u32)*value++);
		}
	}
	column_remember(model, &part->table, values);
}

static u8 *put_bytes(struct columns_decoder *decoder, u8 *p, size_t bytes)
{
	memcpy(p, decoder->p, bytes);
	decoder->p += bytes;
	return p + bytes;
}

/* The next record of a part. Return: the byte after it, NULL if there is no room before @stop. */
static u8 *put_record(struct columns_decoder *decoder, struct part *part, u8 *p, const u8 *stop)
{
	const struct column_table *table = &part->table;
	const u64 *numbers = part->numbers + part->at++;
	u64 tail_bytes = numbers[(size_t)table->column_count * part->count];
	u32 wire_bytes = IOT_RECORD_HEAD_BYTES + table->fields_bytes;

	if (tail_bytes > (size_t)(decoder->stop - decoder->p) || tail_bytes > (size_t)(stop - p))
		return NULL;
	if (table->form == IOT_COLUMNS_RAW)
		return put_bytes(decoder, p, tail_bytes);
	if (wire_bytes + tail_bytes > (size_t)(stop - p) || wire_bytes + tail_bytes > UINT16_MAX)
		return NULL;
	p = iot_put_head(p, table->kind, wire_bytes, (u16)tail_bytes);
	put_fields(&decoder->model, part, numbers, p);
	return put_bytes(decoder, p + table->fields_bytes, tail_bytes);
}

static bool put_records(struct columns_decoder *decoder, u8 *p, const u8 *stop)
{
	u32 i;

	memset(&decoder->model, 0, sizeof(decoder->model));
	for (i = 0; i < decoder->count && p; i++)
		p = put_record(decoder, &decoder->parts[decoder->order[i]], p, stop);
	return p == stop && decoder->p == decoder->stop;
}

/* Room for the numbers. Return: 0 or -ENOMEM. */
static int reserve(u64 **numbers, size_t *room, size_t count)
{
	u64 *bigger;

	if (count <= *room)
		return 0;
	bigger = reallocarray(*numbers, count, sizeof(u64));
	if (!bigger)
		return -ENOMEM;
	*numbers = bigger;
	*room = count;
	return 0;
}

/**
 * columns_decode() - columns to records
 * @decoder: what it needs
 * @bytes: the columns, not trusted
 * @byte_count: their length
 * @records: out: the records on the wire, as they were given to columns_encode()
 * @record_bytes: their length, not trusted
 * @count: number of records, not trusted
 *
 * The heads of records are correct; of those that are kept as they are, nothing is checked but their length.
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int columns_decode(struct columns_decoder *decoder, const u8 *bytes, size_t byte_count, u8 *records,
		   size_t record_bytes, u32 count)
{
	size_t sum;

	if (!count || count > record_bytes / IOT_RECORD_HEAD_BYTES)
		return -EBADMSG;
	if (reserve(&decoder->order, &decoder->order_room, count))
		return -ENOMEM;
	decoder->p = bytes;
	decoder->stop = bytes + byte_count;
	decoder->count = count;
	if (!get_tables(decoder) || !get_order(decoder) || !count_numbers(decoder, record_bytes, &sum))
		return -EBADMSG;
	if (reserve(&decoder->numbers, &decoder->number_room, sum))
		return -ENOMEM;
	return get_parts(decoder) && put_records(decoder, records, records + record_bytes) ? 0 : -EBADMSG;
}

/**
 * columns_decoder_open() - make what columns_decode() needs
 * @decoder: out: to be freed by columns_decoder_close()
 *
 * Return: 0 or -ENOMEM.
 */
int columns_decoder_open(struct columns_decoder **decoder)
{
	*decoder = calloc(1, sizeof(**decoder));
	return *decoder ? 0 : -ENOMEM;
}

/**
 * columns_decoder_close() - free it; NULL is allowed
 */
void columns_decoder_close(struct columns_decoder *decoder)
{
	if (!decoder)
		return;
	free(decoder->order);
	free(decoder->numbers);
	free(decoder);
}
