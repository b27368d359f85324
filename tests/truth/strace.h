/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace.h - a log of `strace -f -y -o LOG`, as system calls.
 *
 * Calls that strace had to print in two pieces are put together. What happens to a call is
 * two events, in the order of the log: it is entered, and it returns.
 */
#ifndef TRUTH_STRACE_H
#define TRUTH_STRACE_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_ARGS_MAX 8

/* One argument as strace shows it: 3</mnt/f> has text "3" and path "/mnt/f". */
struct argument {
	char *text; /* without the path; a string without its quotes, and unescaped */
	char *path; /* what -y says the descriptor is, NULL if nothing */
	size_t bytes; /* of a string, which may have zeros in it */
	bool is_string;
	bool is_cut; /* strace did not print all of it */
};

struct call {
	int pid;
	long line; /* of the log, where it was entered */
	char *name;
	struct argument args[CALL_ARGS_MAX];
	int arg_count;
	bool has_result; /* else it never returned */
	long long result;
	int err; /* 0 or the errno that came with -1 */
	char *result_path;
	void *closed[2]; /* for who goes through the log: files whose descriptors it closed */
};

enum event_kind {
	EVENT_ENTER,
	EVENT_LEAVE,
	EVENT_END, /* of a thread */
};

struct event {
	enum event_kind kind;
	int pid;
	struct call *call; /* NULL at an end */
};

struct log {
	struct event *events;
	long count;
	char error[200];
};

int log_read(const char *path, struct log *log);
long long argument_number(const struct call *call, int index);
bool argument_has_flag(const struct call *call, int index, const char *flag);
const char *argument_text(const struct call *call, int index);

#endif
