// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_line.c - the kind of a line of an strace log, and its parts.
 */
#include "strace_line.h"

#include <ctype.h>
#include <signal.h>

#define NS_PER_S 1000000000ull

const char *skip_spaces(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

bool starts_with(const char *p, const char *end, const char *word)
{
	size_t bytes = strlen(word);

	return (size_t)(end - p) >= bytes && !memcmp(p, word, bytes);
}

/**
 * take_digits() - a decimal number
 *
 * Return: after the digits; @p if there are none or too many.
 */
const char *take_digits(const char *p, const char *end, u64 *number)
{
	const char *begin = p;

	for (*number = 0; p < end && isdigit((unsigned char)*p); p++) {
		if (*number > (u64)-1 / 10 - 1)
			return begin;
		*number = *number * 10 + (u64)(*p - '0');
	}
	return p;
}

/**
 * take_time() - SECONDS.FRACTION
 *
 * Return: the position after it; @p if there is no time.
 */
const char *take_time(const char *p, const char *end, u64 *time_ns)
{
	u64 seconds, unit = NS_PER_S, fraction = 0;
	const char *q = take_digits(p, end, &seconds);

	if (q == p || q == end || *q != '.' || seconds > (1ull << 33))
		return p;
	for (q++; q < end && isdigit((unsigned char)*q); q++) {
		unit /= 10;
		fraction += unit * (u64)(*q - '0');
	}
	*time_ns = seconds * NS_PER_S + fraction;
	return q;
}

bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Names of calls of another ABI have #64 behind them, or 64: before. */
static bool is_name(char c)
{
	return is_word(c) || c == '#' || c == ':';
}

static bool is_pid(u64 pid)
{
	return pid && pid <= 0x7fffffff;
}

/* -- contents of a line ---------------------------------------------------------------------- */

static void parse_end(struct line *line, const char *p, const char *end)
{
	static const char with[] = "exited with ", killed[] = "killed by ",
			  superseded[] = "superseded by execve in pid ";
	u64 number = 0;
	s64 value = 0;

	p = skip_spaces(p, end);
	if (starts_with(p, end, with)) {
		take_digits(p + strlen(with), end, &number);
		line->kind = LINE_EXITED;
		line->code = (u32)(number & 0xff) << 8;
	} else if (starts_with(p, end, killed)) {
		struct text name = { p + strlen(killed), 0 };

		while (name.p + name.bytes < end && is_word(name.p[name.bytes]))
			name.bytes++;
		line->kind = LINE_EXITED;
		line->code = constant_find(name, &value) ? (u32)value : SIGKILL;
	} else if (starts_with(p, end, superseded)) {
		take_digits(p + strlen(superseded), end, &number);
		line->kind = LINE_SUPERSEDED;
		line->code = (u32)number;
	}
}

static void parse_resumed(struct line *line, const char *p, const char *end)
{
	static const char mark[] = " resumed>";

	p = skip_spaces(p + strlen("<..."), end);
	line->name.p = p;
	while (p < end && is_name(*p))
		p++;
	line->name.bytes = (size_t)(p - line->name.p);
	if (!starts_with(p, end, mark))
		return;
	p += strlen(mark);
	line->kind = LINE_RESUMED;
	line->body = (struct text){ p, (size_t)(end - p) };
}

static bool ends_with(const char *p, const char *end, const char *word)
{
	size_t bytes = strlen(word);

	return (size_t)(end - p) >= bytes && !memcmp(end - bytes, word, bytes);
}

/* Nothing, or: (waiting for parent), with 3 threads, - interrupt to quit. */
static bool is_message_end(const char *p, const char *end)
{
	return p == end || (starts_with(p, end, " (") && end[-1] == ')') ||
	       (starts_with(p, end, " with ") && ends_with(p, end, " threads")) ||
	       (starts_with(p, end, " - ") && ends_with(p, end, " to quit"));
}

/* Where the name stands that strace was called by, perhaps with its directory. */
static const char *message_begin(const char *begin, const char *message)
{
	static const char name[] = "strace: ";
	const char *p, *first;

	if (!ends_with(begin, message, name))
		return message;
	first = message - strlen(name);
	for (p = first; p > begin && (is_word(p[-1]) || strchr("/.-+", p[-1])); p--)
		if (p[-1] == '/')
			first = p - 1;
	return first;
}

/*
 * Messages of strace on standard error about a process: `Process 1 attached`, `Process 1 resumed
 * (parent 2 ready)`; new versions write `strace: ` or another program name before it. Return: where the
 * message begins, if it ends the line; NULL if there is none. @attached: out: process, or 0.
 */
static const char *find_message(const char *p, const char *end, u32 *attached)
{
	static const char mark[] = "Process ";
	static const char *const verbs[] = { " attached", " detached", " suspended", " resumed" };
	const char *message = memmem(p, (size_t)(end - p), mark, strlen(mark)), *q;
	u64 pid;
	size_t i;

	*attached = 0;
	if (!message)
		return NULL;
	q = take_digits(message + strlen(mark), end, &pid);
	if (!is_pid(pid))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(verbs) && !starts_with(q, end, verbs[i]); i++)
		;
	if (i == ARRAY_SIZE(verbs))
		return NULL;
	if (!is_message_end(q + strlen(verbs[i]), end))
		return NULL;
	if (!i)
		*attached = (u32)pid;
	return message_begin(p, message);
}

