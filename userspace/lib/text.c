// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * text.c - fields of records as text, by the field table.
 */

#include "iotape.h"

static int print_symbols(char *text, size_t room, u64 value, const struct iot_symbol *symbol)
{
	size_t at = 0;
	int n;

	for (; symbol->name; symbol++) {
		if (!(value & symbol->value))
			continue;
		value &= ~symbol->value;
		n = snprintf(text + at, room - at, "%s%s", at ? "|" : "", symbol->name);
		if (n < 0 || (size_t)n >= room - at)
			return (int)at;
		at += (size_t)n;
	}
	if (value || !at)
		at += (size_t)snprintf(text + at, room - at, at ? "|%#llx" : "%llx", value);
	return (int)at;
}

static int print_value(char *text, size_t room, u64 value, const struct iot_symbol *symbol)
{
	for (; symbol->name; symbol++)
		if (symbol->value == value)
			return snprintf(text, room, "%s", symbol->name);
	return snprintf(text, room, "%llu", value);
}

/**
 * iot_text_errno() - a negative errno by its name
 * @result: of an operation
 *
 * Return: the name, such as "ENOENT"; NULL if it is none.
 */
const char *iot_text_errno(s64 result)
{
	return result < 0 && result >= -4095 ? strerrorname_np((int)-result) : NULL;
}

/**
 * iot_text_field() - a field as text
 * @text: where to
 * @room: room there, at least 2
 * @record: the record
 * @field: one of its fields
 *
 * Return: length of the text, which is always ended by a zero byte.
 */
int iot_text_field(char *text, size_t room, const struct iot_record *record,
		   const struct iot_field *field)
{
	struct iot_class_info class = iot_class_info(field->class);
	u64 value = iot_field_get(record, field);
	bool is_signed = field->type == IOT_WIRE_TYPE_s32 || field->type == IOT_WIRE_TYPE_s64;

	if (class.symbols)
		return class.is_bits ? print_symbols(text, room, value, class.symbols) :
				       print_value(text, room, value, class.symbols);
	if (field->class == IOT_CLASS_mode)
		return snprintf(text, room, "0%llo", value);
	if (field->class == IOT_CLASS_result && iot_text_errno((s64)value))
		return snprintf(text, room, "%s", iot_text_errno((s64)value));
	return is_signed ? snprintf(text, room, "%lld", (s64)value) :
			   snprintf(text, room, "%llu", value);
}

/**
 * iot_text_bytes() - raw bytes, a file name for example, as one printable word
 * @text: where to
 * @room: room there; four times @count and one suffice
 * @bytes: the bytes
 * @count: their number
 *
 * What is not printable ASCII, blanks and backslashes become \ooo, as in /proc/mounts;
 * bytes that belong to UTF-8 stay.
 *
 * Return: length of the text, which is always ended by a zero byte.
 */
int iot_text_bytes(char *text, size_t room, const void *bytes, size_t count)
{
	const unsigned char *p = bytes;
	size_t at = 0, i;

	for (i = 0; i < count; i++) {
		bool is_plain = p[i] > ' ' && p[i] != '\\' && p[i] != 0x7f;

		if (at + 5 > room)
			break;
		if (is_plain)
			text[at++] = (char)p[i];
		else
			at += (size_t)snprintf(text + at, room - at, "\\%03o", p[i]);
	}
	text[at] = 0;
	return (int)at;
}
