// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - which fields an event has, and events as text.
 */
#include "event.h"

/**
 * event_field() - a field of events
 * @kind: of the event
 * @index: among the fields that are compared
 *
 * Return: the field; NULL after the last.
 */
const struct iot_field *event_field(u16 kind, u32 index)
{
	const struct iot_kind_info *info = iot_kind_info(kind);
	u32 i, n = 0;

	for (i = 0; info && i < info->field_count && n < EVENT_FIELDS_MAX; i++)
		if (iot_class_info(info->fields[i].class).is_compared && n++ == index)
			return &info->fields[i];
	return NULL;
}

/**
 * event_count_fields() - the number of fields of events of a kind
 */
u32 event_count_fields(u16 kind)
{
	u32 count = 0;

	while (event_field(kind, count))
		count++;
	return count;
}

/**
 * event_field_is_operand() - may a field differ between operations of one shape?
 *
 * Flags and the names of calls make another shape.
 */
bool event_field_is_operand(const struct iot_field *field)
{
	switch (field->class) {
	case IOT_CLASS_num:
	case IOT_CLASS_offset:
	case IOT_CLASS_bytes:
	case IOT_CLASS_result:
	case IOT_CLASS_stamp:
		return true;
	default:
		return false;
	}
}

static void print_text(FILE *out, const void *text, size_t bytes)
{
	size_t room = 4 * bytes + 1;
	char *escaped = malloc(room);

	if (!escaped)
		return;
	iot_text_bytes(escaped, room, text, bytes);
	fputs(escaped, out);
	free(escaped);
}

/**
 * event_print() - an event as a line, without its end
 */
void event_print(FILE *out, const struct event *event)
{
	static const char *const roles[] = { "generation", "handle", "comm", "request" };
	struct iot_record record = { .kind = event->kind, .tail = (const u8 *)"" };
	const struct iot_field *field;
	char text[256];
	u32 i;

	fprintf(out, "%*s%s", 2 * (int)(event->depth % 64), "", iot_kind_info(event->kind)->name);
	if (*event->path) {
		fputc(' ', out);
		print_text(out, event->path, strlen(event->path));
	}
	for (i = 0; i < event->field_count && (field = event_field(event->kind, i)); i++) {
		iot_field_set(&record, field, event->fields[i]);
		iot_text_field(text, sizeof(text), &record, field);
		fprintf(out, " %s=%s", field->name, text);
	}
	for (i = 0; i < EVENT_ROLES; i++)
		if (event->roles[i])
			fprintf(out, " %s=%llu", roles[i], (unsigned long long)event->roles[i]);
	if (*event->path2) {
		fputc(' ', out);
		print_text(out, event->path2, strlen(event->path2));
	}
	if (event->flags & EVENT_VALUE) {
		fputs(" value=", out);
		print_text(out, event->value, event->value_bytes);
	}
	for (i = 0; i < event->list_count; i++)
		fprintf(out, "%s%llu", i ? "," : " sources=", (unsigned long long)event->list[i]);
}
