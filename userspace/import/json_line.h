/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json_line.h - an object of JSON on one line, in place. For formats of JSON lines.
 */
#ifndef IMPORT_JSON_LINE_H
#define IMPORT_JSON_LINE_H

#include "lib/iotape.h"

#define JSON_MEMBERS_MAX 64

/**
 * struct json_member - a member of an object
 * @key: without escapes
 * @value: without escapes, if it is a string; else the text of it
 * @is_object: it is an object, for another json_object()
 */
struct json_member {
	char *key;
	char *value;
	bool is_object;
};

int json_object(char *line, struct json_member *members);
const char *json_find(const struct json_member *members, int count, const char *key);

#endif
