// SPDX-License-Identifier: GPL-2.0-only
/*
 * arrow.c - a file or a stream of Apache Arrow.
 *
 * Source of the format: "Arrow Columnar Format" of arrow.apache.org, version 1.5, and its tables Schema, Message and File. A stream
 * is a sequence of messages: a schema, then batches of rows. A message is a marker, the length of its head, the head, which
 * is a FlatBuffer, and the body: for each column a bitmap of known values, the values, and of texts their limits before them. A
 * file is a stream between two magic words, with a footer that has the schema again and the place of each batch.
 *
 * A batch has a bounded size, so that memory is bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "columns.h"
#include "flat.h"

#define MAGIC		"ARROW1"
#define ROWS_MAX	65536
#define TEXT_BYTES_MAX	(64u << 20) /* of a batch, which ends after the row that reaches it */
#define COLUMNS_MAX	32
#define CONTINUES	0xffffffffu

enum { VERSION_5 = 4, LITTLE_ENDIAN_BYTES = 0, NANOSECONDS = 3 };
enum { HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_UTF8 = 5, TYPE_TIMESTAMP = 10 };

/* Tables: the widths of their fields, and the indices of these. */
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_BYTES };
enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
enum { FIELD_NAME, FIELD_IS_NULLABLE, FIELD_TYPE_TYPE, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN };
enum { INT_BITS, INT_IS_SIGNED };
enum { TIMESTAMP_UNIT, TIMESTAMP_ZONE };
enum { BATCH_ROWS, BATCH_NODES, BATCH_BUFFERS };
enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };
static const u8 message_widths[] = { 2, 1, 4, 8 };
static const u8 schema_widths[] = { 2, 4 };
static const u8 field_widths[] = { 4, 1, 1, 4, 0, 4 };
static const u8 int_widths[] = { 4, 1 };
static const u8 timestamp_widths[] = { 2, 4 };
static const u8 batch_widths[] = { 8, 4, 4 };
static const u8 footer_widths[] = { 2, 4, 4, 4 };

/* After the columns of all tables: the beginning in wall-clock time. */
static const char *const time_name = "time";

/*
 * A column of the batch: bits of known values, the lowest first; of numbers the values; of texts the end of each, and their
 * bytes.
 */
struct column {
	const struct export_column *source; /* NULL: time */
	u8 known[ROWS_MAX / 8];
	u32 unknown_count;
	u8 *numbers;
	u8 *ends;
	u8 *text;
	size_t text_bytes;
	size_t text_room;
};

/* Where a batch is, for the footer. */
struct block {
	u64 at_bytes;
	u32 head_bytes;
	u64 body_bytes;
};

struct arrow {
	struct column *columns;
	u32 column_count;
	u32 rows;
	size_t text_bytes;
	u64 real_ns;
	bool is_file;
	u64 at_bytes;
	struct block *blocks;
	u32 block_count;
	u32 block_room;
	struct flat flat;
	struct export_value value;
};

#define TABLE(f, reference, widths) flat_table(f, reference, widths, ARRAY_SIZE(widths))

static bool is_text(const struct column *c)
{
	return c->source && (c->source->type == EXPORT_COLUMN_WORD || c->source->type == EXPORT_COLUMN_TEXT);
}

static u64 padded(u64 bytes)
{
	return (bytes + 7) / 8 * 8;
}

/* -- output -------------------------------------------------------------------------------------------- */

static void put(struct export *x, const void *bytes, size_t count)
{
	struct arrow *a = x->context;

	if (count) /* a column without texts has no memory */
		fwrite(bytes, 1, count, x->out);
	a->at_bytes += count;
}

/* A part of a body. */
static void put_padded(struct export *x, const void *bytes, size_t count)
{
	static const u8 zeros[8];

	put(x, bytes, count);
	put(x, zeros, padded(count) - count);
}

static void put_u32(struct export *x, u32 value)
{
	u8 bytes[sizeof(value)];

	iot_put_u32(bytes, value);
	put(x, bytes, sizeof(bytes));
}

/* Return: 0, or -ENOMEM if the head is not complete. */
static int put_head(struct export *x)
{
	struct arrow *a = x->context;

	flat_end(&a->flat);
	if (a->flat.is_lost)
		return -ENOMEM;
	put_u32(x, CONTINUES);
	put_u32(x, (u32)a->flat.count);
	put(x, a->flat.bytes, a->flat.count);
	return 0;
}

