// SPDX-License-Identifier: GPL-2.0-only
/*
 * option.c - the values of options: words, numbers and factors.
 */
#include "option.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_BYTES 128

/* "one, two or three" */
static const char *list(char text[LIST_BYTES], const char *const *words)
{
	size_t at = 0;
	int i;

	for (i = 0; words[i] && at < LIST_BYTES; i++)
		at += (size_t)snprintf(text + at, LIST_BYTES - at, "%s%s",
				       !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	return text;
}

/**
 * option_word() - a word of a list
 * @state: of argp
 * @option: without the dashes
 * @argument: what it was given
 * @words: that it may be given, then NULL
 *
 * Return: the index of the word. Does not return if there is none.
 */
int option_word(struct argp_state *state, const char *option, const char *argument,
		const char *const *words)
{
	char text[LIST_BYTES];
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(argument, words[i]))
			return i;
	argp_error(state, "--%s=%s: not %s", option, argument, list(text, words));
	return 0;
}

/**
 * option_number() - a whole number
 * @state: of argp
 * @option: without the dashes
 * @argument: what it was given: decimal digits
 * @min: the smallest that is taken
 * @max: the largest
 *
 * Return: the number. Does not return if it is none, or outside.
 */
unsigned long long option_number(struct argp_state *state, const char *option,
				 const char *argument, unsigned long long min,
				 unsigned long long max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(argument, &end, 10);
	/* strtoull() takes a sign and spaces, too: "-1" would be the largest number of all */
	if (!isdigit((unsigned char)*argument) || *end || errno || value < min || value > max)
		argp_error(state, "--%s=%s: not a number from %llu to %llu", option, argument, min,
			   max);
	return value;
}

/**
 * option_factor() - what something is multiplied by
 * @state: of argp
 * @option: without the dashes
 * @argument: what it was given
 * @max: the largest that is taken; the smallest is 0
 *
 * Return: the factor. Does not return if it is none, or outside.
 */
double option_factor(struct argp_state *state, const char *option, const char *argument, double max)
{
	char *end;
	double value = strtod(argument, &end);

	if (*end || end == argument || !(value >= 0) || value > max)
		argp_error(state, "--%s=%s: not a factor from 0 to %.0f", option, argument, max);
	return value;
}

/**
 * option_prepare_data() - the value of --data, of commands that prepare a target
 */
enum prepare_data option_prepare_data(struct argp_state *state, const char *argument)
{
	static const char *const words[] = { "random", "zero", "sparse", NULL };

	return (enum prepare_data)(PREPARE_RANDOM + option_word(state, "data", argument, words));
}

/**
 * option_prepare_cache() - the value of --cache, of commands that prepare a target
 */
enum prepare_cache option_prepare_cache(struct argp_state *state, const char *argument)
{
	static const char *const words[] = { "match", "cold", "warm", "keep", NULL };

	return (enum prepare_cache)option_word(state, "cache", argument, words);
}
