// SPDX-License-Identifier: GPL-2.0-only
/*
 * progress.c - a line on standard error, if that is a terminal, of a command that takes longer than a second.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"

#define SECOND_NS   1000000000ull
#define INTERVAL_NS (SECOND_NS / 5)

/**
 * struct progress_state - the line
 * @begin_ns: when the command began
 * @shown_ns: when the line was written last; 0 if it never was
 * @is_shown: the line is on the screen
 * @is_off: it must not appear any more
 * @step_begin_ns: when the present step began, of which there is a share
 * @step_done: the last share of it
 */
static struct progress_state {
	u64 begin_ns;
	u64 shown_ns;
	bool is_shown;
	bool is_off;
	u64 step_begin_ns;
	u64 step_done;
} state;

static u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * SECOND_NS + (u64)now.tv_nsec;
}

static void show(u64 now, const char *text)
{
	fprintf(stderr, "\r\033[K%s", text);
	fflush(stderr);
	state.shown_ns = now;
	state.is_shown = true;
}

static bool is_due(u64 now)
{
	return !state.is_off && now - state.begin_ns >= SECOND_NS &&
	       (!state.shown_ns || now - state.shown_ns >= INTERVAL_NS) && isatty(STDERR_FILENO);
}

/**
 * progress() - replace the line with the progress of the command
 */
void progress(const char *format, ...)
{
	u64 now = now_ns();
	va_list arguments;
	char text[256];

	if (!is_due(now))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	show(now, text);
}

/* In one unit, rounded up: "12 s", "3 min". */
static void print_left(char text[32], double left_s)
{
	if (left_s < 100)
		snprintf(text, 32, "%.0f s", left_s + 0.5);
	else if (left_s < 100 * 60)
		snprintf(text, 32, "%.0f min", left_s / 60 + 0.5);
	else
		snprintf(text, 32, "%.0f h", left_s / 3600 + 0.5);
}

/**
 * progress_share() - the same, with the share of a step that is done, and the time left
 * @done: amount of work done; a smaller value than before begins another step
 * @total: of this; may be wrong, as a file states it
 * @format: of the text that describes the work
 *
 * The time left is that at the mean speed so far.
 */
void progress_share(u64 done, u64 total, const char *format, ...)
{
	u64 now = now_ns();
	va_list arguments;
	char text[256], left[32];

	if (done > total)
		done = total;
	if (done < state.step_done || !state.step_begin_ns)
		state.step_begin_ns = now;
	state.step_done = done;
	if (!is_due(now))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text) - 64, format, arguments);
	va_end(arguments);
	if (done && now > state.step_begin_ns) {
		print_left(left, (double)(now - state.step_begin_ns) / 1e9 * (double)(total - done) / (double)done);
		snprintf(text + strlen(text), 64, ": %.0f %%, %s left", 100.0 * (double)done / (double)total, left);
	}
	show(now, text);
}

static void reading(u64 done, u64 total)
{
	if (total)
		progress_share(done, total, "%llu of %llu records read", done, total);
	else
		progress_end();
}

/**
 * progress_begin() - at the begin of a command: show how far traces are read
 */
void progress_begin(void)
{
	state.begin_ns = now_ns();
	if (isatty(STDERR_FILENO))
		iot_readers_watch(reading);
}

/**
 * progress_end() - remove the line
 */
void progress_end(void)
{
	if (state.is_shown)
		fputs("\r\033[K", stderr);
	state.is_shown = false;
}

/**
 * progress_off() - stop printing the line, because the output of the command is on the terminal
 */
void progress_off(void)
{
	progress_end();
	state.is_off = true;
}
