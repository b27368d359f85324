/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace_source.h - the files of an strace log, line by line. For strace_log.c, strace_events.c,
 * strace_source.c and strace_clock.c alone.
 */
#ifndef IMPORT_STRACE_SOURCE_H
#define IMPORT_STRACE_SOURCE_H

#include <uthash.h>

#include "strace_log.h"

/* No run that is traced takes so long: 104 days. */
#define RUN_MAX_NS (1ull << 53)

/**
 * struct thread - a thread, and the call that it is in
 * @text: of a call that is printed in halves, so far
 */
struct thread {
	UT_hash_handle hh;
	u32 pid;
	bool is_alive;
	bool is_in_call;
	char *text;
	size_t bytes;
	struct call call;
};

/* From a line on, times are later than the log has them, because the clock was set back. */
struct clock_shift {
	u64 line;
	u64 by_ns;
};

/**
 * struct source - one file
 * @pid: of -ff, from its name; else 0
 * @at: the next line
 * @due_ns: when its next event is
 * @attached: processes that messages named in the middle of the current line, but for the first
 * @attached_count: their number
 * @joined: a line that was divided by a message, joined again
 * @joined_before: the one before it: a line is read ahead while the one before is still in use
 * @is_summary: the rest is the table that -C appends
 * @leaving: the thread whose whole line was entered, and must be left next
 * @is_repeated: the line makes another event
 * @shifts: of its clock, in the order of lines
 */
struct source {
	char *name;
	const char *text;
	size_t bytes;
	bool is_mapped;
	u32 pid;
	size_t at;
	u64 line;
	struct line next;
	bool has_next;
	u64 due_ns;
	u32 *attached;
	size_t attached_count;
	char *joined;
	char *joined_before;
	bool is_summary;
	struct thread *leaving;
	bool is_repeated;
	u64 calls;
	u64 foreign;
	struct clock_shift *shifts;
	size_t shift_count;
};

/**
 * struct log - all of them
 * @alive: threads that have not ended
 * @first_pid: how lines call the thread that was nameless at first
 * @has_exits: lines say how threads end; not with -qq
 * @clock_steps: times the clock was set back
 * @foreign: lines that are not of strace
 * @damaged: lines of calls that were cut, or are not as strace writes them
 * @lost: calls whose end is missing
 */
struct log {
	struct source *sources;
	size_t source_count;
	struct source **heap;
	size_t heap_count;
	struct thread *threads;
	u32 alive;
	u32 first_pid;
	u64 first_ns;
	bool is_started;
	bool is_surveyed;
	bool has_exits;
	u64 clock_steps;
	u64 foreign;
	u64 damaged;
	u64 lost;
	char message[512];
};

int source_refuse(struct log *log, const struct source *source, int err, const char *why);
void source_rewind(struct source *source);
void source_close(struct source *source);
bool source_text(struct source *source, struct text *text);
int source_line(struct log *log, struct source *source);
int clock_survey(struct log *log);
void threads_free(struct log *log);
int log_deliver(struct log *log, struct source *source, struct event *event);
void log_exit_seen(struct log *log, const struct call *call);

#endif
