// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - an expression as words.
 */
#include "words.h"

#include <ctype.h>

static const char *const signs[] = { "&&", "||", "==", "!=", "<=", ">=", "<", ">", "~", "!", "(", ")", "{", "}", "," };

static size_t skip_space(const char *text, size_t at)
{
	for (;;) {
		while (isspace((unsigned char)text[at]))
			at++;
		if (text[at] != '#')
			return at;
		at += strcspn(text + at, "\n");
	}
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || strchr("_-+.:%/*", c) || (unsigned char)c >= 0x80;
}

static void read_name(struct words *words)
{
	const char *begin = words->text + words->at;

	while (begin[words->bytes] && is_of_name(begin[words->bytes]))
		words->bytes++;
	words->kind = words->bytes > IOT_FILTER_TEXT_MAX ? WORD_BAD : WORD_NAME;
	snprintf(words->value, sizeof(words->value), "%.*s", (int)words->bytes, begin);
	words->next = words->at + words->bytes;
}

/* A backslash keeps a quote from ending the string; in front of other characters it is one of the string. */
static void read_string(struct words *words)
{
	const char *p = words->text + words->at + 1;

	words->kind = WORD_BAD;
	while (*p && *p != '"' && *p != '\n' && words->bytes < IOT_FILTER_TEXT_MAX) {
		if (p[0] == '\\' && p[1] == '"')
			p++;
		words->value[words->bytes++] = *p++;
	}
	words->value[words->bytes] = 0;
	words->next = (size_t)(p - words->text);
	if (*p != '"')
		return;
	words->kind = WORD_STRING;
	words->next++;
}

/**
 * words_next() - continue to the next word
 * @words: after words_open()
 */
void words_next(struct words *words)
{
	size_t i;

	words->at = skip_space(words->text, words->next);
	words->next = words->at;
	words->bytes = 0;
	words->value[0] = 0;
	words->kind = WORD_END;
	if (!words->text[words->at])
		return;
	for (i = 0; i < ARRAY_SIZE(signs); i++) {
		size_t bytes = strlen(signs[i]);

		if (strncmp(words->text + words->at, signs[i], bytes))
			continue;
		words->kind = WORD_SIGN;
		words->bytes = bytes;
		words->next = words->at + bytes;
		memcpy(words->value, signs[i], bytes + 1);
		return;
	}
	if (words->text[words->at] == '"') {
		read_string(words);
	} else if (is_of_name(words->text[words->at])) {
		read_name(words);
	} else {
		words->kind = WORD_BAD;
		snprintf(words->value, sizeof(words->value), "%c", words->text[words->at]);
	}
}

/**
 * words_open() - begin with the first word
 * @words: filled in
 * @text: the expression; must outlive @words
 */
void words_open(struct words *words, const char *text)
{
	*words = (struct words){ .text = text };
	words_next(words);
}

/**
 * words_is() - is the word this operator or bracket?
 */
bool words_is(const struct words *words, const char *sign)
{
	return words->kind == WORD_SIGN && !strcmp(words->value, sign);
}
