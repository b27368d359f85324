// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_counters.c - what the operations of a row of counters have in common.
 */
#include "option_counters.h"

#include <iotape/control.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	unsigned int key;
} words[] = {
	{ "file", IOT_COUNT_OBJECT }, { "process", IOT_COUNT_PROCESS }, { "command", IOT_COUNT_COMMAND },
	{ "user", IOT_COUNT_USER },   { "mount", IOT_COUNT_MOUNT },
};

#define WORDS (sizeof(words) / sizeof(words[0]))

/* Return: 0 if it is no key. */
static unsigned int key_of(const char *word, size_t bytes)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		if (strlen(words[i].word) == bytes && !memcmp(words[i].word, word, bytes))
			return words[i].key;
	return 0;
}

/**
 * option_counters_by() - a list of keys
 * @state: of the command line
 * @list: such as command,user
 * @keys: out: bits IOT_COUNT_*
 *
 * Exits if a word is no key, or two keys exclude each other.
 */
void option_counters_by(struct option_state *state, const char *list, unsigned int *keys)
{
	const char *word = list;
	unsigned int key;
	size_t bytes;

	*keys = 0;
	do {
		bytes = strcspn(word, ",");
		key = key_of(word, bytes);
		if (!key)
			option_error(state, "--counters-by=%s: '%.*s' is not a key: file, process, command, user or mount", list,
				     (int)bytes, word);
		*keys |= key;
		word += bytes;
	} while (*word++ == ',');
	if (*keys & IOT_COUNT_PROCESS && *keys & IOT_COUNT_COMMAND)
		option_error(state, "--counters-by=%s: process and command exclude each other", list);
}

/**
 * counters_keys_text() - keys as an argument of --counters-by
 * @keys: bits IOT_COUNT_*
 * @text: out
 *
 * Return: @text.
 */
const char *counters_keys_text(unsigned int keys, char text[COUNTERS_KEYS_TEXT_BYTES])
{
	size_t at = 0, i;

	text[0] = 0;
	for (i = 0; i < WORDS; i++)
		if (keys & words[i].key)
			at += (size_t)snprintf(text + at, COUNTERS_KEYS_TEXT_BYTES - at, "%s%s", at ? "," : "", words[i].word);
	return text;
}
