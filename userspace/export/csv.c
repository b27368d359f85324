// SPDX-License-Identifier: GPL-2.0-only
/*
 * csv.c - comma-separated values as in RFC 4180, a line for each record, bytes of names as they are.
 */
#include <string.h>

#include "format.h"

/* Columns of their own; all other fields follow as name=value in the last column but one. */
static const char *const head =
	"begin_ns,duration_ns,task,pid,tgid,rank,node,op,parent,kind,path,generation,handle,offset_bytes,length_bytes,flags,"
	"result,fields,text";
static const char *const own_columns[] = { "handle", "offset_bytes", "length_bytes", "flags", "result" };

static void put_text(FILE *out, const void *text, size_t bytes)
{
	const char *p = text;
	size_t i;

	fputc('"', out);
	for (i = 0; i < bytes; i++) {
		if (p[i] == '"')
			fputc('"', out);
		fputc(p[i], out);
	}
	fputc('"', out);
}

static const struct iot_field *field_of(const struct iot_kind_info *info, const char *name)
{
	u32 i;

	for (i = 0; i < info->field_count; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

/* Results are numbers: the names of errors are those of the reader's machine. */
static void put_field(FILE *out, const struct iot_record *record, const struct iot_field *field)
{
	char text[1024];

	if (!field)
		return;
	if (field->class == IOT_CLASS_result)
		snprintf(text, sizeof(text), "%lld", (s64)iot_field_get(record, field));
	else
		iot_text_field(text, sizeof(text), record, field);
	fputs(text, out);
}

static bool is_extra(const struct iot_kind_info *info, const struct iot_field *field)
{
	static const char *const before[] = { "enter_ns", "time_ns", "duration_ns", "task", "op", "parent", "name", "object" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(before); i++)
		if (!strcmp(before[i], field->name) && (info->group == IOT_GROUP_op || i < 6))
			return false;
	for (i = 0; i < ARRAY_SIZE(own_columns); i++)
		if (!strcmp(own_columns[i], field->name))
			return false;
	return true;
}

static void put_extras(FILE *out, const struct export_event *e)
{
	const char *separator = "";
	u32 i;

	fputc('"', out);
	for (i = 0; i < e->info->field_count; i++) {
		if (!is_extra(e->info, &e->info->fields[i]))
			continue;
		fprintf(out, "%s%s=", separator, e->info->fields[i].name);
		put_field(out, e->record, &e->info->fields[i]);
		separator = " ";
	}
	fputc('"', out);
}

static void put_known(FILE *out, bool is_known, u32 value)
{
	if (is_known)
		fprintf(out, "%u", value);
	fputc(',', out);
}

static int begin(struct export *x)
{
	fprintf(x->out, "%s\r\n", head);
	return 0;
}

static void put_actor(const struct export *x, const struct export_event *e)
{
	const struct actor *a = e->actor;

	fprintf(x->out, "%u,", iot_record_task(e->record));
	put_known(x->out, a && a->pid, a ? a->pid : 0);
	put_known(x->out, a && a->tgid, a ? a->tgid : 0);
	put_known(x->out, a && a->rank != ACTOR_UNKNOWN, a ? a->rank : 0);
	if (a && a->node != ACTOR_UNKNOWN)
		put_text(x->out, x->actors.nodes[a->node], strlen(x->actors.nodes[a->node]));
	fputc(',', x->out);
}

static int take(struct export *x, const struct export_event *e)
{
	size_t i;

	fprintf(x->out, "%llu,", e->begin_ns);
	put_field(x->out, e->record, field_of(e->info, "duration_ns"));
	fputc(',', x->out);
	put_actor(x, e);
	put_field(x->out, e->record, field_of(e->info, "op"));
	fputc(',', x->out);
	put_field(x->out, e->record, field_of(e->info, "parent"));
	fprintf(x->out, ",%s,", e->info->name);
	if (*e->path)
		put_text(x->out, e->path, strlen(e->path));
	fputc(',', x->out);
	put_known(x->out, e->generation, e->generation);
	for (i = 0; i < ARRAY_SIZE(own_columns); i++) {
		put_field(x->out, e->record, field_of(e->info, own_columns[i]));
		fputc(',', x->out);
	}
	put_extras(x->out, e);
	fputc(',', x->out);
	if (e->record->tail_bytes)
		put_text(x->out, e->record->tail, e->record->tail_bytes);
	fputs("\r\n", x->out);
	return 0;
}

const struct export_format export_format_csv = {
	.name = "csv",
	.sentence = "comma-separated values, for spreadsheets and databases",
	.begin = begin,
	.take = take,
};
