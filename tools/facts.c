// SPDX-License-Identifier: GPL-2.0-only
/*
 * facts.c - what a command tells of a run in the trace that it writes.
 */
#include "facts.h"

#include <iotape/version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

/**
 * facts_add() - add a line
 * @facts: to these; without room, or memory, the line is not there
 * @key: before the equals sign
 * @format: of what stands after it
 */
void facts_add(struct facts *facts, const char *key, const char *format, ...)
{
	char *value = NULL, *line;
	va_list arguments;

	if (facts->count == FACTS_MAX)
		return;
	va_start(arguments, format);
	if (vasprintf(&value, format, arguments) >= 0) {
		if (asprintf(&line, "%s=%s", key, value) >= 0)
			facts->lines[facts->count++] = line;
		free(value);
	}
	va_end(arguments);
}

/**
 * facts_add_host() - where it ran, and by what it was written
 * @facts: to these
 */
void facts_add_host(struct facts *facts)
{
	struct utsname uts;

	if (!uname(&uts)) {
		facts_add(facts, "host", "%s", uts.nodename);
		facts_add(facts, "kernel", "%s", uts.release);
	}
	facts_add(facts, "creator", "iotape %s", IOTAPE_VERSION);
}
