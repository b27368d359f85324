// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_flight.c - sizes, times and errors of a flight recorder.
 */
#include "option_flight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/iotape.h"
#include "table.h"

static const struct option_row size_row = { "flight", 0, OPTION_SIZE, .min = OPTION_MIB, .max = 1ull << 40 };
static const struct option_row time_row = { "flight", 0, OPTION_DURATION, .min = 100 * OPTION_MS,
					    .max = 86400 * OPTION_S };

/* Errors of storage. Others, such as ENOENT, are part of the work of many programs. */
static const int storage_errors[] = { EIO, ENOSPC, EDQUOT, EROFS, ESTALE, EUCLEAN, ENODEV, ENXIO, ENOMEDIUM, ETIMEDOUT,
				      EREMOTEIO, ENOTCONN, EHOSTDOWN, ECONNRESET };

/**
 * option_flight() - a size, a time, or both with a comma: the limits of a flight recorder
 * @state: of the command line
 * @argument: such as 64M, 30s or 64M,30s
 * @flight: out
 *
 * Exits if it is none of these.
 */
void option_flight(struct option_state *state, char *argument, struct flight_options *flight)
{
	const struct option_row *row = state->row;
	char *word, *rest;

	flight->bytes = FLIGHT_BYTES_DEFAULT;
	flight->window_ns = 0;
	if (!*argument)
		option_error(state, "--flight=: neither a size, such as 64M, nor a time, such as 30s");
	for (word = strtok_r(argument, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char last = word[strlen(word) - 1];

		if (last >= '0' && last <= '9')
			option_error(state, "--flight=%s: neither a size, such as 64M, nor a time, such as 30s", word);
		state->row = strchr("shn", last) ? &time_row : &size_row;
		if (state->row == &time_row)
			flight->window_ns = option_quantity(state, word);
		else
			flight->bytes = option_quantity(state, word);
	}
	state->row = row;
}

static void add_error(struct flight_options *flight, int err)
{
	flight->errors[err / 64] |= 1ull << (err % 64);
}

static int errno_of(const char *name)
{
	const char *known;
	int err;

	for (err = 1; err < 256; err++) {
		known = iot_text_errno(-err);
		if (known && !strcmp(known, name))
			return err;
	}
	return 0;
}

/**
 * option_flight_errors() - errors that cause a dump
 * @state: of the command line
 * @argument: names with commas, or "any"; NULL: errors of storage
 * @flight: out
 *
 * Exits if the error is unknown.
 */
void option_flight_errors(struct option_state *state, char *argument, struct flight_options *flight)
{
	char *word, *rest;
	size_t i;

	memset(flight->errors, argument && !strcmp(argument, "any") ? 0xff : 0, sizeof(flight->errors));
	for (i = 0; !argument && i < sizeof(storage_errors) / sizeof(storage_errors[0]); i++)
		add_error(flight, storage_errors[i]);
	if (!argument || !strcmp(argument, "any"))
		return;
	if (!*argument)
		option_error(state, "--flight-on-error=: no error given");
	for (word = strtok_r(argument, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		int err = errno_of(word);

		if (!err)
			option_error(state, "--flight-on-error=%s: unknown error; use names such as EIO or ENOSPC, or any", word);
		add_error(flight, err);
	}
}

/**
 * flight_text() - the limits of a flight recorder, as text
 *
 * Return: @text.
 */
const char *flight_text(const struct flight_options *flight, char text[64])
{
	char bytes[32];
	int n = snprintf(text, 64, "%s", quantity_bytes(bytes, flight->bytes));

	if (flight->window_ns)
		snprintf(text + n, 64 - (size_t)n, ", %.3f s", (double)flight->window_ns / 1e9);
	return text;
}
