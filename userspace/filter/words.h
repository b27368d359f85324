/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * words.h - the words of a filter expression, and values of fields.
 */
#ifndef IOTAPE_FILTER_WORDS_H
#define IOTAPE_FILTER_WORDS_H

#include "tree.h"

enum word_kind {
	WORD_END,
	WORD_NAME,   /* a name or a number, with its unit */
	WORD_STRING, /* between double quotes */
	WORD_SIGN,   /* an operator or a bracket */
	WORD_BAD,
};

/**
 * struct words - the lexer of an expression
 * @text: the expression
 * @next: offset of the text after the word
 * @kind: kind of the word
 * @at: its offset
 * @bytes: its length; for a string, without the quotes and backslashes
 * @value: the word, ended by a zero byte
 */
struct words {
	const char *text;
	size_t next;
	enum word_kind kind;
	size_t at;
	size_t bytes;
	char value[IOT_FILTER_TEXT_MAX + 1];
};

void words_open(struct words *words, const char *text);
void words_next(struct words *words);
bool words_is(const struct words *words, const char *sign);
int value_read(const struct words *words, struct node *test, struct filter_error *error);

#endif
