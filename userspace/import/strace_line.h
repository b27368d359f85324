/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * strace_line.h - one line of an strace log, and the system call that it shows.
 *
 * Texts point into the log, are not terminated, and live as long as it does.
 */
#ifndef IMPORT_STRACE_LINE_H
#define IMPORT_STRACE_LINE_H

#include "lib/iotape.h"

#define CALL_ARGS_MAX 8

struct text {
	const char *p;
	size_t bytes;
};

enum line_kind {
	LINE_CALL,       /* NAME(ARGUMENTS) = RESULT <DURATION> */
	LINE_BEGIN,      /* NAME(ARGUMENTS <unfinished ...> */
	LINE_CUT,        /* NAME(ARGUMENTS, and a message of strace: the rest is on the next line */
	LINE_RESUMED,    /* <... NAME resumed>ARGUMENTS) = RESULT <DURATION> */
	LINE_EXITED,     /* +++ exited with CODE +++, or +++ killed by SIGNAL +++ */
	LINE_SUPERSEDED, /* +++ superseded by execve in pid PID +++ */
	LINE_ATTACHED,   /* strace: Process PID attached */
	LINE_NOTE,       /* of strace, and of no interest: a signal, a stack, a message */
	LINE_SUMMARY,    /* the head of the table that -C appends */
	LINE_UNTIMED,    /* a call without time stamp */
	LINE_FOREIGN,    /* not of strace */
};

/**
 * struct line - a line
 * @pid: thread that it is of, 0 if it does not say
 * @time_ns: since 1970
 * @name: of the system call
 * @body: the text after the parenthesis, or after the word `resumed>`
 * @code: LINE_EXITED: wait status; LINE_SUPERSEDED: pid of the thread that called execve;
 *	LINE_ATTACHED, LINE_CUT: pid of the new thread, 0 if the message is about something else
 */
struct line {
	enum line_kind kind;
	u32 pid;
	u64 time_ns;
	struct text name;
	struct text body;
	u32 code;
};

/**
 * struct call - a system call
 * @names: strace's names of the arguments: -N all of them, else those of clone(2); empty if none
 * @result: return value, a negative errno if the call failed
 * @has_result: the call returned; else its result is `?`
 * @has_duration: the line shows the duration
 * @result_path: path that -y shows for a returned descriptor; empty if none
 * @outer_pid: number of a returned process in strace's namespace, from --decode-pids=pidns; or 0
 * @attached_pid: process that strace attached while the call was under way; 0 if none is known
 * @begin_ns, @end_ns: since 1970
 */
struct call {
	u32 pid;
	struct text name;
	struct text args[CALL_ARGS_MAX];
	struct text names[CALL_ARGS_MAX];
	u32 arg_count;
	s64 result;
	bool has_result;
	bool has_duration;
	struct text result_path;
	u32 outer_pid;
	u32 attached_pid;
	u64 begin_ns;
	u64 end_ns;
	u64 duration_ns;
};

void line_parse(struct text text, struct line *line);
bool line_continue(struct text text, struct line *line);

/* strace_call.c */
int call_parse(struct text body, struct call *call);
const char *text_skip(const char *p, const char *end);
const char *text_skip_angle(const char *p, const char *end);

/* -- parts of lines, see strace_line.c ------------------------------------------------------- */

const char *skip_spaces(const char *p, const char *end);
bool starts_with(const char *p, const char *end, const char *word);
const char *take_digits(const char *p, const char *end, u64 *number);
const char *take_time(const char *p, const char *end, u64 *time_ns);
bool is_word(char c);

/* -- values of arguments, see strace_value.c ------------------------------------------------- */

#define FD_CWD (-100)

/* How much of a set of flags is known. */
enum value_known {
	VALUE_UNKNOWN, /* it is none */
	VALUE_PARTLY,
	VALUE_KNOWN,
};

bool text_is(struct text text, const char *word);
bool value_number(struct text text, s64 *number);
enum value_known value_flags(struct text text, s64 *flags);
bool call_number(const struct call *call, u32 index, s64 *number);
enum value_known call_flags(const struct call *call, u32 index, s64 *flags);
bool value_fd(struct text text, s64 *fd, struct text *path);
int value_string(struct text text, u8 *bytes, size_t room, size_t *count);
bool value_member(struct text text, const char *name, struct text *value);
bool value_member_number(struct text text, const char *name, s64 *number);
bool value_first(struct text list, struct text *item, struct text *rest);
bool value_inner(struct text text, char bracket, struct text *inner);
void value_path(struct text quoted, u8 *bytes, size_t room, size_t *count);

/* constants.c */
bool constant_find(struct text name, s64 *value);

#endif
