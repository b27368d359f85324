// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_rotate.c - sizes, times and numbers of the files of a recording, and when they are on the disk.
 */
#include "option_rotate.h"

#include <string.h>

#define KEEP_MAX 1000000

static const struct option_row size_row = { "rotate", 0, OPTION_SIZE, .min = 64 << 10, .max = 1ull << 40 };
static const struct option_row time_row = { "rotate", 0, OPTION_DURATION, .min = OPTION_S, .max = 366 * 86400 * OPTION_S };
static const struct option_row keep_row = { "rotate=keep", 0, OPTION_COUNT, .min = 1, .max = KEEP_MAX };

static void refuse(const struct option_state *state, const char *word)
{
	option_error(state, "--rotate=%s: not a size, such as 1G, a time, such as 24h, or keep=N", word);
}

static void set_limit(struct option_state *state, const char *word, struct rotation_options *rotation)
{
	char last = word[strlen(word) - 1];

	if (last >= '0' && last <= '9')
		refuse(state, word);
	state->row = strchr("shn", last) ? &time_row : &size_row;
	if (state->row == &time_row)
		rotation->period_ns = option_quantity(state, word);
	else
		rotation->bytes = option_quantity(state, word);
}

/**
 * option_rotate() - when the next file of a trace begins, and how many files are kept
 * @state: of the command line
 * @argument: sizes, times and keep=N with commas, such as 1G,24h,keep=7
 * @rotation: out; complain stays as it is
 *
 * Exits if it is none of these.
 */
void option_rotate(struct option_state *state, char *argument, struct rotation_options *rotation)
{
	const struct option_row *row = state->row;
	char *word, *rest;

	*rotation = (struct rotation_options){ .state_bytes = ROTATION_STATE_BYTES, .complain = rotation->complain };
	for (word = strtok_r(argument, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		state->row = &keep_row;
		if (!strncmp(word, "keep=", 5))
			rotation->keep = option_number(state, word + 5, keep_row.min, keep_row.max);
		else
			set_limit(state, word, rotation);
	}
	state->row = row;
	if (!rotation->bytes && !rotation->period_ns)
		option_error(state, "--rotate: neither a size, such as 1G, nor a time, such as 24h");
}

static const struct option_row fsync_row = { "fsync", 0, OPTION_DURATION, .min = OPTION_S, .max = 86400 * OPTION_S, .unit = OPTION_S };
static const char *const fsync_words[] = { "never", "end", NULL };

/**
 * option_fsync_at() - words that --fsync may have, for completion
 *
 * Return: NULL after the last.
 */
const char *option_fsync_at(size_t index)
{
	return fsync_words[index];
}

/**
 * option_fsync() - when a trace is on the disk
 * @state: of the command line
 * @argument: never, end, or a time
 * @fsync: out
 *
 * Exits if it is none of these.
 */
void option_fsync(struct option_state *state, const char *argument, struct fsync_options *fsync)
{
	const struct option_row *row = state->row;

	*fsync = (struct fsync_options){ .at_end = strcmp(argument, "never") };
	if (!fsync->at_end || !strcmp(argument, "end"))
		return;
	if (*argument < '0' || *argument > '9')
		option_error(state, "--fsync=%s: not never, end, or a time, such as 10s", argument);
	state->row = &fsync_row;
	fsync->period_ns = option_quantity(state, argument);
	state->row = row;
}
