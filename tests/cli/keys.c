// SPDX-License-Identifier: GPL-2.0-only
/*
 * keys.c - read JSON values from standard input, and refuse invalid JSON, and an object with a
 * duplicate key: most readers keep one of the two values, and the choice is theirs.
 *
 *	keys	exit code 0, and the number of objects is printed; or 1, and a sentence with the line
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define KEYS_MAX  4096
#define KEY_BYTES 256

/* The keys of an object that has begun. */
struct object {
	char keys[KEYS_MAX][KEY_BYTES];
	int count;
};

static struct object *objects[DEPTH_MAX];
static unsigned long line = 1, total;

static void refuse(const char *what, const char *detail)
{
	printf("line %lu: %s%s\n", line, what, detail);
	exit(1);
}

static int next(void)
{
	int c = getchar();

	if (c == '\n')
		line++;
	return c;
}

static int peek(void)
{
	int c = getchar();

	ungetc(c, stdin);
	return c;
}

static void skip_blanks(void)
{
	while (peek() == ' ' || peek() == '\n' || peek() == '\t')
		next();
}

static void expect(const char *text)
{
	for (; *text; text++)
		if (next() != *text)
			refuse("not what JSON has here: ", text);
}

/* Escapes stay as they are: the writer always escapes a character in the same way. */
static void read_string(char text[KEY_BYTES])
{
	size_t bytes = 0;
	int c;

	expect("\"");
	while ((c = next()) != '"') {
		if (c == EOF || c < ' ')
			refuse("a string that is not ended", "");
		if (bytes < KEY_BYTES - 1)
			text[bytes++] = (char)c;
		if (c != '\\')
			continue;
		c = next();
		if (!strchr("\"\\/bfnrtu", c))
			refuse("an escape that JSON does not have", "");
		if (bytes < KEY_BYTES - 1)
			text[bytes++] = (char)c;
	}
	text[bytes] = 0;
}

static void add_key(struct object *object, const char *key)
{
	int i;

	for (i = 0; i < object->count; i++)
		if (!strcmp(object->keys[i], key))
			refuse("a key is there twice: ", key);
	if (object->count == KEYS_MAX)
		refuse("an object with too many keys: ", key);
	strcpy(object->keys[object->count++], key);
}

static void read_value(int depth);

static void read_member(int depth)
{
	char key[KEY_BYTES];

	skip_blanks();
	read_string(key);
	add_key(objects[depth], key);
	skip_blanks();
	expect(":");
	read_value(depth + 1);
}

/* The text between brackets, with commas. */
static void read_items(int depth, char end)
{
	bool is_object = end == '}';

	next();
	skip_blanks();
	if (peek() == end) {
		next();
		return;
	}
	for (;;) {
		if (is_object)
			read_member(depth);
		else
			read_value(depth + 1);
		skip_blanks();
		if (peek() == end)
			break;
		expect(",");
	}
	next();
}

static void read_object(int depth)
{
	if (!objects[depth])
		objects[depth] = malloc(sizeof(struct object));
	if (!objects[depth])
		refuse("no memory", "");
	objects[depth]->count = 0;
	read_items(depth, '}');
	total++;
}

static void read_number(void)
{
	char text[64], *end;
	size_t bytes = 0;

	while (peek() != EOF && strchr("+-.eE0123456789", peek()) && bytes < sizeof(text) - 1)
		text[bytes++] = (char)next();
	text[bytes] = 0;
	strtod(text, &end);
	if (!bytes || *end)
		refuse("a number that is none: ", text);
}

static void read_value(int depth)
{
	char text[KEY_BYTES];

	if (depth == DEPTH_MAX)
		refuse("nested too deep", "");
	skip_blanks();
	switch (peek()) {
	case '{':
		read_object(depth);
		break;
	case '[':
		read_items(depth, ']');
		break;
	case '"':
		read_string(text);
		break;
	case 't':
		expect("true");
		break;
	case 'f':
		expect("false");
		break;
	case 'n':
		expect("null");
		break;
	default:
		read_number();
	}
}

int main(void)
{
	for (skip_blanks(); peek() != EOF; skip_blanks())
		read_value(0);
	printf("%lu objects\n", total);
	return !total;
}
