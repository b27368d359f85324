/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lttng_unknown.h - system calls that a version of LTTng does not know, see lttng_unknown.c.
 */
#ifndef IMPORT_LTTNG_UNKNOWN_H
#define IMPORT_LTTNG_UNKNOWN_H

#include "foreign.h"

#define LTTNG_ARGUMENTS 6

/**
 * struct lttng_unknown - a system call that it records by number
 * @id: number on x86-64
 * @arguments: names as in foreign_syscall.c; NULL: an address of what the event does not show, or not needed
 */
struct lttng_unknown {
	u32 id;
	const char *name;
	const char *arguments[LTTNG_ARGUMENTS];
};

const struct lttng_unknown *lttng_unknown_find(u64 id);
void lttng_unknown_add(const struct lttng_unknown *unknown, char *payload, struct syscall_call *call);

#endif
