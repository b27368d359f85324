// SPDX-License-Identifier: GPL-2.0-only
/*
 * lttng_unknown.c - system calls that a version of LTTng does not know.
 *
 * It records them as events syscall_entry_unknown and syscall_exit_unknown, with the number of the call and its six arguments, but not
 * the texts and structures at their addresses. Of those of Linux 6.1 on x86-64, lttng-modules 2.13 does not know these that
 * concern files or make tasks.
 */
#include <stdio.h>
#include <string.h>

#include "lttng_unknown.h"

static const struct lttng_unknown calls[] = {
	{ 57, "fork", {} },
	{ 58, "vfork", {} },
	{ 316, "renameat2", {} },
	{ 326, "copy_file_range", { "fd_in", "off_in", "fd_out", "off_out", "len", "flags" } },
	{ 327, "preadv2", { "fd" } },
	{ 328, "pwritev2", { "fd" } },
	{ 332, "statx", {} },
	{ 435, "clone3", {} },
	{ 436, "close_range", { "fd", "max_fd", "flags" } },
	{ 437, "openat2", {} },
	{ 439, "faccessat2", {} },
	{ 452, "fchmodat2", {} },
};

/**
 * lttng_unknown_find() - a call by its number
 *
 * Return: NULL if it neither concerns files nor makes tasks.
 */
const struct lttng_unknown *lttng_unknown_find(u64 id)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].id == id)
			return &calls[i];
	return NULL;
}

/**
 * lttng_unknown_add() - add the arguments of a call: { id = 58, args = [ [0] = 1, [1] = 2, ... ] }
 * @payload: of its beginning; cut, and outlives the call
 */
void lttng_unknown_add(const struct lttng_unknown *unknown, char *payload, struct syscall_call *call)
{
	char *at = payload, *value, element[16];
	size_t i;

	for (i = 0; i < LTTNG_ARGUMENTS; i++) {
		snprintf(element, sizeof(element), "[%zu] = ", i);
		value = strstr(at, element);
		if (!value)
			return;
		value += strlen(element);
		at = value + strcspn(value, ", ");
		if (*at)
			*at++ = 0;
		if (unknown->arguments[i])
			syscall_add(call, unknown->arguments[i], value, false);
	}
}
