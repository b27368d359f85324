// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump_columns.c - chosen columns of a record.
 */
#include <stdio.h>
#include <string.h>

#include "dump.h"

enum column {
	COLUMN_TIME,
	COLUMN_LATENCY,
	COLUMN_TASK,
	COLUMN_PID,
	COLUMN_RANK,
	COLUMN_OP,
	COLUMN_KIND,
	COLUMN_PATH,
	COLUMN_SIZE,
	COLUMN_SITE,
	COLUMN_FIELDS,
	COLUMN_TEXT,
	COLUMN_END,
};

static const char *const names_of_columns[COLUMN_END] = {
	"time", "latency", "task", "pid", "rank", "op", "kind", "path", "size", "site", "fields", "text",
};

/**
 * dump_column_at() - the name of a column that is not a field, by index
 *
 * Return: the name; NULL after the last.
 */
const char *dump_column_at(size_t index)
{
	return index < COLUMN_END ? names_of_columns[index] : NULL;
}

static enum column column_find(const char *name)
{
	u32 i;

	for (i = 0; i < COLUMN_END && strcmp(names_of_columns[i], name);)
		i++;
	return (enum column)i;
}

static const struct iot_field *field_find(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

/**
 * dump_column_is_known() - is a name that of a column, or of a field of any kind?
 */
bool dump_column_is_known(const char *name)
{
	const struct iot_kind_info *info;
	size_t i;

	if (column_find(name) != COLUMN_END)
		return true;
	for (i = 0; (info = iot_kind_at(i)); i++)
		if (field_find(info, name))
			return true;
	return false;
}

/**
 * dump_columns_need_actors() - does a column need the process or rank of a task?
 */
bool dump_columns_need_actors(const struct dump_view *view)
{
	enum column column;
	u32 i;

	for (i = 0; i < view->column_count; i++) {
		column = column_find(view->columns[i]);
		if (column == COLUMN_PID || column == COLUMN_RANK)
			return true;
	}
	return false;
}

static void put_known(u32 value, bool is_known)
{
	if (is_known)
		printf("%u", value);
	else
		putchar('-');
}

static void put_actor(const struct dump_view *view, const struct iot_record *record, enum column column)
{
	const struct actor *actor = actors_find(&view->actors, iot_record_task(record));

	if (column == COLUMN_PID)
		put_known(actor ? actor->pid : 0, actor && actor->pid);
	else
		put_known(actor ? actor->rank : 0, actor && actor->rank != ACTOR_UNKNOWN);
}

static void put_site(const struct dump_view *view, const struct iot_record *record)
{
	const struct symbols_frame *frames;

	if (dump_frames(view, record, &frames))
		dump_put_frame(frames);
	else
		putchar('-');
}

static void put_field(struct iot_names *names, const struct iot_record *record, const struct iot_field *field)
{
	if (field)
		dump_put_value(names, record, field);
	else
		putchar('-');
}

static void put_column(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
		       const struct iot_kind_info *info, const char *name)
{
	enum column column = column_find(name);

	switch (column) {
	case COLUMN_TIME:
		dump_put_time(view, record, info);
		break;
	case COLUMN_LATENCY:
		put_field(names, record, field_find(info, "duration_ns"));
		break;
	case COLUMN_TASK:
		put_known(iot_record_task(record), iot_record_task(record));
		break;
	case COLUMN_PID:
	case COLUMN_RANK:
		put_actor(view, record, column);
		break;
	case COLUMN_OP:
		put_known(dump_has_result(info) ? record->op.op : 0, dump_has_result(info));
		break;
	case COLUMN_KIND:
		fputs(info->name, stdout);
		break;
	case COLUMN_PATH:
		if (info->group == IOT_GROUP_op)
			dump_put_path(names, record);
		else
			putchar('-');
		break;
	case COLUMN_SIZE:
		put_field(names, record, field_find(info, "length_bytes"));
		break;
	case COLUMN_SITE:
		put_site(view, record);
		break;
	case COLUMN_TEXT:
		if (record->tail_bytes)
			dump_put_tail(record);
		else
			putchar('-');
		break;
	default:
		put_field(names, record, field_find(info, name));
	}
}

/**
 * dump_columns() - print the columns of the view as a line, "-" for those that the record lacks
 */
void dump_columns(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
		  const struct iot_kind_info *info)
{
	u32 i;

	for (i = 0; i < view->column_count; i++) {
		if (column_find(view->columns[i]) == COLUMN_FIELDS) {
			dump_put_fields(names, record, info); /* with a blank before each */
			continue;
		}
		if (i)
			putchar(' ');
		put_column(view, names, record, info, view->columns[i]);
	}
	putchar('\n');
}
