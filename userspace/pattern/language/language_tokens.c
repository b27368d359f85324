// SPDX-License-Identifier: GPL-2.0-only
/*
 * language_tokens.c - the words of the text of a pattern. Nothing in the text is trusted.
 */
#include <ctype.h>
#include <stdarg.h>

#include "language.h"

#define CHUNK_BYTES 65536

/* A piece of the memory of a program. */
struct chunk {
	struct chunk *next;
	size_t used;
	size_t room;
	char bytes[];
};

/**
 * reader_allocate() - zeroed memory that lives as long as the program
 *
 * Return: NULL if out of memory: then the reader has failed.
 */
void *reader_allocate(struct reader *r, size_t bytes)
{
	struct chunk *chunk = r->program->memory;
	void *memory;

	bytes = (bytes + 15) / 16 * 16;
	if (!chunk || chunk->room - chunk->used < bytes) {
		size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + 16 + room);
		if (!chunk) {
			r->is_out_of_memory = r->is_failed = true;
			r->token.type = TOKEN_END;
			return NULL;
		}
		chunk->room = room;
		chunk->used = (16 - (uintptr_t)chunk->bytes % 16) % 16;
		chunk->room += chunk->used;
		chunk->next = r->program->memory;
		r->program->memory = chunk;
	}
	memory = chunk->bytes + chunk->used;
	chunk->used += bytes;
	return memory;
}

/**
 * language_free_program() - free a program; NULL is allowed
 */
void language_free_program(struct language_program *program)
{
	struct chunk *chunk, *next;

	if (!program)
		return;
	for (chunk = program->memory; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(program->distributions);
	free(program);
}

/**
 * reader_fail() - state an error; only the first one counts
 * @place: where it is
 * @format: the sentence
 */
void reader_fail(struct reader *r, struct language_place place, const char *format, ...)
{
	va_list arguments;
	char text[400];

	if (r->is_failed)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	snprintf(r->refusal->text, sizeof(r->refusal->text), "%u:%u: %s", place.line, place.column, text);
	r->is_failed = true;
	r->token.type = TOKEN_END;
}

/* A part of the text that may be printed. */
static const char *quote(const struct reader *r, char quoted[160])
{
	char text[120];

	switch (r->token.type) {
	case TOKEN_END:
		return "the end of the text";
	case TOKEN_LINE:
		return "the end of the line";
	default:
		iot_text_bytes(text, sizeof(text), r->token.text, r->token.bytes > 25 ? 25 : r->token.bytes);
		snprintf(quoted, 160, "'%s%s'", text, r->token.bytes > 25 ? "..." : "");
		return quoted;
	}
}

/**
 * reader_fail_at_token() - state that something else is expected than the next token
 * @expected: the other thing
 */
void reader_fail_at_token(struct reader *r, const char *expected)
{
	char quoted[160];

	reader_fail(r, r->token.place, "expected %s, not %s", expected, quote(r, quoted));
}

static bool is_word(char c, bool is_first)
{
	return isalpha((unsigned char)c) || c == '_' || (!is_first && isdigit((unsigned char)c));
}

static void take(struct reader *r, enum token_type type, size_t bytes)
{
	r->token.type = type;
	r->token.bytes = bytes;
	r->at += bytes;
}

/* Blanks, and comments without the end of their line. */
static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
		r->at++;
	if (r->at < r->end && *r->at == '#')
		while (r->at < r->end && *r->at != '\n')
			r->at++;
}

static void take_text(struct reader *r)
{
	const char *at = r->at + 1;

	while (at < r->end && *at != '"' && *at != '\n')
		at += *at == '\\' && at + 1 < r->end && at[1] != '\n' ? 2 : 1;
	if (at == r->end || *at != '"') {
		reader_fail(r, r->token.place, "the name has no closing '\"' in its line");
		return;
	}
	r->token = (struct token){ TOKEN_TEXT, r->at + 1, (size_t)(at - r->at) - 1, r->token.place };
	r->at = at + 1;
}

/* Digits, a fraction, and letters: "0x1f", "64K", "1.5ms". */
static size_t number_bytes(const struct reader *r)
{
	const char *at = r->at;

	while (at < r->end && isdigit((unsigned char)*at))
		at++;
	if (at + 1 < r->end && *at == '.' && isdigit((unsigned char)at[1]))
		for (at++; at < r->end && isdigit((unsigned char)*at);)
			at++;
	while (at < r->end && is_word(*at, false))
		at++;
	return (size_t)(at - r->at);
}

static size_t sign_bytes(const struct reader *r)
{
	static const char *const signs[] = { "...", "->", "..", "==" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signs); i++)
		if ((size_t)(r->end - r->at) >= strlen(signs[i]) && !memcmp(r->at, signs[i], strlen(signs[i])))
			return strlen(signs[i]);
	return strchr("{}()[]=,+-*/|:", *r->at) && *r->at ? 1 : 0;
}

/**
 * reader_next() - go to the next token
 */
void reader_next(struct reader *r)
{
	size_t bytes = 0;

	if (r->is_failed)
		return;
	skip_blanks(r);
	r->token = (struct token){ TOKEN_END, r->at, 0, { r->line, (u32)(r->at - r->line_begin) + 1 } };
	if (r->at == r->end)
		return;
	if (*r->at == '\n' || *r->at == ';') {
		take(r, TOKEN_LINE, 1);
		r->line += *r->token.text == '\n';
		r->line_begin = *r->token.text == '\n' ? r->at : r->line_begin;
	} else if (*r->at == '"') {
		take_text(r);
	} else if (isdigit((unsigned char)*r->at)) {
		take(r, TOKEN_NUMBER, number_bytes(r));
	} else if (is_word(*r->at, true)) {
		while (r->at + bytes < r->end && is_word(r->at[bytes], false))
			bytes++;
		take(r, TOKEN_WORD, bytes);
	} else if (sign_bytes(r)) {
		take(r, TOKEN_SIGN, sign_bytes(r));
	} else {
		r->token.bytes = 1;
		r->token.type = TOKEN_SIGN;
		reader_fail_at_token(r, "a word, a number or a sign");
	}
}

