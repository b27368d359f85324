// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_delay.c - which threads a recording delays, and for how long.
 */
#include "option_delay.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const struct iot_delay defaults = {
	.period = 1,
	.asleep_ns = 20 * OPTION_MS,
	.idle_ns = 100 * OPTION_MS,
	.limit_ns = OPTION_S,
	.total_ns = 60 * OPTION_S,
};

/* Keys of the argument, each with the row of an option that would have the same argument. */
static const struct key {
	struct option_row row;
	size_t offset;
	bool is_number;
} keys[] = {
	{ { "delay=thread", .max = UINT_MAX }, offsetof(struct iot_delay, thread), true },
	{ { "delay=period", .min = 1, .max = IOT_DELAY_PERIOD_MAX }, offsetof(struct iot_delay, period), true },
	{ { "delay=phase", .max = IOT_DELAY_PERIOD_MAX - 1 }, offsetof(struct iot_delay, phase), true },
	{ { "delay=asleep", .min = IOT_DELAY_MIN_NS, .max = IOT_DELAY_MAX_NS }, offsetof(struct iot_delay, asleep_ns) },
	{ { "delay=idle", .min = IOT_DELAY_MIN_NS, .max = IOT_DELAY_MAX_NS }, offsetof(struct iot_delay, idle_ns) },
	{ { "delay=limit", .min = IOT_DELAY_MIN_NS, .max = IOT_DELAY_MAX_NS }, offsetof(struct iot_delay, limit_ns) },
	{ { "delay=total", .min = IOT_DELAY_MIN_NS, .max = IOT_DELAY_MAX_NS }, offsetof(struct iot_delay, total_ns) },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* Return: NULL if the text before the '=' is no key. */
static const struct key *key_of(const char *word, const char *equals)
{
	const char *name;
	size_t i;

	for (i = 0; equals && i < KEYS; i++) {
		name = strchr(keys[i].row.name, '=') + 1;
		if (strlen(name) == (size_t)(equals - word) && !strncmp(name, word, strlen(name)))
			return &keys[i];
	}
	return NULL;
}

static void set_key(struct option_state *state, const struct key *key, const char *value, struct iot_delay *delay)
{
	void *field = (char *)delay + key->offset;
	struct option_row row = key->row;

	row.type = key->is_number ? OPTION_COUNT : OPTION_DURATION;
	row.unit = OPTION_MS;
	state->row = &row;
	if (key->is_number)
		*(__u32 *)field = (__u32)option_number(state, value, row.min, row.max);
	else
		*(__u64 *)field = option_quantity(state, value);
}

/**
 * option_delay() - a list of KEY=VALUE: which threads to delay, and how long
 * @state: of the command line
 * @argument: such as thread=2,period=10,limit=1s; NULL: the defaults
 * @delay: out
 *
 * Exits if a key is unknown or a value out of range.
 */
void option_delay(struct option_state *state, char *argument, struct iot_delay *delay)
{
	const struct option_row *row = state->row;
	const struct key *key;
	char *word, *rest, *equals;

	*delay = defaults;
	for (word = argument ? strtok_r(argument, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
		equals = strchr(word, '=');
		key = key_of(word, equals);
		if (!key)
			option_error(state, "--delay=%s: not one of thread=N, period=N, phase=N, asleep=TIME, idle=TIME, limit=TIME or "
				     "total=TIME", word);
		set_key(state, key, equals + 1, delay);
		state->row = row;
	}
	if (delay->phase >= delay->period)
		option_error(state, "--delay: phase=%u is not below period=%u", delay->phase, delay->period);
}

/**
 * delay_text() - the delays of a recording, as an argument of --delay
 * @delay: the delays
 * @text: out
 *
 * Return: @text.
 */
const char *delay_text(const struct iot_delay *delay, char text[DELAY_TEXT_BYTES])
{
	size_t at = 0, i;

	for (i = 0; i < KEYS; i++) {
		const void *field = (const char *)delay + keys[i].offset;
		unsigned long long value = keys[i].is_number ? *(const __u32 *)field : *(const __u64 *)field;

		at += (size_t)snprintf(text + at, DELAY_TEXT_BYTES - at, "%s%s=%llu%s", i ? "," : "",
				       strchr(keys[i].row.name, '=') + 1, value, keys[i].is_number ? "" : "ns");
	}
	return text;
}