/* A call stays open where another line came between, or the tracing ended. */
static void take_unfinished(struct line *line)
{
	static const char *const marks[] = { "<unfinished ...>", "<detached ...>" };
	const char *p = line->body.p, *end = p + line->body.bytes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t bytes = strlen(marks[i]);

		if ((size_t)(end - p) < bytes || memcmp(end - bytes, marks[i], bytes))
			continue;
		line->kind = LINE_BEGIN;
		end -= bytes;
		while (end > p && end[-1] == ' ')
			end--;
	}
	line->body.bytes = (size_t)(end - p);
}

static void parse_call(struct line *line, const char *p, const char *end)
{
	const char *message;

	if (starts_with(p, end, "??" "?(")) { /* strace attached during the call */
		line->kind = LINE_NOTE;
		return;
	}
	line->name.p = p;
	while (p < end && is_name(*p))
		p++;
	line->name.bytes = (size_t)(p - line->name.p);
	if (!line->name.bytes || p == end || *p != '(')
		return;
	p++;
	line->kind = LINE_CALL;
	message = find_message(p, end, &line->code);
	if (message) {
		line->kind = LINE_CUT;
		end = message;
	}
	line->body = (struct text){ p, (size_t)(end - p) };
	if (!message)
		take_unfinished(line);
}

/* The command of a thread as printed by -Y: <sh>. Return: after it. */
static const char *skip_command(const char *p, const char *end)
{
	return p < end && *p == '<' ? text_skip_angle(p, end) : p;
}

/* [pid N], or N and a space. Return: after it. */
static const char *parse_pid(struct line *line, const char *p, const char *end)
{
	const char *q = p;
	u64 pid;

	if (starts_with(p, end, "[pid")) {
		p = skip_spaces(p + 4, end);
		q = skip_command(take_digits(p, end, &pid), end);
		if (q == p || q == end || *q != ']' || pid > 0x7fffffff)
			return p;
		q++;
	} else {
		q = skip_command(take_digits(p, end, &pid), end);
		if (q == p || q == end || *q != ' ' || pid > 0x7fffffff)
			return p;
	}
	line->pid = (u32)pid;
	return skip_spaces(q, end);
}

/* [ 257], [00007f30d58b43ba], [unconfined_u:unconfined_r:unconfined_t:s0]. Return: after them. */
static const char *skip_brackets(const char *p, const char *end)
{
	const char *close;

	while (p < end && *p == '[' && (close = memchr(p, ']', (size_t)(end - p))))
		p = skip_spaces(close + 1, end);
	return p;
}

