// SPDX-License-Identifier: GPL-2.0-only
/*
 * json_line.c - an object of JSON on one line, in place.
 *
 * Members of members are skipped without examination, at any depth. A program that has millions of lines of
 * a few scalars needs no tree, and no memory.
 */
#include "json_line.h"

#include <ctype.h>
#include <string.h>

static char *skip_blanks(char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static bool take_hex(const char *p, u32 *code)
{
	u32 i;

	*code = 0;
	for (i = 0; i < 4; i++) {
		int c = tolower((unsigned char)p[i]);

		if (!isxdigit(c))
			return false;
		*code = *code * 16 + (u32)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

static char *put_utf8(char *to, u32 code)
{
	if (code < 0x80) {
		*to++ = (char)code;
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

/*
 * A string, unescaped in place; halves of surrogate pairs stay as they are.
 * @p: behind the opening quote. Return: behind the closing one; NULL if there is none.
 */
static char *take_string(char *p)
{
	static const char names[] = "n\nt\tr\rb\bf\f";
	char *to = p;

	while (*p && *p != '"') {
		const char *name;
		u32 code;

		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p++;
		if (*p == 'u') {
			if (!take_hex(p + 1, &code) || !code)
				return NULL;
			to = put_utf8(to, code);
			p += 5;
			continue;
		}
		if (!*p)
			return NULL;
		name = isalpha((unsigned char)*p) ? strchr(names, *p) : NULL;
		*to++ = name ? name[1] : *p;
		p++;
	}
	if (!*p)
		return NULL;
	*to = 0;
	return p + 1;
}

/* Behind an object or a list, whatever is in it. */
static char *skip_nested(char *p)
{
	u32 depth = 0;

	for (; *p; p++) {
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++)
				if (*p == '\\' && p[1])
					p++;
			if (!*p)
				return NULL;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if ((*p == '}' || *p == ']') && !--depth) {
			return p + 1;
		}
	}
	return NULL;
}

/* Return: behind the value; NULL if it is none. */
static char *take_value(char *p, struct json_member *member, char **end)
{
	*end = NULL;
	if (*p == '"') {
		member->value = p + 1;
		return take_string(p + 1);
	}
	member->value = p;
	member->is_object = *p == '{';
	if (*p == '{' || *p == '[')
		p = skip_nested(p);
	else
		p += strcspn(p, ",} \t");
	*end = p; /* to be terminated after the following character was examined */
	return p && p > member->value ? p : NULL;
}

/**
 * json_object() - take an object apart
 * @line: its text; is changed. Text after the object is ignored
 * @members: out: room for JSON_MEMBERS_MAX; others are skipped
 *
 * Return: their number; -1 if the text is not a whole object.
 */
int json_object(char *line, struct json_member *members)
{
	char *p = skip_blanks(line);
	int count = 0;

	if (*p++ != '{')
		return -1;
	p = skip_blanks(p);
	if (*p == '}')
		return 0;
	for (;;) {
		struct json_member member = {};
		char *end, next;

		if (*p != '"')
			return -1;
		member.key = p + 1;
		p = take_string(p + 1);
		if (!p)
			return -1;
		p = skip_blanks(p);
		if (*p != ':')
			return -1;
		p = take_value(skip_blanks(p + 1), &member, &end);
		if (!p)
			return -1;
		p = skip_blanks(p);
		next = *p;
		if (end)
			*end = 0;
		if (next != ',' && next != '}')
			return -1;
		if (count < JSON_MEMBERS_MAX)
			members[count++] = member;
		if (next == '}')
			return count;
		p = skip_blanks(p + 1);
	}
}

/**
 * json_find() - the value of a member
 *
 * Return: NULL if there is none.
 */
const char *json_find(const struct json_member *members, int count, const char *key)
{
	int i;

	for (i = 0; i < count; i++)
		if (!strcmp(members[i].key, key))
			return members[i].value;
	return NULL;
}
