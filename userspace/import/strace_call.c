// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_call.c - take the text of a system call apart: arguments, result, duration.
 */
#include <ctype.h>

#include "strace_line.h"

static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/**
 * text_skip_angle() - skip the text of -y and -yy for a descriptor, which may contain brackets and arrows
 * @p: at the opening bracket
 *
 * Return: after the closing bracket, or @end.
 */
const char *text_skip_angle(const char *p, const char *end)
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
		if (starts_with(p, end, "/*")) {
			for (p += 2; p < end && !starts_with(p, end, "*/"); p++)
				;
			p = p < end ? p + 2 : end;
			continue;
		}
		if (starts_with(p, end, "<<")) {
			p += 2;
			continue;
		}
		if (*p == '<' && is_descriptor(begin, p)) {
			p = text_skip_angle(p, end);
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

/* -- text after the arguments ----------------------------------------------------------------- */

static s64 errno_of(const char *p, const char *end)
{
	static const char numbered[] = "(errno ";
	size_t bytes = 0;
	u64 value;
	int number;

	if (starts_with(p, end, numbered)) {
		take_digits(p + strlen(numbered), end, &value);
		return value && value < 4096 ? -(s64)value : -EIO;
	}
	while (p + bytes < end && is_word(p[bytes]))
		bytes++;
	for (number = 1; number < 534; number++) {
		const char *known = strerrorname_np(number);

		if (known && strlen(known) == bytes && !memcmp(known, p, bytes))
			return -number;
	}
	return -EIO;
}

/* A clock that was set back during the call: old versions measure by it. */
static bool is_negative_time(const char *p, const char *end)
{
	if (p == end || *p != '-')
		return false;
	while (p < end && (isdigit((unsigned char)*p) || *p == '.' || *p == '-'))
		p++;
	return p == end;
}

/* <0.000123> at the end of the line. Return: the end of the text before it. */
static const char *take_duration(struct call *call, const char *p, const char *end)
{
	const char *open = end;

	while (end > p && end[-1] == ' ')
		end--;
	if (end == p || end[-1] != '>')
		return end;
	for (open = end - 1; open > p && *open != '<'; open--)
		;
	if (open == p || open[-1] != ' ')
		return end;
	if (is_negative_time(open + 1, end - 1))
		call->duration_ns = 0;
	else if (take_time(open + 1, end - 1, &call->duration_ns) != end - 1)
		return end;
	call->has_duration = true;
	return open;
}

/* The text after the number: 3</a/b>(deleted), or a process and its number in strace's own namespace. */
static void take_comments(struct call *call, const char *p, const char *end)
{
	u64 pid;

	if (p < end && *p == '<') {
		const char *after = text_skip_angle(p, end);

		call->result_path = (struct text){ p + 1, (size_t)(after - p - 1) };
		if (call->result_path.bytes)
			call->result_path.bytes--;
		p = skip_spaces(after, end);
		if (starts_with(p, end, "(deleted)"))
			call->result_path.bytes = 0;
	}
	p = skip_spaces(p, end);
	if (!starts_with(p, end, "/* "))
		return;
	p = take_digits(p + 3, end, &pid);
	if (starts_with(p, end, " in strace's PID NS") && pid <= 0x7fffffff)
		call->outer_pid = (u32)pid;
}

static int take_result(struct call *call, const char *p, const char *end)
{
	const char *close;
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
	for (close = p; close < end && (is_word(*close) || *close == '-'); close++)
		;
	if (!value_number((struct text){ p, (size_t)(close - p) }, &value))
		return -EINVAL;
	call->has_result = true;
	call->result = value;
	take_comments(call, close, end);
	close = skip_spaces(close, end);
	if (value == -1 && close < end && (*close == 'E' || starts_with(close, end, "(errno ")))
		call->result = errno_of(close, end);
	return 0;
}

/* -- arguments ----------------------------------------------------------------------------------- */

/* With -N, and in clone(2), arguments have names: flags=O_RDONLY. */
static void take_name(struct text *arg, struct text *name)
{
	size_t bytes = 0;

	*name = (struct text){ arg->p, 0 };
	while (bytes < arg->bytes && is_word(arg->p[bytes]) && !isupper((unsigned char)arg->p[bytes]))
		bytes++;
	if (!bytes || isdigit((unsigned char)*arg->p) || bytes == arg->bytes || arg->p[bytes] != '=')
		return;
	name->bytes = bytes;
	arg->p += bytes + 1;
	arg->bytes -= bytes + 1;
}

static void add_argument(struct call *call, const char *p, const char *stop)
{
	struct text *arg = &call->args[call->arg_count];

	while (stop > p && stop[-1] == ' ')
		stop--;
	if (stop == p || call->arg_count == CALL_ARGS_MAX)
		return;
	*arg = (struct text){ p, (size_t)(stop - p) };
	take_name(arg, &call->names[call->arg_count++]);
}

/**
 * call_parse() - arguments, result and duration of a call
 * @body: the text after the parenthesis that follows the name
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
	call->outer_pid = 0;
	for (;;) {
		p = skip_spaces(p, end);
		stop = text_skip(p, end);
		if (stop == end)
			return -EINVAL;
		add_argument(call, p, stop);
		p = stop + 1;
		if (*stop != ',')
			break;
	}
	return *stop == ')' ? take_result(call, p, end) : -EINVAL;
}
