// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace.c - reads strace logs.
 */
#include "strace.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIDS_MAX 4096

/* The first part of a call that strace interrupted to print another thread's. */
struct half {
	int pid;
	char *text;
	struct call *call;
};

struct reader {
	struct log *log;
	long room;
	struct half halves[PIDS_MAX];
	int half_count;
};

static void *grow(void *memory, size_t bytes)
{
	void *grown = realloc(memory, bytes);

	if (!grown)
		abort();
	return grown;
}

static void add_event(struct reader *reader, enum event_kind kind, int pid, struct call *call)
{
	struct log *log = reader->log;

	if (log->count == reader->room) {
		reader->room = 2 * reader->room + 1024;
		log->events = grow(log->events, (size_t)reader->room * sizeof(*log->events));
	}
	log->events[log->count++] = (struct event){ kind, pid, call };
}

/* -- arguments ----------------------------------------------------------------------- */

/* Decodes \n, \", \ooo and similar; stops at the closing quote. Return: the number of bytes. */
static size_t take_string(const char *p, char *to)
{
	const char *begin = to;
	static const char names[] = "n\nt\tr\rv\vf\fa\ab\be\033";
	const char *name;
	int value, digits;

	for (p++; *p && *p != '"'; p++) {
		if (*p != '\\') {
			*to++ = *p;
			continue;
		}
		p++;
		if (*p >= '0' && *p <= '7') {
			for (value = 0, digits = 0; digits < 3 && *p >= '0' && *p <= '7'; digits++)
				value = value * 8 + (*p++ - '0');
			*to++ = (char)value;
			p--;
		} else {
			name = isalpha((unsigned char)*p) ? strchr(names, *p) : NULL;
			*to++ = name ? name[1] : *p;
		}
	}
	*to = 0;
	return (size_t)(to - begin);
}

/* The end of an argument: a comma or the closing parenthesis of the outermost level. */
static const char *argument_end(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++)
				if (*p == '\\' && p[1])
					p++;
			if (!*p)
				break;
		} else if (*p == '/' && p[1] == '*') {
			p = strstr(p, "*/");
			if (!p++)
				return "";
		} else if (*p == '<' && p[1] != '<' && p[-1] != '<') {
			p += strcspn(p, ">");
		} else if (strchr("([{", *p)) {
			depth++;
		} else if (strchr(")]}", *p)) {
			if (!depth--)
				break;
		} else if (*p == ',' && !depth) {
			break;
		}
	}
	return p;
}

/* "3</mnt/f>(deleted)": the path is moved to @path, the rest remains. */
static void split_path(struct argument *argument)
{
	char *open = strchr(argument->text, '<'), *close, *quoted;

	if (!open || !(isdigit((unsigned char)*argument->text) || !strncmp(argument->text, "AT_FDCWD", 8)))
		return;
	close = strrchr(open, '>');
	if (!close)
		return;
	*open = *close = 0;
	argument->path = open + 1;
	if (asprintf(&quoted, "\"%s\"", argument->path) < 0)
		abort();
	take_string(quoted, argument->path); /* escaped in the same way as strings */
	free(quoted);
}

static void take_argument(struct argument *argument, const char *begin, const char *end)
{
	while (end > begin && isspace((unsigned char)end[-1]))
		end--;
	*argument = (struct argument){ .text = strndup(begin, (size_t)(end - begin)) };
	if (*begin == '"') {
		argument->is_string = true;
		argument->is_cut = end - begin > 3 && !strncmp(end - 3, "...", 3);
		argument->bytes = take_string(begin, argument->text);
	} else {
		split_path(argument);
	}
}

static const char *take_arguments(struct call *call, const char *p)
{
	const char *end;

	for (;;) {
		p += strspn(p, " ");
		end = argument_end(p);
		if (end > p && call->arg_count < CALL_ARGS_MAX)
			take_argument(&call->args[call->arg_count++], p, end);
		if (*end != ',')
			return *end ? end + 1 : end;
		p = end + 1;
	}
}

/* -- calls ------------------------------------------------------------------------------ */

static int errno_of(const char *name, size_t length)
{
	int number;

	for (number = 1; number < 4096; number++) {
		const char *known = strerrorname_np(number);

		if (known && strlen(known) == length && !strncmp(known, name, length))
			return number;
	}
	return 0;
}

