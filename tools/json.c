// SPDX-License-Identifier: GPL-2.0-only
/*
 * json.c - the JSON writer.
 */
#include "json.h"

#include <math.h>
#include <string.h>

#include "lib/iotape.h"

/**
 * json_open() - begin a stream of values
 */
void json_open(struct json *json, FILE *out)
{
	*json = (struct json){ .out = out };
}

static void separate(struct json *json)
{
	if (!json->is_after_key && json->depth && json->has_item[json->depth])
		fputc(',', json->out);
	json->has_item[json->depth] = true;
	json->is_after_key = false;
}

/**
 * json_begin() - begin an object or an array: @bracket is '{' or '['
 */
void json_begin(struct json *json, char bracket)
{
	separate(json);
	fputc(bracket, json->out);
	json->has_item[++json->depth] = false;
}

/**
 * json_end() - end it: @bracket is '}' or ']'
 */
void json_end(struct json *json, char bracket)
{
	json->depth--;
	fputc(bracket, json->out);
}

/* '<' and so on; line separators of older JavaScript; two code points that are not characters. */
static bool is_for_html(uint32_t c)
{
	return c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029 || c == 0xfffe || c == 0xffff;
}

/**
 * json_text() - a string of any bytes
 */
void json_text(struct json *json, const void *bytes, size_t count)
{
	const unsigned char *p = bytes;
	uint32_t c;
	size_t n;

	separate(json);
	fputc('"', json->out);
	for (; count; p += n, count -= n) {
		n = iot_text_utf8(p, count, &c);
		if (!n) {
			fprintf(json->out, "\\udc%02x", *p);
			n = 1;
		} else if (c == '"' || c == '\\') {
			fprintf(json->out, "\\%c", *p);
		} else if (c < ' ' || (c >= 0x7f && c <= 0x9f) || (json->is_in_html && is_for_html(c))) {
			fprintf(json->out, "\\u%04x", c);
		} else {
			fwrite(p, 1, n, json->out);
		}
	}
	fputc('"', json->out);
}

void json_string(struct json *json, const char *text)
{
	json_text(json, text, strlen(text));
}

/**
 * json_key() - name of the next value, inside an object
 */
void json_key(struct json *json, const char *key)
{
	json_string(json, key);
	fputc(':', json->out);
	json->is_after_key = true;
}

void json_integer(struct json *json, long long value)
{
	separate(json);
	fprintf(json->out, "%lld", value);
}

void json_unsigned(struct json *json, unsigned long long value)
{
	separate(json);
	fprintf(json->out, "%llu", value);
}

void json_signed(struct json *json, long long value)
{
	separate(json);
	fprintf(json->out, "%lld", value);
}

/**
 * json_real() - write a number; NAN becomes null
 */
void json_real(struct json *json, double value)
{
	separate(json);
	if (isfinite(value))
		fprintf(json->out, "%.9g", value);
	else
		fputs("null", json->out);
}

/**
 * json_null() - a value that is not known
 */
void json_null(struct json *json)
{
	separate(json);
	fputs("null", json->out);
}

void json_bool(struct json *json, bool value)
{
	separate(json);
	fputs(value ? "true" : "false", json->out);
}

/* A key and its value. */
void json_put_unsigned(struct json *json, const char *key, unsigned long long value)
{
	json_key(json, key);
	json_unsigned(json, value);
}

void json_put_real(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_real(json, value);
}

void json_put_null(struct json *json, const char *key)
{
	json_key(json, key);
	json_null(json);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_put_string(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

/**
 * json_line() - end a line, between values of the outermost level
 */
void json_line(struct json *json)
{
	fputc('\n', json->out);
}
