/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h - write JSON as a stream: one value after the other, nothing kept in memory.
 *
 * File names are bytes, JSON text is not: a byte that is not part of valid UTF-8 is
 * written as the character U+DC80 to U+DCFF, as Python reads it with "surrogateescape".
 *
 * With @is_in_html, strings have no character that could end the script element around them, or that XML forbids.
 */
#ifndef IOTAPE_JSON_H
#define IOTAPE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json {
	FILE *out;
	int depth;
	bool has_item[JSON_DEPTH_MAX];
	bool is_after_key;
	bool is_in_html;
};

void json_open(struct json *json, FILE *out);
void json_begin(struct json *json, char bracket);
void json_end(struct json *json, char bracket);
void json_key(struct json *json, const char *key);
void json_text(struct json *json, const void *bytes, size_t count);
void json_string(struct json *json, const char *text);
void json_integer(struct json *json, long long value);
void json_unsigned(struct json *json, unsigned long long value);
void json_signed(struct json *json, long long value);
void json_real(struct json *json, double value);
void json_null(struct json *json);
void json_bool(struct json *json, bool value);
void json_put_unsigned(struct json *json, const char *key, unsigned long long value);
void json_put_real(struct json *json, const char *key, double value);
void json_put_null(struct json *json, const char *key);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_string(struct json *json, const char *key, const char *value);
void json_line(struct json *json);

#endif
