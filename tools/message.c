// SPDX-License-Identifier: GPL-2.0-only
/*
 * message.c - messages of a sub-command on standard error.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "terminal.h"

static void vsay(const char *format, va_list arguments)
{
	progress_end();
	fflush(stdout); /* both may go to the same pager */
	fprintf(stderr, "%s%s:%s ", terminal_style(stderr, STYLE_HEADING), program_invocation_name,
		terminal_style(stderr, STYLE_PLAIN));
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
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
	if (!reject->reason || reject->reason == IOT_REJECT_io || reject->reason == IOT_REJECT_memory)
		return fail("%s: %s", path, strerror(-err));
	if (reject->reason == IOT_REJECT_filtered || reject->reason == IOT_REJECT_counted) /* of the trace as a whole */
		return fail("%s: %s", path, iot_reject_sentence(reject));
	return fail("%s:0x%llx: %s", path, (unsigned long long)reject->offset_bytes,
		    iot_reject_sentence(reject));
}