static void take_result(struct call *call, const char *p)
{
	char *end;

	p += strspn(p, " =");
	if (*p == '?' || !*p)
		return;
	call->result = (long long)strtoull(p, &end, 0);
	if (end == p)
		return;
	call->has_result = true;
	if (*end == '<') {
		struct argument result;

		take_argument(&result, p, argument_end(p));
		call->result_path = result.path;
	} else if (call->result == -1 && end[0] == ' ' && end[1] == 'E') {
		call->err = errno_of(end + 1, strcspn(end + 1, " "));
	}
}

/* @text is NAME(ARGUMENTS) = RESULT, or only the first part. */
static void parse_call(struct call *call, const char *text)
{
	const char *open = strchr(text, '(');

	call->name = strndup(text, (size_t)(open - text));
	call->arg_count = 0;
	take_result(call, take_arguments(call, open + 1));
}

static struct half *half_of(struct reader *reader, int pid)
{
	int i;

	for (i = 0; i < reader->half_count; i++)
		if (reader->halves[i].pid == pid)
			return &reader->halves[i];
	return NULL;
}

static int begin_half(struct reader *reader, struct call *call, char *text, char *mark)
{
	struct half *half = half_of(reader, call->pid);

	if (!half) {
		if (reader->half_count == PIDS_MAX)
			return -E2BIG;
		half = &reader->halves[reader->half_count++];
		half->pid = call->pid;
	}
	*mark = 0;
	half->text = strdup(text);
	half->call = call;
	parse_call(call, text);
	add_event(reader, EVENT_ENTER, call->pid, call);
	return 0;
}

static int end_half(struct reader *reader, int pid, const char *text)
{
	struct half *half = half_of(reader, pid);
	const char *rest = strstr(text, "resumed>");
	char *whole;

	if (!half || !half->text || !rest)
		return -EINVAL;
	rest += strlen("resumed>");
	whole = grow(NULL, strlen(half->text) + strlen(rest) + 1);
	strcpy(whole, half->text);
	strcat(whole, rest);
	parse_call(half->call, whole);
	add_event(reader, EVENT_LEAVE, pid, half->call);
	half->text = NULL;
	return 0;
}

static int take_line(struct reader *reader, char *line, long number)
{
	char *text, *mark;
	struct call *call;
	int pid = (int)strtol(line, &text, 10);

	strtod(text, &text); /* the time */
	text += strspn(text, " ");
	if (pid <= 0)
		return -EINVAL;
	if (!strncmp(text, "---", 3))
		return 0;
	if (!strncmp(text, "+++", 3)) {
		add_event(reader, EVENT_END, pid, NULL);
		return 0;
	}
	if (*text == '<')
		return end_half(reader, pid, text);
	if (!strchr(text, '('))
		return -EINVAL;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->pid = pid;
	call->line = number;
	mark = strstr(text, " <unfinished ...>");
	if (mark)
		return begin_half(reader, call, text, mark);
	parse_call(call, text);
	add_event(reader, EVENT_ENTER, pid, call);
	add_event(reader, EVENT_LEAVE, pid, call);
	return 0;
}

/**
 * log_read() - read a whole log
 * @path: path of the log
 * @log: filled in; contains a message after an error
 *
 * Return: 0 or a negative errno.
 */
int log_read(const char *path, struct log *log)
{
	static struct reader reader;
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	long number = 0;
	ssize_t bytes;
	int err = 0;

	*log = (struct log){};
	reader = (struct reader){ .log = log };
	if (!in) {
		snprintf(log->error, sizeof(log->error), "%s", strerror(errno));
		return -errno;
	}
	while (!err && (bytes = getline(&line, &room, in)) > 0) {
		number++;
		if (line[bytes - 1] == '\n')
			line[bytes - 1] = 0;
		err = take_line(&reader, line, number);
		if (err)
			snprintf(log->error, sizeof(log->error), "line %ld: not of a strace log: %.80s",
				 number, line);
	}
	free(line);
	fclose(in);
	return err;
}

const char *argument_text(const struct call *call, int index)
{
	return index < call->arg_count ? call->args[index].text : "";
}

long long argument_number(const struct call *call, int index)
{
	return (long long)strtoull(argument_text(call, index), NULL, 0);
}

/**
 * argument_has_flag() - does an argument like O_RDWR|O_CREAT contain this flag?
 */
bool argument_has_flag(const struct call *call, int index, const char *flag)
{
	const char *p = argument_text(call, index);
	size_t length = strlen(flag);

	for (; *p; p += *p == '|') {
		size_t word = strcspn(p, "|");

		if (word == length && !strncmp(p, flag, length))
			return true;
		p += word;
	}
	return false;
}
