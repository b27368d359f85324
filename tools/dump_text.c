// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump_text.c - a line of text for a record.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dump.h"

/**
 * dump_has_result() - does a record of this kind begin with the fields of an operation?
 */
bool dump_has_result(const struct iot_kind_info *info)
{
	return iot_kind_is_span(info) && info->group != IOT_GROUP_life;
}

/**
 * dump_put_time() - print the time of a record by the clock of the view
 */
void dump_put_time(const struct dump_view *view, const struct iot_record *record, const struct iot_kind_info *info)
{
	u64 time_ns = iot_field_get(record, &info->fields[0]), real_ns;
	s64 since_ns = (s64)(time_ns - view->origin_ns);
	struct tm tm;
	time_t seconds;
	char text[32];

	if (view->clock == DUMP_CLOCK_RELATIVE) {
		printf("%.6f", (double)since_ns / 1e9);
		return;
	}
	if (view->clock == DUMP_CLOCK_MONOTONIC) {
		printf("%llu.%06llu", time_ns / 1000000000, time_ns % 1000000000 / 1000);
		return;
	}
	real_ns = view->real_ns + (u64)since_ns;
	seconds = (time_t)(real_ns / 1000000000);
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	printf("%s.%06lluZ", text, real_ns % 1000000000 / 1000);
}

/**
 * dump_put_path() - print the path of an operation, "?" if it is not known
 */
void dump_put_path(struct iot_names *names, const struct iot_record *record)
{
	struct iot_label label = iot_names_of_record(names, record);
	char escaped[4 * IOT_PROGRAM_PATH_MAX + 1];

	iot_text_bytes(escaped, sizeof(escaped), label.path, strlen(label.path));
	fputs(label.path[0] ? escaped : "?", stdout);
	if (label.generation > 1)
		printf("#%u", label.generation);
}

/**
 * dump_put_value() - print the value of a field
 */
void dump_put_value(struct iot_names *names, const struct iot_record *record, const struct iot_field *field)
{
	char text[1024], escaped[4 * IOT_PROGRAM_PATH_MAX + 1];
	const char *path;

	if (field->class == IOT_CLASS_name) {
		path = iot_names_path(names, iot_field_get(record, field));
		iot_text_bytes(escaped, sizeof(escaped), path, strlen(path));
		fputs(escaped, stdout);
		return;
	}
	iot_text_field(text, sizeof(text), record, field);
	fputs(text, stdout);
}

/* At the beginning of the line, or in the path. */
static bool is_shown_elsewhere(const struct iot_kind_info *info, const struct iot_field *field)
{
	if (field == &info->fields[0] || !strcmp(field->name, "task"))
		return true;
	return dump_has_result(info) && !strcmp(field->name, "op");
}

/**
 * dump_put_fields() - print the fields that have no column of their own, each after a blank
 */
void dump_put_fields(struct iot_names *names, const struct iot_record *record, const struct iot_kind_info *info)
{
	u32 i;

	for (i = 0; i < info->field_count; i++) {
		if (is_shown_elsewhere(info, &info->fields[i]))
			continue;
		printf(" %s=", info->fields[i].name);
		dump_put_value(names, record, &info->fields[i]);
	}
}

/**
 * dump_put_tail() - print the text of a record
 */
void dump_put_tail(const struct iot_record *record)
{
	char escaped[4 * IOT_TAIL_MAX_BYTES + 4];

	iot_text_tail(escaped, sizeof(escaped), record);
	fputs(escaped, stdout);
}

/**
 * dump_frames() - the function calls from which an operation was made, without those in the C library that end in it
 * @frames: out: the innermost first
 *
 * Return: their number, 0 if they are not known.
 */
u32 dump_frames(const struct dump_view *view, const struct iot_record *record, const struct symbols_frame **frames)
{
	u32 count = 0;

	if (!view->symbols || symbols_frames(view->symbols, record, frames, &count))
		return 0;
	while (count && (*frames)->is_of_libc) {
		++*frames;
		count--;
	}
	return count;
}

/**
 * dump_put_frame() - print a function call as a word
 */
void dump_put_frame(const struct symbols_frame *frame)
{
	char text[SYMBOLS_TEXT_BYTES], escaped[4 * SYMBOLS_TEXT_BYTES];

	symbols_frame_text(frame, text);
	iot_text_bytes(escaped, sizeof(escaped), text, strlen(text));
	fputs(escaped, stdout);
}

static void put_frames(const struct dump_view *view, const struct iot_record *record)
{
	const struct symbols_frame *frames;
	u32 i, count = dump_frames(view, record, &frames);

	for (i = 0; i < count; i++) {
		fputs(i ? "<" : " called_from=", stdout);
		dump_put_frame(&frames[i]);
	}
}

/**
 * dump_text() - print a record as a line
 */
void dump_text(const struct dump_view *view, struct iot_names *names, const struct iot_record *record,
	       const struct iot_kind_info *info)
{
	dump_put_time(view, record, info);
	printf(" %u", iot_record_task(record));
	if (dump_has_result(info))
		printf(" %u", record->op.op);
	else
		printf(" -");
	printf(" %s", info->name);
	if (info->group == IOT_GROUP_op) {
		putchar(' ');
		dump_put_path(names, record);
	}
	dump_put_fields(names, record, info);
	put_frames(view, record);
	if (record->tail_bytes) {
		putchar(' ');
		dump_put_tail(record);
	}
	putchar('\n');
}