/**
 * reader_open_at() - begin to read a text, or the next one
 * @r: with program and refusal set
 * @line: number of its first line
 */
void reader_open_at(struct reader *r, const char *text, size_t bytes, u32 line)
{
	r->at = text;
	r->end = text + bytes;
	r->line_begin = text;
	r->line = line;
	reader_next(r);
}

/**
 * reader_open() - begin to read a text
 * @r: with program and refusal set
 */
void reader_open(struct reader *r, const char *text, size_t bytes)
{
	reader_open_at(r, text, bytes, 1);
}

/**
 * reader_is_sign() - is the next token this sign?
 */
bool reader_is_sign(const struct reader *r, const char *sign)
{
	return r->token.type == TOKEN_SIGN && r->token.bytes == strlen(sign) && !memcmp(r->token.text, sign, r->token.bytes);
}

/**
 * reader_is_word() - is the next token this word?
 */
bool reader_is_word(const struct reader *r, const char *word)
{
	return r->token.type == TOKEN_WORD && r->token.bytes == strlen(word) && !memcmp(r->token.text, word, r->token.bytes);
}

/**
 * reader_accept() - go over a sign or word, if it is next
 *
 * Return: whether it was.
 */
bool reader_accept(struct reader *r, const char *text)
{
	if (!reader_is_sign(r, text) && !reader_is_word(r, text))
		return false;
	reader_next(r);
	return true;
}

/**
 * reader_expect() - go over a sign or word, which must be next
 */
void reader_expect(struct reader *r, const char *text)
{
	char quoted[32];

	if (reader_accept(r, text))
		return;
	snprintf(quoted, sizeof(quoted), "'%s'", text);
	reader_fail_at_token(r, quoted);
}

/**
 * reader_skip_lines() - go over ends of lines
 */
void reader_skip_lines(struct reader *r)
{
	while (r->token.type == TOKEN_LINE)
		reader_next(r);
}

/* Digits of a base. Return: how many bytes they are; 0 if there are none, or too many. */
static size_t digits(const char *text, size_t bytes, u32 base, u64 *value)
{
	static const char all[] = "0123456789abcdef";
	const char *digit;
	size_t i;

	for (*value = 0, i = 0; i < bytes; i++) {
		digit = memchr(all, tolower((unsigned char)text[i]), base);
		if (!digit)
			break;
		if (__builtin_mul_overflow(*value, base, value) || __builtin_add_overflow(*value, (u64)(digit - all), value))
			return 0;
	}
	return i;
}

/* The power of 2 that a letter stands for; -1: none. */
static int unit_shift(const char *text, size_t bytes)
{
	static const char units[] = "KMGT";
	const char *unit = bytes ? memchr(units, *text, 4) : NULL;

	if (!bytes)
		return 0;
	return unit && (bytes == 1 || (bytes == 3 && !memcmp(text + 1, "iB", 2))) ? 10 * (int)(unit - units + 1) : -1;
}

/**
 * reader_number() - read a number: 12, 0x1f, 64K, 4MiB
 * @value: out
 *
 * Return: false if the next token is none: then the reader has failed.
 */
bool reader_number(struct reader *r, u64 *value)
{
	const char *text = r->token.text;
	size_t bytes = r->token.bytes, used;
	int shift;

	*value = 0;
	if (r->token.type != TOKEN_NUMBER) {
		reader_fail_at_token(r, "a number");
		return false;
	}
	if (bytes > 2 && text[0] == '0' && text[1] == 'x') {
		used = digits(text + 2, bytes - 2, 16, value);
		used += used ? 2 : 0;
	} else {
		used = digits(text, bytes, 10, value);
	}
	shift = used ? unit_shift(text + used, bytes - used) : -1;
	if (shift < 0 || (bytes > 1 && text[0] == '0' && text[1] != 'x')) {
		reader_fail_at_token(r, "a number below 2^64");
		return false;
	}
	if (*value << shift >> shift != *value) {
		reader_fail_at_token(r, "a number below 2^64");
		return false;
	}
	*value <<= shift;
	reader_next(r);
	return true;
}

/**
 * reader_duration_ns() - read a length of time: 200us, 1.5s
 *
 * Return: 0 if the next token is none: then the reader has failed.
 */
u64 reader_duration_ns(struct reader *r)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "min", 60000000000 } };
	const char *text = r->token.text;
	size_t bytes = r->token.bytes, used, rest, i;
	u64 whole = 0, part = 0, scale = 1, ns;

	used = r->token.type == TOKEN_NUMBER ? digits(text, bytes, 10, &whole) : 0;
	if (used && used < bytes && text[used] == '.') {
		rest = digits(text + used + 1, bytes - used - 1, 10, &part);
		for (i = 0; i < rest && i < 9; i++)
			scale *= 10;
		used = rest && rest < 10 ? used + 1 + rest : 0;
	}
	for (i = 0; i < ARRAY_SIZE(units) && used; i++) {
		if (bytes - used != strlen(units[i].name) || memcmp(text + used, units[i].name, bytes - used))
			continue;
		if (__builtin_mul_overflow(whole, units[i].ns, &ns) || ns >> 62)
			break;
		reader_next(r);
		return ns + (u64)((double)part / (double)scale * (double)units[i].ns + 0.5);
	}
	reader_fail_at_token(r, "a length of time such as 200us or 1.5s");
	return 0;
}
