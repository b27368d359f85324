// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * schema.c - the embedded schema: print, parse, and translate records by field names.
 */
#include "schema.h"

#include <stdlib.h>

#include "iotape.h"

#define FIELDS_MAX 64

/* A field as the writer had it, and ours of the same name (NULL if we have none). */
struct column {
	u32 bytes;
	bool is_signed;
	const struct iot_field *field;
};

/* A kind as the writer had it. */
struct table {
	struct table *next;
	u16 kind;
	char *name;
	const struct iot_kind_info *info;
	u32 column_count;
	struct column columns[FIELDS_MAX];
	bool is_prefix; /* the common fields are the same, in the same places */
};

struct iot_schema {
	struct table **tables; /* by kind */
	struct table *first;   /* of all that there are */
};

#define KINDS_MAX 65536

/* Fields of a kind are bits of 64. */
#define CHECK_FIELDS(id, name, group, sentence) \
	static_assert(sizeof(struct iot_rec_##name) <= FIELDS_MAX * sizeof(u32), #name " has too many fields");
IOT_RECORDS(CHECK_FIELDS)
#undef CHECK_FIELDS

/**
 * iot_schema_print() - our tables as text
 * @text: out: the text, to be freed by the caller
 * @bytes: out: its length
 *
 * Return: 0 or -ENOMEM.
 */
int iot_schema_print(char **text, size_t *bytes)
{
	FILE *out = open_memstream(text, bytes);
	const struct iot_kind_info *info;
	size_t i;
	u32 f;

	if (!out)
		return -ENOMEM;
	for (i = 0; (info = iot_kind_at(i)); i++) {
		fprintf(out, "record %u %s %s\n", info->kind, info->name,
			iot_group_name(info->group));
		for (f = 0; f < info->field_count; f++)
			fprintf(out, "field %s %s %s\n", iot_wire_type_name(info->fields[f].type),
				info->fields[f].name, iot_class_info(info->fields[f].class).name);
	}
	return fclose(out) ? -ENOMEM : 0;
}

static const struct iot_field *field_by_name(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; info && i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

/* Our name of a field, if traces of older writers have another one. */
static const char *present_name(u16 kind, const char *name)
{
#define RENAMED(record, before, now)                                   \
	if (kind == IOT_KIND_##record && !strcmp(name, #before)) \
		return #now;
	IOT_RENAMED_FIELDS(RENAMED)
#undef RENAMED
	return name;
}

static int parse_record(struct iot_schema *schema, const char *line, struct table **current)
{
	struct table *table;
	unsigned int kind;
	char name[64];

	if (sscanf(line, "record %u %63s", &kind, name) != 2 || kind >= KINDS_MAX ||
	    schema->tables[kind])
		return -EBADMSG;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->kind = (u16)kind;
	table->name = strdup(name);
	table->info = iot_kind_info((u16)kind);
	schema->tables[kind] = table;
	table->next = schema->first;
	schema->first = table;
	*current = table;
	return table->name ? 0 : -ENOMEM;
}

static int parse_field(struct table *table, const char *line)
{
	struct column *column;
	char type[8], name[64];

	if (!table || table->column_count == FIELDS_MAX ||
	    sscanf(line, "field %7s %63s", type, name) != 2)
		return -EBADMSG;
	column = &table->columns[table->column_count++];
	column->is_signed = type[0] == 's';
	if (!strcmp(type + 1, "64"))
		column->bytes = 8;
	else if (!strcmp(type + 1, "32"))
		column->bytes = 4;
	else
		return -EBADMSG;
	column->field = field_by_name(table->info, present_name(table->kind, name));
	return 0;
}

/* Are the fields that both know at the same offsets, so that the ordinary decoder can be used? */
static bool is_prefix(const struct table *table)
{
	u32 i;

	if (!table->info)
		return false;
	for (i = 0; i < table->column_count && i < table->info->field_count; i++)
		if (table->columns[i].field != &table->info->fields[i] ||
		    table->columns[i].bytes != iot_wire_type_bytes(table->info->fields[i].type))
			return false;
	return true;
}

static int parse_lines(struct iot_schema *schema, char *text)
{
	struct table *current = NULL;
	char *line, *rest = text;
	int err = 0;

	while (!err && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "record ", 7))
			err = parse_record(schema, line, &current);
		else if (!strncmp(line, "field ", 6))
			err = parse_field(current, line);
	}
	return err;
}

/**
 * iot_schema_parse() - tables of a writer from text
 * @text: the text, not trusted, not ended by a zero byte
 * @bytes: its length
 * @schema: out: the tables, to be freed by iot_schema_free()
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int iot_schema_parse(const char *text, size_t bytes, struct iot_schema **schema)
{
	struct iot_schema *s = calloc(1, sizeof(*s));
	char *copy = strndup(text, bytes);
	struct table *table;
	int err = -ENOMEM;

	if (s)
		s->tables = calloc(KINDS_MAX, sizeof(struct table *));
	if (s && s->tables && copy)
		err = parse_lines(s, copy);
	free(copy);
	if (err) {
		iot_schema_free(s);
		return err;
	}
	for (table = s->first; table; table = table->next)
		table->is_prefix = is_prefix(table);
	*schema = s;
	return 0;
}

/**
 * iot_schema_free() - forget the tables of a writer; NULL is allowed
 */
void iot_schema_free(struct iot_schema *schema)
{
	struct table *table, *next;

	for (table = schema ? schema->first : NULL; table; table = next) {
		next = table->next;
		free(table->name);
		free(table);
	}
	if (schema)
		free(schema->tables);
	free(schema);
}

/**
 * iot_schema_kind_name() - how the writer called a kind
 *
 * Return: the name, NULL if the writer did not say.
 */
const char *iot_schema_kind_name(const struct iot_schema *schema, u16 kind)
{
	return schema->tables[kind] ? schema->tables[kind]->name : NULL;
}

static u64 column_get(const struct column *column, const u8 *p)
{
	if (column->bytes == 8)
		return iot_get_u64(p);
	return column->is_signed ? (u64)(s64)iot_get_s32(p) : iot_get_u32(p);
}

/**
 * iot_schema_translate() - read the fields of a record as its writer meant them
 * @schema: of the writer
 * @buffer: the record on the wire
 * @record: as iot_record_decode() filled it in; its fields are set again, by name, if
 *	the writer had them in other places than we do
 */
void iot_schema_translate(const struct iot_schema *schema, const void *buffer,
			  struct iot_record *record)
{
	const struct table *table = schema->tables[record->kind];
	const u8 *p = (const u8 *)buffer + IOT_RECORD_HEAD_BYTES;
	u32 i;

	if (!table || table->is_prefix || !table->info)
		return;
	for (i = 0; i < table->info->field_count; i++)
		iot_field_set(record, &table->info->fields[i], 0);
	for (i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		if (p + column->bytes > record->tail)
			break;
		if (column->field)
			iot_field_set(record, column->field, column_get(column, p));
		p += column->bytes;
	}
}

/* Of our fields, in our order: a bit for each whose end is beyond @room_bytes. */
static u64 absent_in_order(const struct iot_kind_info *info, u32 room_bytes)
{
	u64 absent = 0;
	u32 i, end_bytes = 0;

	for (i = 0; i < info->field_count; i++) {
		end_bytes += iot_wire_type_bytes(info->fields[i].type);
		if (end_bytes > room_bytes)
			absent |= 1ull << i;
	}
	return absent;
}

/**
 * iot_schema_absent() - fields that a record lacks, because its writer did not know them or because it is cut
 * @schema: of the writer
 * @record: as iot_record_decode() filled it in, of a kind that we know
 *
 * Return: a bit for each field by its index in the kind. Such fields read as 0.
 */
u64 iot_schema_absent(const struct iot_schema *schema, const struct iot_record *record)
{
	const struct iot_kind_info *info = iot_kind_info(record->kind);
	const struct table *table = schema->tables[record->kind];
	u32 room_bytes = record->length_bytes - IOT_RECORD_HEAD_BYTES - record->tail_bytes, end_bytes = 0, i;
	u64 absent;

	if (!table || !table->info || table->is_prefix)
		return absent_in_order(info, room_bytes);
	absent = absent_in_order(info, 0);
	for (i = 0; i < table->column_count; i++) {
		end_bytes += table->columns[i].bytes;
		if (table->columns[i].field && end_bytes <= room_bytes)
			absent &= ~(1ull << (table->columns[i].field - info->fields));
	}
	return absent;
}
