// SPDX-License-Identifier: GPL-2.0-only
/*
 * message.c - messages of a sub-command on standard error.
 *
 * Names in them may come from a trace, a log or another user, and must not control the terminal.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "terminal.h"

/* Return: the sentence as one line, to be freed; NULL without memory. */
static char *format_line(const char *format, va_list arguments)
{
	char *text, *line;
	size_t room;

	if (vasprintf(&text, format, arguments) < 0)
		return NULL;
	room = 4 * strlen(text) + 1;
	line = malloc(room);
	if (line)
		iot_text_line(line, room, text);
	free(text);
	return line;
}

static void vsay(const char *format, va_list arguments)
{
	char *line = format_line(format, arguments);

	progress_end();
	fflush(stdout); /* both may go to the same pager */
	/* In one piece, because other processes of a job may write to the same file. */
	fprintf(stderr, "%s%s:%s %s\n", terminal_style(stderr, STYLE_HEADING), program_invocation_name,
		terminal_style(stderr, STYLE_PLAIN), line ? line : strerror(ENOMEM));
	free(line);
}

/**
 * say() - print a sentence
 */
void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsay(format, arguments);
	va_end(arguments);
}

/**
 * fail() - print the reason of the failure of a sub-command
 *
 * Return: EXIT_FAILED.
 */
int fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsay(format, arguments);
	va_end(arguments);
	return EXIT_FAILED;
}

static bool is_of_wrong_kind(const struct iot_reject *reject)
{
	return reject->reason == IOT_REJECT_trace_magic || reject->reason == IOT_REJECT_program_magic ||
	       reject->reason == IOT_REJECT_pattern_magic;
}

/**
 * fail_reject() - print the reason for the refusal of a trace or a program
 * @path: its file
 * @err: the negative errno
 * @reject: the reason
 *
 * Return: EXIT_FAILED.
 */
int fail_reject(const char *path, int err, const struct iot_reject *reject)
{
	const char *kind = is_of_wrong_kind(reject) ? file_kind_sentence(path) : NULL;

	if (!reject->reason || reject->reason == IOT_REJECT_io || reject->reason == IOT_REJECT_memory)
		return fail("%s: %s", path, strerror(-err));
	if (reject->reason == IOT_REJECT_filtered || reject->reason == IOT_REJECT_counted) /* of the trace as a whole */
		return fail("%s: %s", path, iot_reject_sentence(reject));
	return fail("%s:0x%llx: %s%s%s", path, (unsigned long long)reject->offset_bytes, iot_reject_sentence(reject),
		    kind ? ", but " : "", kind ?: "");
}