/* Time since the line before, as -r adds it: (+     0.000123). Return: after it. */
static const char *skip_relative(const char *p, const char *end)
{
	const char *close = starts_with(p, end, "(+") ? memchr(p, ')', (size_t)(end - p)) : NULL;

	return close ? skip_spaces(close + 1, end) : p;
}

/* Does it look like a call that would have a time stamp with -ttt? */
static bool is_untimed(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && (isdigit((unsigned char)*q) || *q == ':' || *q == '.'))
		q++;
	p = skip_brackets(skip_relative(skip_spaces(q, end), end), end);
	for (q = p; q < end && is_name(*q); q++)
		;
	return q > p && q < end && *q == '(' && memmem(q, (size_t)(end - q), ") = ", 4);
}

/* Lines of strace without a time: messages, stacks of -k, data of -e read. Return: is it such? */
static bool parse_message(struct line *line, const char *begin, const char *end)
{
	const char *p = skip_spaces(begin, end), *message = find_message(p, end, &line->code);

	if (message == p) {
		line->kind = line->code ? LINE_ATTACHED : LINE_NOTE;
		return true;
	}
	if (starts_with(p, end, "strace: ") || starts_with(p, end, "[ Process PID=") ||
	    starts_with(begin, end, " > ") || starts_with(begin, end, " | ") ||
	    starts_with(p, end, "<unfinished ...>")) {
		line->kind = LINE_NOTE;
		return true;
	}
	if (starts_with(p, end, "% time ")) {
		line->kind = LINE_SUMMARY;
		return true;
	}
	return false;
}

static const char *trim(struct text text)
{
	const char *end = text.p + text.bytes;

	while (end > text.p && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	return end;
}

/**
 * line_parse() - the kind of a line, and its parts
 * @text: the line, without its end
 * @line: out
 */
void line_parse(struct text text, struct line *line)
{
	const char *p, *end = trim(text), *after;

	*line = (struct line){ .kind = LINE_FOREIGN };
	if (parse_message(line, text.p, end))
		return;
	p = skip_brackets(parse_pid(line, skip_spaces(text.p, end), end), end);
	after = take_time(p, end, &line->time_ns);
	if (after == p || after == end || *after != ' ' || line->time_ns < NS_PER_S) {
		if (is_untimed(p, end))
			line->kind = LINE_UNTIMED;
		return;
	}
	p = skip_brackets(skip_relative(skip_spaces(after, end), end), end);
	if (starts_with(p, end, "--- "))
		line->kind = LINE_NOTE;
	else if (starts_with(p, end, "+++ "))
		parse_end(line, p + 4, end);
	else if (starts_with(p, end, "<... "))
		parse_resumed(line, p, end);
	else
		parse_call(line, p, end);
}

/* Does a call end here: is there a result behind a closing bracket? */
static bool has_result(struct text text)
{
	const char *p = text.p, *end = text.p + text.bytes;

	while ((p = memchr(p, ')', (size_t)(end - p)))) {
		p = skip_spaces(p + 1, end);
		if (starts_with(p, end, "= "))
			return true;
	}
	return false;
}

/**
 * line_continue() - a line behind one of the kind LINE_CUT
 * @text: that line, without its end
 * @line: out: another message, LINE_ATTACHED or LINE_NOTE; the rest of the call, LINE_CALL or LINE_BEGIN,
 *	with a @body; or LINE_FOREIGN, which may stand before the rest
 *
 * Return: false if it has a time, so that the rest of the call cannot follow.
 */
bool line_continue(struct text text, struct line *line)
{
	const char *end = trim(text);

	line_parse(text, line);
	if (line->time_ns)
		return false;
	if (line->kind == LINE_ATTACHED ||
	    (line->kind == LINE_NOTE && !ends_with(text.p, end, "<unfinished ...>")))
		return true;
	line->body = (struct text){ text.p, (size_t)(end - text.p) };
	if (find_message(text.p, end, &line->code)) { /* it is cut once more: too much */
		line->kind = LINE_FOREIGN;
		return true;
	}
	line->kind = has_result(line->body) ? LINE_CALL : LINE_FOREIGN;
	take_unfinished(line);
	return true;
}
