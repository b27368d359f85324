// SPDX-License-Identifier: GPL-2.0-only
/*
 * describe.c - states the command and the output of a session, for `iotape status`.
 */
#include <iotape/control.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "describe.h"

static const char *const keys[] = { "command=", "job=", IOT_FACT_OPS "=", IOT_FACT_FILTER "=", "flight=", "replay=", "target=", NULL };

static bool is_of_interest(const char *fact)
{
	int i;

	for (i = 0; keys[i]; i++)
		if (!strncmp(fact, keys[i], strlen(keys[i])))
			return true;
	return false;
}

/* Lines stay lines, whatever a name or a command has in it. */
static void add_line(char text[IOT_DESCRIBE_MAX_BYTES], size_t *at, const char *key, const char *value)
{
	size_t room = IOT_DESCRIBE_MAX_BYTES - *at, n, i;

	if (room < strlen(key) + 2)
		return;
	n = (size_t)snprintf(text + *at, room - 1, "%s%s", key, value);
	if (n > room - 2)
		n = room - 2;
	for (i = *at; i < *at + n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	text[*at + n] = '\n';
	*at += n + 1;
}

/**
 * session_describe() - describe the purpose of a session
 * @options: session_fd, path and facts are used
 * @dump: of a flight recorder, its last dump; NULL if there is none
 *
 * A module that is too old, or an error, leaves the session without a description.
 */
void session_describe(const struct collector_options *options, const char *dump)
{
	char text[IOT_DESCRIBE_MAX_BYTES], path[PATH_MAX];
	struct iot_describe describe = { .text = (uintptr_t)text };
	const char *const *facts = options->facts;
	size_t at = 0;

	add_line(text, &at, "output=", realpath(options->path, path) ? path : options->path);
	if (dump)
		add_line(text, &at, "dump=", realpath(dump, path) ? path : dump);
	for (; facts && *facts; facts++)
		if (is_of_interest(*facts))
			add_line(text, &at, "", *facts);
	describe.bytes = (unsigned int)at;
	ioctl(options->session_fd, IOT_IOC_DESCRIBE, &describe);
}
