/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace_log.h - the files of one strace run, as events in the order in which they happened.
 *
 * A call that lines of other threads interrupt is assembled from its halves. It yields two events,
 * so that its immediate effects precede the calls in between.
 */
#ifndef IMPORT_STRACE_LOG_H
#define IMPORT_STRACE_LOG_H

#include "strace_line.h"

enum event_kind {
	EVENT_ENTER,
	EVENT_LEAVE,
	EVENT_EXIT,       /* of a thread; code is its wait status */
	EVENT_SUPERSEDED, /* a thread continues as the thread @pid; code is its pid before */
	EVENT_UNFINISHED, /* a call that does not return: its thread ends, or the log does */
};

/**
 * struct event - an event of the log
 * @call: of the first two and the last kind; of an EVENT_ENTER that is printed in halves it has
 *	only the arguments of the first, which may be cut short. Valid until the thread's next event.
 */
struct event {
	enum event_kind kind;
	u32 pid;
	u64 time_ns;
	u32 code;
	const struct call *call;
};

struct log;

/* For messages. On a terminal and with -ff there is no PID, and -i, -n and -r add something behind the time. */
#define LOG_LINE_FORM "[PID] SECONDS.MICROSECONDS CALL(ARGUMENTS) = RESULT <SECONDS>"

int log_open(struct log **log);
int log_add_file(struct log *log, const char *path);
int log_add_text(struct log *log, const char *name, const char *text, size_t bytes);
void log_rewind(struct log *log);
int log_next(struct log *log, struct event *event);
const char *log_message(const struct log *log);
u64 log_foreign(const struct log *log);
u64 log_damaged(const struct log *log);
u64 log_lost(const struct log *log);
u64 log_clock_steps(const struct log *log);
void log_position(const struct log *log, u64 *done_bytes, u64 *total_bytes);
bool log_has_exits(const struct log *log);
void log_close(struct log *log);

#endif
