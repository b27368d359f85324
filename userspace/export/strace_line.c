// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_line.c - arguments of calls, in the words of strace.
 */
#include <string.h>

#include "strace_line.h"

/**
 * line_path() - write a path of the trace as a quoted absolute path
 */
void line_path(const struct line *l, const char *path)
{
	char full[EXPORT_PATH_BYTES];

	export_full_path(l->x, path, full);
	strace_string(l->out, full, strlen(full));
}

/**
 * line_words() - write the words of all bits that are set, or @none
 */
void line_words(const struct line *l, const struct word *words, size_t count, u32 bits, const char *none)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < count; i++) {
		if (!(bits & words[i].bits))
			continue;
		fprintf(l->out, "%s%s", separator, words[i].text);
		separator = "|";
	}
	if (!*separator)
		fputs(none, l->out);
}

/**
 * line_begin() - write thread, time and the name of the call
 */
void line_begin(const struct line *l, const char *call)
{
	strace_begin_line(l->x, l->event);
	fprintf(l->out, "%s(", call);
}

/**
 * line_finish() - write the operation's result, and its duration
 */
int line_finish(const struct line *l)
{
	strace_end_line(l->x, l->event, l->event->result);
	return 0;
}

/**
 * line_lose() - count the operation as one that has no line
 */
int line_lose(const struct line *l, const char *reason)
{
	export_lose(l->x, l->event, reason);
	return 0;
}

/**
 * line_begin_fd() - begin a call on the descriptor of a handle; one that the log has not shown before is written
 *	with its file, as strace -y does
 */
int line_begin_fd(const struct line *l, const char *call, u64 handle)
{
	char full[EXPORT_PATH_BYTES];
	bool is_new;
	int fd = strace_fd_use(l->fds, strace_process(l->event), handle, &is_new);

	if (fd < 0)
		return fd;
	line_begin(l, call);
	fprintf(l->out, "%d", fd);
	if (is_new && *l->event->path)
		fprintf(l->out, "<%s>", export_full_path(l->x, l->event->path, full));
	return 0;
}

/**
 * line_fd() - write the descriptor of a handle as an argument
 */
int line_fd(const struct line *l, u64 handle)
{
	bool is_new;
	int fd = strace_fd_use(l->fds, strace_process(l->event), handle, &is_new);

	if (fd >= 0)
		fprintf(l->out, "%d", fd);
	return fd < 0 ? fd : 0;
}

/**
 * line_begin_object() - begin a call with a name, or with the descriptor of a handle if that is not 0
 */
int line_begin_object(const struct line *l, const char *by_name, const char *by_fd, u64 handle)
{
	if (handle)
		return line_begin_fd(l, by_fd, handle);
	if (!*l->event->name_path && !*l->event->path) {
		export_lose(l->x, l->event, EXPORT_NO_PATH);
		return 1;
	}
	line_begin(l, by_name);
	line_path(l, *l->event->name_path ? l->event->name_path : l->event->path);
	return 0;
}