/* -- schema -------------------------------------------------------------------------------------------- */

/* Return: the kind of the type. */
static u8 put_type(struct flat *f, size_t reference, const struct column *c)
{
	struct flat_table type;

	if (is_text(c)) {
		flat_table(f, reference, NULL, 0);
		return TYPE_UTF8;
	}
	if (!c->source) {
		type = TABLE(f, reference, timestamp_widths);
		flat_set(f, type.at[TIMESTAMP_UNIT], NANOSECONDS, 2);
		flat_text(f, type.at[TIMESTAMP_ZONE], "UTC");
		return TYPE_TIMESTAMP;
	}
	type = TABLE(f, reference, int_widths);
	flat_set(f, type.at[INT_BITS], 64, 4);
	flat_set(f, type.at[INT_IS_SIGNED], c->source->type == EXPORT_COLUMN_SIGNED, 1);
	return TYPE_INT;
}

static void put_schema(struct flat *f, size_t reference, const struct arrow *a)
{
	struct flat_table schema = TABLE(f, reference, schema_widths), field;
	size_t fields, i;

	flat_set(f, schema.at[SCHEMA_ENDIANNESS], LITTLE_ENDIAN_BYTES, 2);
	fields = flat_vector(f, schema.at[SCHEMA_FIELDS], a->column_count, 4);
	for (i = 0; i < a->column_count; i++) {
		const struct column *c = &a->columns[i];

		field = TABLE(f, fields + 4 * i, field_widths);
		flat_text(f, field.at[FIELD_NAME], c->source ? c->source->name : time_name);
		flat_set(f, field.at[FIELD_IS_NULLABLE], 1, 1);
		flat_set(f, field.at[FIELD_TYPE_TYPE], put_type(f, field.at[FIELD_TYPE], c), 1);
		flat_vector(f, field.at[FIELD_CHILDREN], 0, 4);
	}
}

/* Return: the position of the reference to the header. */
static size_t put_message(struct flat *f, u8 type, u64 body_bytes)
{
	struct flat_table message;

	flat_begin(f);
	message = TABLE(f, 0, message_widths);
	flat_set(f, message.at[MESSAGE_VERSION], VERSION_5, 2);
	flat_set(f, message.at[MESSAGE_HEADER_TYPE], type, 1);
	flat_set(f, message.at[MESSAGE_BODY_BYTES], body_bytes, 8);
	return message.at[MESSAGE_HEADER];
}

/* -- batches ------------------------------------------------------------------------------------------ */

/* The parts of a column in the body. Return: how many. */
static u32 parts_of(const struct column *c, u32 rows, const u8 *parts[3], size_t bytes[3])
{
	parts[0] = c->known;
	bytes[0] = (rows + 7) / 8;
	if (!is_text(c)) {
		parts[1] = c->numbers;
		bytes[1] = 8 * rows;
		return 2;
	}
	parts[1] = c->ends;
	bytes[1] = 4 * (rows + 1);
	parts[2] = c->text;
	bytes[2] = c->text_bytes;
	return 3;
}

/* Return: bytes of the body. */
static u64 measure(const struct arrow *a, u32 *part_count)
{
	const u8 *parts[3];
	size_t bytes[3];
	u64 sum = 0;
	u32 i, j, n;

	*part_count = 0;
	for (i = 0; i < a->column_count; i++) {
		n = parts_of(&a->columns[i], a->rows, parts, bytes);
		for (j = 0; j < n; j++)
			sum += padded(bytes[j]);
		*part_count += n;
	}
	return sum;
}

static void put_batch_head(struct arrow *a, u64 body_bytes, u32 part_count)
{
	struct flat *f = &a->flat;
	struct flat_table batch = TABLE(f, put_message(f, HEADER_BATCH, body_bytes), batch_widths);
	size_t nodes, buffers, bytes[3];
	const u8 *parts[3];
	u64 at = 0;
	u32 i, j, n;

	flat_set(f, batch.at[BATCH_ROWS], a->rows, 8);
	nodes = flat_vector(f, batch.at[BATCH_NODES], a->column_count, 16);
	buffers = flat_vector(f, batch.at[BATCH_BUFFERS], part_count, 16);
	for (i = 0; i < a->column_count; i++, nodes += 16) {
		flat_set(f, nodes, a->rows, 8);
		flat_set(f, nodes + 8, a->columns[i].unknown_count, 8);
		n = parts_of(&a->columns[i], a->rows, parts, bytes);
		for (j = 0; j < n; j++, buffers += 16) {
			flat_set(f, buffers, at, 8);
			flat_set(f, buffers + 8, bytes[j], 8);
			at += padded(bytes[j]);
		}
	}
}

