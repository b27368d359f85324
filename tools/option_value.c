// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_value.c - the arguments of options: words, numbers, sizes, durations and factors.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

#define LIST_BYTES 160

struct unit {
	const char *name;
	uint64_t value;
};

static const struct unit sizes[] = {
	{ "T", 1ull << 40 }, { "G", 1ull << 30 }, { "M", 1ull << 20 }, { "K", 1ull << 10 },
	{ "TiB", 1ull << 40 }, { "GiB", 1ull << 30 }, { "MiB", 1ull << 20 }, { "KiB", 1ull << 10 },
	{ "B", 1 }, {},
};

static const struct unit durations[] = {
	{ "h", 3600 * OPTION_S }, { "min", 60 * OPTION_S }, { "s", OPTION_S }, { "ms", OPTION_MS },
	{ "us", 1000 }, { "ns", OPTION_NS }, {},
};

/* "one, two or three" */
static const char *list(char text[LIST_BYTES], const struct option_row *row)
{
	const char *word, *following;
	size_t at = 0, i;

	for (i = 0; (word = option_word_at(row, i)) && at < LIST_BYTES; i++) {
		following = option_word_at(row, i + 1);
		at += (size_t)snprintf(text + at, LIST_BYTES - at, "%s%s", !i ? "" : following ? ", " : " or ", word);
	}
	return text;
}

/**
 * option_choice() - the argument is one of the words of its row
 *
 * Return: the index of the word. Exits if there is none.
 */
size_t option_choice(const struct option_state *state, const char *argument)
{
	char text[LIST_BYTES];
	const char *word;
	size_t i;

	for (i = 0; (word = option_word_at(state->row, i)); i++)
		if (!strcmp(argument, word))
			return i;
	option_error(state, "--%s=%s: not %s%s", state->row->name, argument, list(text, state->row),
		     option_hint(state->row, argument));
}

/**
 * option_number() - the argument is a whole number
 * @state: of the command line
 * @argument: decimal digits
 * @min, @max: limits, both included
 *
 * Return: the number. Exits if the argument is none, or outside.
 */
uint64_t option_number(const struct option_state *state, const char *argument, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(argument, &end, 10);
	/* strtoull() also takes a sign and blanks: "-1" would be the largest number of all */
	if (!isdigit((unsigned char)*argument) || *end || errno || value < min || value > max)
		option_error(state, "--%s=%s: not a number from %llu to %llu", state->row->name, argument,
			     (unsigned long long)min, (unsigned long long)max);
	return value;
}

/**
 * option_factor() - the argument is a decimal number from 0 to @max
 *
 * Return: the factor. Exits if the argument is none, or outside.
 */
double option_factor(const struct option_state *state, const char *argument, double max)
{
	char *end;
	double value = strtod(argument, &end);

	if (*end || end == argument || !(value >= 0) || value > max)
		option_error(state, "--%s=%s: not a factor from 0 to %.0f", state->row->name, argument, max);
	return value;
}

/* Without a fraction, in the largest unit in which that is possible. */
static const char *quantity_text(char text[32], const struct unit *units, uint64_t value, bool is_size)
{
	const struct unit *unit;

	for (unit = units; unit->name; unit++)
		if (value && !(value % unit->value))
			break;
	if (!unit->name)
		snprintf(text, 32, "%llu", (unsigned long long)value);
	else
		snprintf(text, 32, "%llu %s%s", (unsigned long long)(value / unit->value), unit->name,
			 is_size && unit->value > 1 ? "iB" : "");
	return text;
}

/* Return: the multiplier of the unit at @text, 0 if it is none. */
static uint64_t unit_value(const struct unit *units, const char *text, uint64_t unit_default)
{
	if (!*text)
		return unit_default;
	for (; units->name; units++)
		if (!strcmp(units->name, text))
			return units->value;
	return 0;
}

static bool quantity_parse(const char *argument, const struct unit *units, uint64_t unit_default, uint64_t *value)
{
	unsigned long long whole;
	uint64_t unit;
	double real;
	char *end;

	errno = 0;
	whole = strtoull(argument, &end, 10);
	if (!isdigit((unsigned char)*argument) || errno)
		return false;
	if (*end != '.') {
		unit = unit_value(units, end, unit_default);
		return unit && !__builtin_mul_overflow(whole, unit, value);
	}
	if (!isdigit((unsigned char)end[1]))
		return false;
	strtoull(end + 1, &end, 10);
	unit = unit_value(units, end, unit_default);
	real = strtod(argument, NULL) * (double)unit;
	*value = real < 9e18 ? (uint64_t)(real + 0.5) : UINT64_MAX;
	return unit;
}

/**
 * option_quantity() - the argument is a size or a duration, depending on its row
 *
 * Return: the value in the unit of the member. Exits if the argument is none, or outside the limits.
 */
uint64_t option_quantity(const struct option_state *state, const char *argument)
{
	const struct option_row *row = state->row;
	bool is_size = row->type == OPTION_SIZE;
	const struct unit *units = is_size ? sizes : durations;
	char min[32], max[32];
	uint64_t value;

	if (!quantity_parse(argument, units, row->unit ?: 1, &value) || value < row->min || value > row->max)
		option_error(state, "--%s=%s: not a %s from %s to %s", row->name, argument,
			     is_size ? "size" : "duration", quantity_text(min, units, row->min, is_size),
			     quantity_text(max, units, row->max, is_size));
	return value / (row->stored_unit ?: 1);
}
