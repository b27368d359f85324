// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_line.c - take a line of an strace log apart.
 */
#include "strace_line.h"

#include <ctype.h>
#include <signal.h>

#define NS_PER_S 1000000000ull

static const char *skip_spaces(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static bool starts(const char *p, const char *end, const char *word)
{
	size_t bytes = strlen(word);

	return (size_t)(end - p) >= bytes && !memcmp(p, word, bytes);
}

/* Return: after the digits; @p if there are none or too many. */
static const char *take_digits(const char *p, const char *end, u64 *number)
{
	const char *begin = p;

	for (*number = 0; p < end && isdigit((unsigned char)*p); p++) {
		if (*number > (u64)-1 / 10 - 1)
			return begin;
		*number = *number * 10 + (u64)(*p - '0');
	}
	return p;
}

/* SECONDS.FRACTION, as nanoseconds. Return: after it; @p if that is not what is there. */
static const char *take_time(const char *p, const char *end, u64 *time_ns)
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

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* -- what is in a call --------------------------------------------------------------------- */

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* What -y and -yy say of a descriptor, which may have brackets and arrows of its own. */
static const char *skip_angle(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>' && p[-1] != '-' && !--depth)
			return p + 1;
	}
	return end;
}

static bool is_descriptor(const char *begin, const char *p)
{
	return p > begin && (isdigit((unsigned char)p[-1]) ||
			     (p - begin >= 8 && !memcmp(p - 8, "AT_FDCWD", 8)));
}

/**
 * text_skip() - the end of an argument, or of a member of a list
 * @p: its beginning
 * @end: of the text
 *
 * Return: the comma or the closing bracket after it, or @end.
 */
const char *text_skip(const char *p, const char *end)
{
	const char *begin = p;
	int depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (starts(p, end, "/*")) {
			for (p += 2; p < end && !starts(p, end, "*/"); p++)
				;
			p = p < end ? p + 2 : end;
			continue;
		}
		if (starts(p, end, "<<")) {
			p += 2;
			continue;
		}
		if (*p == '<' && is_descriptor(begin, p)) {
			p = skip_angle(p, end);
			continue;
		}
		if (*p == '(' || *p == '[' || *p == '{')
			depth++;
		else if ((*p == ')' || *p == ']' || *p == '}') && !depth--)
			break;
		else if (*p == ',' && !depth)
			break;
		p++;
	}
	return p;
}

static s64 errno_of(const char *p, const char *end)
{
	size_t bytes = 0;
	int number;

	while (p + bytes < end && is_name(p[bytes]))
		bytes++;
	for (number = 1; number < 534; number++) {
		const char *known = strerrorname_np(number);

		if (known && strlen(known) == bytes && !memcmp(known, p, bytes))
			return -number;
	}
	return -EIO;
}

/* <0.000123> at the end of the line. Return: what is before it. */
static const char *take_duration(struct call *call, const char *p, const char *end)
{
	const char *open = end;

	while (end > p && end[-1] == ' ')
		end--;
	if (end == p || end[-1] != '>')
		return end;
	for (open = end - 1; open > p && *open != '<'; open--)
		;
	if (open == p || open[-1] != ' ' ||
	    take_time(open + 1, end - 1, &call->duration_ns) != end - 1)
		return end;
	call->has_duration = true;
	return open;
}

static int take_result(struct call *call, const char *p, const char *end)
{
	const char *close;
	struct text number;
	s64 value;

	p = skip_spaces(p, end);
	if (p == end || *p != '=')
		return -EINVAL;
	p = skip_spaces(p + 1, end);
	end = take_duration(call, p, end);
	if (p == end)
		return -EINVAL;
	if (*p == '?')
		return 0;
	for (close = p; close < end && (is_name(*close) || *close == '-'); close++)
		;
	number = (struct text){ p, (size_t)(close - p) };
	if (!value_number(number, &value))
		return -EINVAL;
	call->has_result = true;
	call->result = value;
	if (close < end && *close == '<') {
		const char *after = skip_angle(close, end);

		call->result_path = (struct text){ close + 1, (size_t)(after - close - 1) };
		if (call->result_path.bytes)
			call->result_path.bytes--;
		if (starts(after, end, "(deleted)"))
			call->result_path.bytes = 0;
	}
	close = skip_spaces(close, end);
	if (value == -1 && close < end && *close == 'E')
		call->result = errno_of(close, end);
	return 0;
}

/**
 * call_parse() - arguments, result and duration of a call
 * @body: what follows the parenthesis that is after the name
 * @call: out: all but pid, name and times
 *
 * Return: 0, or -EINVAL if that is not how strace shows a call.
 */
int call_parse(struct text body, struct call *call)
{
	const char *p = body.p, *end = body.p + body.bytes, *stop;

	call->arg_count = 0;
	call->has_result = false;
	call->has_duration = false;
	call->result = 0;
	call->result_path = (struct text){ p, 0 };
	for (;;) {
		p = skip_spaces(p, end);
		stop = text_skip(p, end);
		if (stop == end)
			return -EINVAL;
		if (stop > p && call->arg_count < CALL_ARGS_MAX) {
			size_t bytes = (size_t)(stop - p);

			while (bytes && p[bytes - 1] == ' ')
				bytes--;
			call->args[call->arg_count++] = (struct text){ p, bytes };
		}
		p = stop + 1;
		if (*stop != ',')
			break;
	}
	return *stop == ')' ? take_result(call, p, end) : -EINVAL;
}