static void put_body(struct export *x)
{
	const struct arrow *a = x->context;
	const u8 *parts[3];
	size_t bytes[3];
	u32 i, j, n;

	for (i = 0; i < a->column_count; i++) {
		n = parts_of(&a->columns[i], a->rows, parts, bytes);
		for (j = 0; j < n; j++)
			put_padded(x, parts[j], bytes[j]);
	}
}

static int block_add(struct arrow *a, u64 body_bytes)
{
	if (a->block_count == a->block_room) {
		u32 room = a->block_room ? 2 * a->block_room : 64;
		struct block *larger = reallocarray(a->blocks, room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		a->blocks = larger;
		a->block_room = room;
	}
	a->blocks[a->block_count++] = (struct block){
		.at_bytes = a->at_bytes, .head_bytes = (u32)a->flat.count + 8, .body_bytes = body_bytes,
	};
	return 0;
}

static void batch_clear(struct arrow *a)
{
	u32 i;

	a->rows = 0;
	a->text_bytes = 0;
	for (i = 0; i < a->column_count; i++) {
		memset(a->columns[i].known, 0, sizeof(a->columns[i].known));
		a->columns[i].unknown_count = 0;
		a->columns[i].text_bytes = 0;
	}
}

static int put_batch(struct export *x)
{
	struct arrow *a = x->context;
	u32 part_count;
	u64 body_bytes = measure(a, &part_count);
	int err;

	put_batch_head(a, body_bytes, part_count);
	flat_end(&a->flat);
	err = a->is_file ? block_add(a, body_bytes) : 0;
	if (!err)
		err = put_head(x);
	if (err)
		return err;
	put_body(x);
	batch_clear(a);
	return 0;
}

/* -- rows --------------------------------------------------------------------------------------------- */

static u8 *text_room(struct column *c, size_t bytes)
{
	if (c->text_bytes + bytes > c->text_room) {
		size_t room = 2 * (c->text_bytes + bytes);
		u8 *larger = realloc(c->text, room);

		if (!larger)
			return NULL;
		c->text = larger;
		c->text_room = room;
	}
	return c->text + c->text_bytes;
}

/* A byte that is not part of valid UTF-8 becomes \udcXX, as in Arrow tables of the Python package. */
static int add_text(struct arrow *a, struct column *c, const u8 *text, size_t count)
{
	u8 *to = text_room(c, 6 * count + 1), *begin = to;
	size_t n;
	u32 character;

	if (!to)
		return -ENOMEM;
	for (; count; text += n, count -= n) {
		n = iot_text_utf8(text, count, &character);
		if (n) {
			memcpy(to, text, n);
			to += n;
		} else {
			to += sprintf((char *)to, "\\udc%02x", *text);
			n = 1;
		}
	}
	c->text_bytes += (size_t)(to - begin);
	a->text_bytes += (size_t)(to - begin);
	return 0;
}

static bool value_of(struct export *x, const struct export_event *e, const struct column *c)
{
	struct arrow *a = x->context;

	if (c->source)
		return export_column_value(x, e, c->source, &a->value);
	a->value.number = a->real_ns + e->begin_ns;
	return a->real_ns;
}

static int add_value(struct export *x, const struct export_event *e, struct column *c)
{
	struct arrow *a = x->context;
	bool is_known = value_of(x, e, c);
	int err = 0;

	if (is_known)
		c->known[a->rows / 8] |= (u8)(1 << a->rows % 8);
	else
		c->unknown_count++;
	if (!is_text(c)) {
		iot_put_u64(c->numbers + 8 * a->rows, is_known ? a->value.number : 0);
		return 0;
	}
	if (is_known)
		err = add_text(a, c, a->value.text, a->value.bytes);
	iot_put_u32(c->ends + 4 * (a->rows + 1), (u32)c->text_bytes);
	return err;
}

static int take(struct export *x, const struct export_event *e)
{
	struct arrow *a = x->context;
	int err = 0;
	u32 i;

	for (i = 0; i < a->column_count && !err; i++)
		err = add_value(x, e, &a->columns[i]);
	if (err)
		return err;
	a->rows++;
	return a->rows == ROWS_MAX || a->text_bytes >= TEXT_BYTES_MAX ? put_batch(x) : 0;
}

/* -- beginning and end ---------------------------------------------------------------------------------- */

static int column_open(struct column *c, const struct export_column *source)
{
	c->source = source;
	if (!is_text(c))
		c->numbers = calloc(ROWS_MAX, 8);
	else
		c->ends = calloc(ROWS_MAX + 1, 4);
	return c->numbers || c->ends ? 0 : -ENOMEM;
}

static int columns_open(struct arrow *a)
{
	int err = 0;
	u32 i;

	a->columns = calloc(COLUMNS_MAX, sizeof(*a->columns));
	if (!a->columns)
		return -ENOMEM;
	for (i = 0; !err && i < COLUMNS_MAX && (!i || a->columns[i - 1].source); i++, a->column_count++)
		err = column_open(&a->columns[i], export_column_at(i));
	return err;
}

static int read_clock(struct export *x)
{
	struct arrow *a = x->context;
	struct iot_trace_info info;
	struct iot_reject reject = {};
	struct iot_reader *reader;
	int err = iot_reader_open(x->options->trace, &reader, &reject);

	if (err)
		return err;
	iot_reader_info(reader, &info);
	a->real_ns = info.real_ns;
	iot_reader_close(reader);
	return 0;
}

static int begin(struct export *x)
{
	struct arrow *a = calloc(1, sizeof(*a));
	struct stat stat;
	int err;

	if (!a)
		return -ENOMEM;
	x->context = a;
	err = columns_open(a);
	if (!err)
		err = read_clock(x);
	if (err)
		return err;
	a->is_file = !fstat(fileno(x->out), &stat) && S_ISREG(stat.st_mode);
	if (a->is_file)
		put_padded(x, MAGIC, strlen(MAGIC));
	put_schema(&a->flat, put_message(&a->flat, HEADER_SCHEMA, 0), a);
	return put_head(x);
}

static void put_footer(struct arrow *a)
{
	struct flat *f = &a->flat;
	struct flat_table footer;
	size_t at;
	u32 i;

	flat_begin(f);
	footer = TABLE(f, 0, footer_widths);
	flat_set(f, footer.at[FOOTER_VERSION], VERSION_5, 2);
	put_schema(f, footer.at[FOOTER_SCHEMA], a);
	flat_vector(f, footer.at[FOOTER_DICTIONARIES], 0, 24);
	at = flat_vector(f, footer.at[FOOTER_BATCHES], a->block_count, 24);
	for (i = 0; i < a->block_count; i++, at += 24) {
		flat_set(f, at, a->blocks[i].at_bytes, 8);
		flat_set(f, at + 8, a->blocks[i].head_bytes, 4);
		flat_set(f, at + 16, a->blocks[i].body_bytes, 8);
	}
	flat_end(f);
}

static int end(struct export *x)
{
	struct arrow *a = x->context;
	int err = a->rows ? put_batch(x) : 0;

	if (err)
		return err;
	put_u32(x, CONTINUES);
	put_u32(x, 0);
	if (!a->is_file)
		return 0;
	put_footer(a);
	if (a->flat.is_lost)
		return -ENOMEM;
	put(x, a->flat.bytes, a->flat.count);
	put_u32(x, (u32)a->flat.count);
	put(x, MAGIC, strlen(MAGIC));
	return 0;
}

static void arrow_free(struct export *x)
{
	struct arrow *a = x->context;
	u32 i;

	for (i = 0; a && i < a->column_count; i++) {
		free(a->columns[i].numbers);
		free(a->columns[i].ends);
		free(a->columns[i].text);
	}
	if (a) {
		free(a->columns);
		free(a->blocks);
		free(a->flat.bytes);
	}
	free(a);
}

const struct export_format export_format_arrow = {
	.name = "arrow",
	.sentence = "a file or a stream of Apache Arrow, for its libraries of many languages",
	.begin = begin,
	.take = take,
	.end = end,
	.free = arrow_free,
};
