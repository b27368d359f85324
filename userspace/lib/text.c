// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * text.c - fields of records as text, by the field table; names of files as text.
 */
#include "iotape.h"

#include <stdarg.h>

/* Return: length of the text, which is cut if there is no room for more. */
static size_t __attribute__((format(printf, 4, 5)))
append(char *text, size_t room, size_t at, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text + at, room - at, format, arguments);
	va_end(arguments);
	if (n < 0)
		return at;
	return (size_t)n < room - at ? at + (size_t)n : room - 1;
}

/* Bits by their names, and those that have none as one number. */
static size_t append_bits(char *text, size_t room, u64 value, const struct iot_symbol *symbol)
{
	size_t at = 0;

	for (; symbol->name; symbol++) {
		if (!(value & symbol->value))
			continue;
		value &= ~symbol->value;
		at = append(text, room, at, "%s%s", at ? "|" : "", symbol->name);
	}
	if (value || !at)
		at = append(text, room, at, "%s%#llx", at ? "|" : "", value);
	return at;
}

static size_t append_value(char *text, size_t room, u64 value, const struct iot_symbol *symbol)
{
	for (; symbol->name; symbol++)
		if (symbol->value == value)
			return append(text, room, 0, "%s", symbol->name);
	return append(text, room, 0, "%llu", value);
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
	size_t bytes;

	if (class.symbols && class.is_bits)
		bytes = append_bits(text, room, value, class.symbols);
	else if (class.symbols)
		bytes = append_value(text, room, value, class.symbols);
	else if (field->class == IOT_CLASS_mode)
		bytes = append(text, room, 0, "%#llo", value);
	else if (field->class == IOT_CLASS_result && iot_text_errno((s64)value))
		bytes = append(text, room, 0, "%s", iot_text_errno((s64)value));
	else if (is_signed)
		bytes = append(text, room, 0, "%lld", (s64)value);
	else
		bytes = append(text, room, 0, "%llu", value);
	return (int)bytes;
}

/**
 * iot_text_utf8() - the character that bytes begin with
 * @bytes: the bytes
 * @count: their number, at least 1
 * @character: out: the character
 *
 * Return: bytes of the character, 1 to 4; 0 if they are not UTF-8.
 */
size_t iot_text_utf8(const void *bytes, size_t count, u32 *character)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const u8 *p = bytes;
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4, i;
	u32 c = length > 1 ? p[0] & (0x7fu >> length) : p[0];

	if (!length || length > count || p[0] > 0xf4)
		return 0;
	for (i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*character = c;
	return length;
}

/* Bytes of a character that a terminal shows, or 0. */
static size_t shown_bytes(const u8 *p, size_t count)
{
	u32 c = 0;
	size_t bytes = iot_text_utf8(p, count, &c);

	return c >= ' ' && (c < 0x7f || c > 0x9f) ? bytes : 0;
}

/* All other bytes, and the characters @others, become \ooo. Return: as iot_text_bytes(). */
static int escape(char *text, size_t room, const void *bytes, size_t count, const char *others)
{
	const u8 *p = bytes, *stop = p + count;
	size_t at = 0, plain;

	while (p < stop) {
		plain = strchr(others, *p) ? 0 : shown_bytes(p, (size_t)(stop - p));
		if (at + (plain ? plain : 4) >= room)
			break;
		if (plain)
			memcpy(text + at, p, plain);
		else
			snprintf(text + at, room - at, "\\%03o", *p);
		at += plain ? plain : 4;
		p += plain ? plain : 1;
	}
	text[at] = 0;
	return (int)at;
}

/**
 * iot_text_bytes() - raw bytes, a file name for example, as one printable word
 * @text: out
 * @room: size of @text; four times @count plus one suffices
 * @bytes: the bytes
 * @count: their number
 *
 * Blanks, backslashes, control characters and bytes that are not UTF-8 become \ooo, as in
 * /proc/mounts.
 *
 * Return: length of the text, which always ends with a zero byte.
 */
int iot_text_bytes(char *text, size_t room, const void *bytes, size_t count)
{
	return escape(text, room, bytes, count, " \\");
}

/**
 * iot_text_line() - a text as one line that a terminal shows as it is
 * @line: out
 * @room: size of @line; four times the length of @text plus one suffices
 * @text: the text
 *
 * As iot_text_bytes(), but blanks and backslashes are kept.
 *
 * Return: length of the line, which always ends with a zero byte.
 */