/* -- what is on a line ---------------------------------------------------------------------- */

static void parse_end(struct line *line, const char *p, const char *end)
{
	static const char with[] = "exited with ", killed[] = "killed by ",
			  superseded[] = "superseded by execve in pid ";
	u64 number = 0;
	s64 value = 0;

	p = skip_spaces(p, end);
	if (starts(p, end, with)) {
		take_digits(p + strlen(with), end, &number);
		line->kind = LINE_EXITED;
		line->code = (u32)(number & 0xff) << 8;
	} else if (starts(p, end, killed)) {
		struct text name = { p + strlen(killed), 0 };

		while (name.p + name.bytes < end && is_name(name.p[name.bytes]))
			name.bytes++;
		line->kind = LINE_EXITED;
		line->code = constant_find(name, &value) ? (u32)value : SIGKILL;
	} else if (starts(p, end, superseded)) {
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
	if (!starts(p, end, mark))
		return;
	p += strlen(mark);
	line->kind = LINE_RESUMED;
	line->body = (struct text){ p, (size_t)(end - p) };
}

/*
 * On a terminal, what strace says of a new thread stands in the middle of the call that made it,
 * and <unfinished ...> on the next line. Return: the end of the call's part.
 */
static const char *cut_note(struct line *line, const char *p, const char *end)
{
	static const char mark[] = "strace: Process ", attached[] = " attached";
	const char *note = memmem(p, (size_t)(end - p), mark, strlen(mark)), *q;
	u64 pid;

	if (!note)
		return end;
	q = take_digits(note + strlen(mark), end, &pid);
	if (!starts(q, end, attached) || q + strlen(attached) != end || pid > 0x7fffffff)
		return end;
	line->kind = LINE_BEGIN;
	line->code = (u32)pid;
	return note;
}

static void parse_call(struct line *line, const char *p, const char *end)
{
	static const char *const marks[] = { "<unfinished ...>", "<detached ...>" };
	size_t i;

	line->name.p = p;
	while (p < end && is_name(*p))
		p++;
	line->name.bytes = (size_t)(p - line->name.p);
	if (!line->name.bytes || p == end || *p != '(')
		return;
	p++;
	line->kind = LINE_CALL;
	end = cut_note(line, p, end);
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t bytes = strlen(marks[i]);

		if ((size_t)(end - p) >= bytes && !memcmp(end - bytes, marks[i], bytes)) {
			line->kind = LINE_BEGIN;
			end -= bytes;
			while (end > p && end[-1] == ' ')
				end--;
		}
	}
	line->body = (struct text){ p, (size_t)(end - p) };
}

/* [pid N], or N and a space. Return: after it. */
static const char *parse_pid(struct line *line, const char *p, const char *end)
{
	const char *q = p;
	u64 pid;

	if (starts(p, end, "[pid")) {
		p = skip_spaces(p + 4, end);
		q = take_digits(p, end, &pid);
		if (q == p || q == end || *q != ']' || pid > 0x7fffffff)
			return p;
		q++;
	} else {
		q = take_digits(p, end, &pid);
		if (q == p || q == end || *q != ' ' || pid > 0x7fffffff)
			return p;
	}
	line->pid = (u32)pid;
	return skip_spaces(q, end);
}

static void parse_note(struct line *line, const char *p, const char *end)
{
	static const char process[] = "strace: Process ";
	const char *q;
	u64 pid;

	if (!starts(p, end, process))
		return;
	p += strlen(process);
	q = take_digits(p, end, &pid);
	if (q > p && starts(q, end, " attached")) {
		line->kind = LINE_ATTACHED;
		line->code = (u32)pid;
	} else {
		line->kind = LINE_SIGNAL; /* strace's own news: of no interest either */
	}
}

/* Does it look like a call that would have a time stamp with -ttt? */
static bool is_untimed(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && (isdigit((unsigned char)*q) || *q == ':' || *q == '.'))
		q++;
	p = skip_spaces(q, end);
	for (q = p; q < end && is_name(*q); q++)
		;
	return q > p && q < end && *q == '(' && memmem(q, (size_t)(end - q), ") = ", 4);
}

/**
 * line_parse() - what kind of line it is, and its parts
 * @text: the line, without its end
 * @line: out
 */
void line_parse(struct text text, struct line *line)
{
	const char *p, *end = text.p + text.bytes, *after;

	*line = (struct line){ .kind = LINE_FOREIGN };
	while (end > text.p && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	p = skip_spaces(text.p, end);
	if (starts(p, end, "strace: ")) {
		parse_note(line, p, end);
		return;
	}
	if (starts(p, end, "<unfinished ...>")) {
		line->kind = LINE_SIGNAL; /* of a call that cut_note() has seen */
		return;
	}
	p = parse_pid(line, p, end);
	after = take_time(p, end, &line->time_ns);
	if (after == p || after == end || *after != ' ' || line->time_ns < NS_PER_S) {
		if (is_untimed(p, end))
			line->kind = LINE_UNTIMED;
		return;
	}
	p = skip_spaces(after, end);
	if (starts(p, end, "--- "))
		line->kind = LINE_SIGNAL;
	else if (starts(p, end, "+++ "))
		parse_end(line, p + 4, end);
	else if (starts(p, end, "<... "))
		parse_resumed(line, p, end);
	else
		parse_call(line, p, end);
}
