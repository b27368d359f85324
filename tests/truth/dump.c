// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump.c - reads dumped traces: one flat JSON object per line.
 */
#include "dump.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 4096

static char *put_utf8(char *to, unsigned int code)
{
	if (code < 0x80) {
		*to++ = (char)code;
	} else if ((code & 0xff00) == 0xdc00) { /* a byte that is not UTF-8 */
		*to++ = (char)(code & 0xff);
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* Decode a string in place. Return: the position after the closing quote, or NULL. */
static char *take_string(char *p, char **text)
{
	char *to = ++p;
	char digits[5] = "";

	*text = to;
	for (; *p && *p != '"'; p++) {
		if (*p != '\\') {
			*to++ = *p;
		} else if (*++p == 'u') {
			memcpy(digits, p + 1, 4);
			to = put_utf8(to, (unsigned int)strtoul(digits, NULL, 16));
			p += 4;
		} else {
			*to++ = *p;
		}
	}
	if (!*p)
		return NULL;
	*to = 0;
	return p + 1;
}

static char *take_value(char *p, char **text)
{
	char *end;

	if (*p == '"')
		return take_string(p, text);
	end = p + strcspn(p, ",}");
	*text = strndup(p, (size_t)(end - p));
	return end;
}

static int take_line(struct record *record, char *p)
{
	char *key, *value;

	if (*p++ != '{')
		return -EINVAL;
	while (*p == '"' && record->field_count < FIELDS_MAX) {
		p = take_string(p, &key);
		if (!p || *p != ':')
			return -EINVAL;
		p = take_value(p + 1, &value);
		if (!p)
			return -EINVAL;
		record->fields[record->field_count++] = (struct field){ key, value };
		p += *p == ',';
	}
	record->kind = record_text(record, "kind");
	return *p == '}' && *record->kind ? 0 : -EINVAL;
}

/* Maps threads to tasks. A thread becomes another task at an exec. */
static void find_pids(struct dump *dump)
{
	static int pids[TASKS_MAX];
	long i;

	for (i = 0; i < dump->count; i++) {
		struct record *record = &dump->records[i];
		long task = (long)record_number(record, "task");

		if (task <= 0 || task >= TASKS_MAX)
			continue;
		if (!strcmp(record->kind, "task"))
			pids[task] = (int)record_number(record, "pid");
		record->task = task;
	}
	for (i = 0; i < dump->count; i++)
		if (dump->records[i].task)
			dump->records[i].pid = pids[dump->records[i].task];
}

/**
 * dump_read() - read a whole dump
 * @path: path of the dump
 * @dump: filled in; contains a message after an error
 *
 * Return: 0 or a negative errno.
 */
int dump_read(const char *path, struct dump *dump)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	long records_room = 0, number = 0;
	int err = 0;

	*dump = (struct dump){};
	if (!in) {
		snprintf(dump->error, sizeof(dump->error), "%s", strerror(errno));
		return -errno;
	}
	while (!err && getline(&line, &room, in) > 0) {
		struct record *record;

		number++;
		if (dump->count == records_room) {
			records_room = 2 * records_room + 1024;
			dump->records = realloc(dump->records,
						(size_t)records_room * sizeof(*dump->records));
			if (!dump->records)
				abort();
		}
		record = &dump->records[dump->count++];
		*record = (struct record){ .line = number };
		err = take_line(record, line);
		line = NULL; /* the fields point into it */
		room = 0;
		record->op = *record_text(record, "enter_ns") ? (long)record_number(record, "op") : 0;
		record->parent = (long)record_number(record, "parent");
		if (err)
			snprintf(dump->error, sizeof(dump->error), "line %ld: not a record", number);
	}
	fclose(in);
	find_pids(dump);
	return err;
}

/**
 * record_text() - a field as text, "" if the record has no field of this name
 */
const char *record_text(const struct record *record, const char *key)
{
	int i;

	for (i = 0; i < record->field_count; i++)
		if (!strcmp(record->fields[i].key, key))
			return record->fields[i].text;
	return "";
}

/**
 * record_number() - a field as a number, 0 if the record has no field of this name
 */
long long record_number(const struct record *record, const char *key)
{
	const char *text = record_text(record, key);

	return *text == '-' ? strtoll(text, NULL, 10) : (long long)strtoull(text, NULL, 10);
}
