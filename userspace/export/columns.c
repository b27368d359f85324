// SPDX-License-Identifier: GPL-2.0-only
/*
 * columns.c - the columns of formats that are tables: one definition for all of these formats.
 */
#include <string.h>

#include "columns.h"

static bool number(struct export_value *value, bool is_known, u64 n)
{
	value->number = n;
	return is_known;
}

static bool text(struct export_value *value, const void *bytes, size_t count)
{
	value->text = bytes;
	value->bytes = count;
	return count > 0;
}

static bool get_begin(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return number(value, true, e->begin_ns);
}

static bool get_task(const struct export *x, const struct export_event *e, struct export_value *value)
{
	u32 task = iot_record_task(e->record);

	(void)x;
	return number(value, task, task);
}

static bool get_pid(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return e->actor && number(value, e->actor->pid, e->actor->pid);
}

static bool get_tgid(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return e->actor && number(value, e->actor->tgid, e->actor->tgid);
}

static bool get_rank(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return e->actor && number(value, e->actor->rank != ACTOR_UNKNOWN, e->actor->rank);
}

static bool get_node(const struct export *x, const struct export_event *e, struct export_value *value)
{
	const char *name;

	if (!e->actor || e->actor->node == ACTOR_UNKNOWN)
		return false;
	name = x->actors.nodes[e->actor->node];
	text(value, name, strlen(name));
	return true;
}

static bool get_kind(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return text(value, e->info->name, strlen(e->info->name));
}

static bool get_path(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return text(value, e->path, strlen(e->path));
}

static bool get_generation(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return number(value, e->generation, e->generation);
}

static bool get_tail(const struct export *x, const struct export_event *e, struct export_value *value)
{
	(void)x;
	return text(value, e->record->tail, e->record->tail_bytes);
}

static bool get_fields(const struct export *x, const struct export_event *e, struct export_value *value);

static const struct export_column columns[] = {
	{ "begin_ns", EXPORT_COLUMN_UNSIGNED, .get = get_begin },
	{ "duration_ns", EXPORT_COLUMN_UNSIGNED, "duration_ns" },
	{ "task", EXPORT_COLUMN_UNSIGNED, .get = get_task },
	{ "pid", EXPORT_COLUMN_UNSIGNED, .get = get_pid },
	{ "tgid", EXPORT_COLUMN_UNSIGNED, .get = get_tgid },
	{ "rank", EXPORT_COLUMN_UNSIGNED, .get = get_rank },
	{ "node", EXPORT_COLUMN_TEXT, .get = get_node },
	{ "op", EXPORT_COLUMN_UNSIGNED, "op" },
	{ "parent", EXPORT_COLUMN_UNSIGNED, "parent" },
	{ "kind", EXPORT_COLUMN_WORD, .get = get_kind },
	{ "path", EXPORT_COLUMN_TEXT, .get = get_path },
	{ "generation", EXPORT_COLUMN_UNSIGNED, .get = get_generation },
	{ "handle", EXPORT_COLUMN_UNSIGNED, "handle" },
	{ "offset_bytes", EXPORT_COLUMN_SIGNED, "offset_bytes" },
	{ "length_bytes", EXPORT_COLUMN_UNSIGNED, "length_bytes" },
	{ "flags", EXPORT_COLUMN_WORD, "flags" },
	{ "result", EXPORT_COLUMN_SIGNED, "result" },
	{ "fields", EXPORT_COLUMN_TEXT, .get = get_fields },
	{ "text", EXPORT_COLUMN_TEXT, .get = get_tail },
};

/* -- fields ------------------------------------------------------------------------------------------- */

/* Fields whose meaning another column has. */
static bool has_other_column(const struct iot_kind_info *info, const struct iot_field *field)
{
	static const char *const always[] = { "enter_ns", "time_ns", "duration_ns", "task", "op", "parent" };
	static const char *const of_operations[] = { "name", "object" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(always); i++)
		if (!strcmp(always[i], field->name))
			return true;
	for (i = 0; i < ARRAY_SIZE(of_operations); i++)
		if (info->group == IOT_GROUP_op && !strcmp(of_operations[i], field->name))
			return true;
	return false;
}

static bool has_column(const struct iot_field *field)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (columns[i].field && !strcmp(columns[i].field, field->name))
			return true;
	return false;
}

/* All other fields, as name=value. */
static bool get_fields(const struct export *x, const struct export_event *e, struct export_value *value)
{
	const struct iot_field *field;
	size_t at = 0;
	u32 i;

	(void)x;
	value->room[0] = 0;
	for (i = 0; i < e->info->field_count; i++) {
		field = &e->info->fields[i];
		if (has_other_column(e->info, field) || has_column(field) || at + strlen(field->name) + 4 > sizeof(value->room))
			continue;
		at += (size_t)sprintf(value->room + at, "%s%s=", at ? " " : "", field->name);
		at += (size_t)iot_text_field(value->room + at, sizeof(value->room) - at, e->record, field);
	}
	text(value, value->room, at);
	return true;
}

static const struct iot_field *field_of(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

/* A handle of 0 is none, or not known; an imported log has the duration of the first operation of each system call only. */
static bool is_known(const struct export *x, const struct export_event *e, const struct iot_field *field, u64 n)
{
	if (field->class == IOT_CLASS_handle)
		return n;
	if (!strcmp(field->name, "duration_ns") && x->actors.is_imported && e->info->group == IOT_GROUP_op)
		return n;
	return true;
}

/* -- for formats -------------------------------------------------------------------------------------- */

/**
 * export_column_at() - a column by its index
 *
 * Return: the column; NULL after the last.
 */
const struct export_column *export_column_at(size_t index)
{
	return index < ARRAY_SIZE(columns) ? &columns[index] : NULL;
}

/**
 * export_column_value() - the value of an event in a column
 * @x: the export
 * @e: the event
 * @column: of export_column_at()
 * @value: out; texts may point into the event
 *
 * Results are numbers: the names of errors are those of the reader's machine.
 *
 * Return: is it known, and does the kind of the event have it? If not, @value is undefined.
 */
bool export_column_value(const struct export *x, const struct export_event *e, const struct export_column *column,
			 struct export_value *value)
{
	const struct iot_field *field;

	if (!column->field)
		return column->get(x, e, value);
	field = field_of(e->info, column->field);
	if (!field)
		return false;
	if (column->type == EXPORT_COLUMN_WORD)
		return text(value, value->room, (size_t)iot_text_field(value->room, sizeof(value->room), e->record, field));
	value->number = iot_field_get(e->record, field);
	return is_known(x, e, field, value->number);
}
