// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - which fields an event has, and events as text.
 */
#include "event.h"

#define CLASS_BIT(class) ((u64)1 << IOT_CLASS_##class)

_Static_assert(IOT_CLASS_END <= 64, "classes are bits of a mask");

/* Classes of the fields that are compared, as a mask: each operation needs them several times. */
static const u64 compared_classes = 0
#define COMPARED_BIT(class, is_compared, sentence) | (is_compared ? CLASS_BIT(class) : 0)
	IOT_CLASSES(COMPARED_BIT)
#undef COMPARED_BIT
	;

/* Flags and the names of calls make another shape. */
static const u64 operand_classes = CLASS_BIT(num) | CLASS_BIT(offset) | CLASS_BIT(bytes) | CLASS_BIT(result) | CLASS_BIT(stamp);

/**
 * event_fields() - all fields of events of a kind
 * @kind: of the events
 * @fields: out: those that are compared, in order
 *
 * Return: their number.
 */
u32 event_fields(u16 kind, const struct iot_field *fields[EVENT_FIELDS_MAX])
{
	const struct iot_kind_info *info = iot_kind_info(kind);
	u32 i, count = 0;

	for (i = 0; info && i < info->field_count && count < EVENT_FIELDS_MAX; i++)
		if (compared_classes >> info->fields[i].class & 1)
			fields[count++] = &info->fields[i];
	return count;
}

/**
 * event_field() - a field of events
 * @kind: of the event
 * @index: among the fields that are compared
 *
 * Return: the field; NULL after the last.
 */
const struct iot_field *event_field(u16 kind, u32 index)
{
	const struct iot_field *fields[EVENT_FIELDS_MAX];

	return index < event_fields(kind, fields) ? fields[index] : NULL;
}

/**
 * event_count_fields() - the number of fields of events of a kind
 */
u32 event_count_fields(u16 kind)
{
	const struct iot_field *fields[EVENT_FIELDS_MAX];

	return event_fields(kind, fields);
}

/**
 * event_count_late_fields() - the number of fields that patterns have had only since a later version
 * @kind: of the events
 *
 * They are behind all others, and no operands. A pattern in which they are all 0 is the same as ever.
 */
u32 event_count_late_fields(u16 kind)
{
	return kind == IOT_KIND_mpi_file ? 1 : 0; /* whence */
}

/**
 * event_has_late_fields() - is one of these fields not 0?
 */
bool event_has_late_fields(const struct event *event)
{
	u32 i;

	for (i = 1; i <= event_count_late_fields(event->kind) && i <= event->field_count; i++)
		if (event->fields[event->field_count - i])
			return true;
	return false;
}

/**
 * event_field_is_operand() - may a field differ between operations of one shape?
 */
bool event_field_is_operand(const struct iot_field *field)
{
	return operand_classes >> field->class & 1;
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
	static const char *const roles[] = { "generation", "handle", "comm", "request", "map", "to_handle" };
	struct iot_record record = { .kind = event->kind, .tail = (const u8 *)"" };
	const struct iot_field *field;
	u32 late = event_count_late_fields(event->kind), i;
	char text[256];

	fprintf(out, "%*s%s", 2 * (int)(event->depth % 64), "", iot_kind_info(event->kind)->name);
	if (*event->path) {
		fputc(' ', out);
		print_text(out, event->path, strlen(event->path));
	}
	if (event_has_late_fields(event))
		late = 0;
	for (i = 0; i < event->field_count - late && (field = event_field(event->kind, i)); i++) {
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
