/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace.h - a log of `strace -f -y -o LOG`, as system calls.
 *
 * The two parts of an interrupted call are joined. Each call is
 * two events, in the order of the log: entry and return.
 */
#ifndef TRUTH_STRACE_H
#define TRUTH_STRACE_H

#include <stdbool.h>
#include <stddef.h>

#define CALL_ARGS_MAX 8

/* One argument: 3</mnt/f> has text "3" and path "/mnt/f". */
struct argument {
	char *text; /* without the path; a string without quotes, decoded */
	char *path; /* of the descriptor, from strace -y, or NULL */
	size_t bytes; /* length of a string, which may contain zeros */
	bool is_string;
	bool is_cut; /* truncated by strace */
};

struct call {
	int pid;
	long line; /* line of the entry in the log */
	char *name;
	struct argument args[CALL_ARGS_MAX];
	int arg_count;
	bool has_result; /* false: the call never returned */
	long long result;
	int err; /* 0 or the errno of a result of -1 */
	char *result_path;
	void *closed[2]; /* for use by the comparison: files whose descriptors the call closed */
};

enum event_kind {
	EVENT_ENTER,
	EVENT_LEAVE,
	EVENT_END, /* end of a thread */
};

struct event {
	enum event_kind kind;
	int pid;
	struct call *call; /* NULL for EVENT_END */
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
