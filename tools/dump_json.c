// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump_json.c - a JSON object for a record.
 *
 * Format 1 has no head, and all numbers are numbers. Format 2 begins with an object that has the version, and
 * numbers that a double cannot hold are strings.
 */
#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "json.h"

#define EXACT_MAX (1ull << 53)

/* The member "kind" of an object is the kind of its record: a field with this name has another key. */
static const char *key_of(const struct iot_field *field)
{
	return strcmp(field->name, "kind") ? field->name : "op_kind";
}

static void put_number(const struct dump_view *view, struct json *json, u64 value, bool is_signed)
{
	bool is_negative = is_signed && (s64)value < 0;
	u64 magnitude = is_negative ? 0 - value : value;
	char text[24];

	if (view->json_format < 2 || magnitude <= EXACT_MAX) {
		if (is_signed)
			json_integer(json, (s64)value);
		else
			json_unsigned(json, value);
		return;
	}
	snprintf(text, sizeof(text), "%s%llu", is_negative ? "-" : "", magnitude);
	json_string(json, text);
}

static void put_field(const struct dump_view *view, struct json *json, struct iot_names *names,
		      const struct iot_record *record, const struct iot_field *field)
{
	bool is_signed = field->type == IOT_WIRE_TYPE_s32 || field->type == IOT_WIRE_TYPE_s64;
	u64 value = iot_field_get(record, field);
	char text[1024];

	json_key(json, key_of(field));
	if (iot_class_info(field->class).symbols) {
		iot_text_field(text, sizeof(text), record, field);
		json_string(json, text);
	} else if (field->class == IOT_CLASS_name) {
		json_string(json, iot_names_path(names, value));
	} else {
		put_number(view, json, value, is_signed);
	}
}

static void put_tail(struct json *json, const struct iot_record *record)
{
	char text[4 * IOT_TAIL_MAX_BYTES + 4];
	size_t bytes;
	const u8 *value = iot_record_value(record, &bytes);

	if (!record->tail_bytes)
		return;
	json_key(json, "tail");
	if (value || iot_record_has_list(record) || iot_record_words(record)) {
		iot_text_tail(text, sizeof(text), record);
		json_string(json, text);
	} else {
		json_text(json, record->tail, record->tail_bytes);
	}
}

/* Absent if the trace has none; empty if they are not known. */
static void put_frames(const struct dump_view *view, struct json *json, const struct iot_record *record)
{
	char text[SYMBOLS_TEXT_BYTES];
	const struct symbols_frame *frames;
	u32 i, count = dump_frames(view, record, &frames);

	json_key(json, "called_from");
	json_begin(json, '[');
	for (i = 0; i < count; i++) {
		symbols_frame_text(&frames[i], text);
		json_string(json, text);
	}
	json_end(json, ']');
}

/**
 * dump_json_head() - print the object that begins format 2
 */
void dump_json_head(const struct dump_view *view, const unsigned char capture[16])
{
	struct json json;
	char id[33];
	int i;

	if (view->json_format < 2)
		return;
	for (i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02x", capture[i]);
	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "kind", "format");
	json_put_unsigned(&json, "version", view->json_format);
	json_put_string(&json, "capture", id);
	json_key(&json, "mono_ns");
	put_number(view, &json, view->origin_ns, false);
	json_key(&json, "real_ns");
	put_number(view, &json, view->real_ns, false);
	json_end(&json, '}');
	json_line(&json);
}

/**
 * dump_json() - print a record as an object on a line
 */
void dump_json(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
	       const struct iot_kind_info *info)
{
	struct iot_label label = iot_names_of_record(names, record);
	struct json json;
	u32 i;

	json_open(&json, stdout);
	json_begin(&json, '{');
	json_put_string(&json, "kind", info->name);
	if (info->group == IOT_GROUP_op) {
		json_put_string(&json, "path", label.path);
		json_put_unsigned(&json, "path_generation", label.generation);
	}
	for (i = 0; i < info->field_count; i++)
		put_field(view, &json, names, record, &info->fields[i]);
	if (view->symbols && info->group == IOT_GROUP_op)
		put_frames(view, &json, record);
	put_tail(&json, record);
	json_end(&json, '}');
	json_line(&json);
}