int iot_text_line(char *line, size_t room, const char *text)
{
	return escape(line, room, text, strlen(text), "");
}

/**
 * iot_record_value() - the value in the tail of a record: of an attribute, or a build id
 * @record: of any kind
 * @bytes: out: its length; 0 if there is none
 *
 * Return: the value, behind the text of the tail and a zero byte; NULL if the tail is only a text.
 */
const u8 *iot_record_value(const struct iot_record *record, size_t *bytes)
{
	const u8 *stop = record->tail + record->tail_bytes, *end = NULL;

	*bytes = 0;
	if ((record->kind == IOT_KIND_setxattr || record->kind == IOT_KIND_code) && record->tail_bytes)
		end = memchr(record->tail, 0, record->tail_bytes);
	if (!end)
		return NULL;
	*bytes = (size_t)(stop - end - 1);
	return end + 1;
}

/**
 * iot_record_has_list() - is the tail of a record a list of ranks?
 * @record: of any kind
 */
bool iot_record_has_list(const struct iot_record *record)
{
	return record->kind == IOT_KIND_mpi_coll && (record->mpi_coll.sources == IOT_SOURCES_runs ||
						     record->mpi_coll.sources == IOT_SOURCES_bits);
}

static size_t append_list(char *text, size_t room, const struct iot_record *record)
{
	struct iot_sources_list list;
	u32 first, count;
	size_t at = 0;

	iot_sources_open(&list, record->mpi_coll.sources, record->tail, record->tail_bytes);
	text[0] = 0;
	while (iot_sources_next(&list, &first, &count)) {
		if (!count)
			continue;
		at = append(text, room, at, "%s%u", at ? "," : "", first);
		if (count > 1)
			at = append(text, room, at, "-%u", first + count - 1);
	}
	return at;
}

/**
 * iot_record_words() - the numbers in the tail of a record
 * @record: of any kind
 *
 * Return: how many 64-bit numbers the tail is, 0 if it is something else.
 */
u32 iot_record_words(const struct iot_record *record)
{
	return record->kind == IOT_KIND_stack ? record->tail_bytes / (u32)sizeof(u64) : 0;
}

/**
 * iot_record_word() - a number in the tail of a record
 * @record: with iot_record_words()
 * @index: of the number
 */
u64 iot_record_word(const struct iot_record *record, u32 index)
{
	__le64 word;

	memcpy(&word, record->tail + index * sizeof(word), sizeof(word));
	return le64_to_cpu(word);
}

/* The address, then pairs as +DISTANCE:ADDRESS, then the other addresses. */
static size_t append_words(char *text, size_t room, const struct iot_record *record)
{
	u32 count = iot_record_words(record), i;
	size_t at = 0;

	text[0] = 0;
	for (i = 0; i < count; i++) {
		bool is_pair = i && (i - 1) / 2 < record->stack.near && i + 1 < count;

		at = append(text, room, at, is_pair ? "%s+%llu:" : "%s%#llx", i ? "," : "", iot_record_word(record, i));
		if (is_pair)
			at = append(text, room, at, "%#llx", iot_record_word(record, ++i));
	}
	return at;
}

/**
 * iot_text_tail() - the tail of a record as one printable word
 * @text: where to
 * @room: room there; four times the tail and four more suffice
 * @record: of any kind
 *
 * As of iot_text_bytes(); a value follows its name as =0x and two digits for each byte. A list of
 * ranks is printed as 0-3,7, a list of addresses as 0x40,0x80, and cut if there is no room for it.
 *
 * Return: length of the text, which is always ended by a zero byte.
 */
int iot_text_tail(char *text, size_t room, const struct iot_record *record)
{
	size_t bytes, i;
	const u8 *value = iot_record_value(record, &bytes);
	int at;

	if (iot_record_has_list(record))
		return (int)append_list(text, room, record);
	if (iot_record_words(record))
		return (int)append_words(text, room, record);
	if (!value)
		return iot_text_bytes(text, room, record->tail, record->tail_bytes);
	at = iot_text_bytes(text, room, record->tail, record->tail_bytes - bytes - 1);
	if ((size_t)at + 4 > room)
		return at;
	at += snprintf(text + at, room - (size_t)at, "=0x");
	for (i = 0; i < bytes && (size_t)at + 3 <= room; i++)
		at += snprintf(text + at, room - (size_t)at, "%02x", value[i]);
	return at;
}
