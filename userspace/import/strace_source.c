// SPDX-License-Identifier: GPL-2.0-only
/*
 * strace_source.c - one file of an strace log, line by line.
 */
#include "strace_source.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Lines that are not strace's are skipped; a file that begins with so many is not a log. */
#define FOREIGN_MAX 1000

int source_refuse(struct log *log, const struct source *source, int err, const char *why)
{
	snprintf(log->message, sizeof(log->message), "%s:%llu: %s", source->name, source->line, why);
	return err;
}

void source_rewind(struct source *source)
{
	source->at = 0;
	source->line = 0;
	source->has_next = false;
	source->is_summary = false;
	source->leaving = NULL;
	source->attached_count = 0;
	source->calls = 0;
	source->foreign = 0;
}

void source_close(struct source *source)
{
	if (source->is_mapped)
		munmap((void *)source->text, source->bytes);
	free(source->name);
	free(source->joined);
	free(source->joined_before);
	free(source->attached);
	free(source->shifts);
}

/**
 * source_text() - take the next line as it is
 *
 * Return: whether there is one.
 */
bool source_text(struct source *source, struct text *text)
{
	const char *begin = source->text + source->at, *newline;
	size_t left = source->bytes - source->at;

	if (!left)
		return false;
	newline = memchr(begin, '\n', left);
	text->p = begin;
	text->bytes = newline ? (size_t)(newline - begin) : left;
	source->at += text->bytes + (newline ? 1 : 0);
	source->line++;
	return true;
}

/* A line whose time is months from the first one's was damaged. */
static bool is_near(struct log *log, const struct line *line)
{
	u64 away_ns;

	if (line->time_ns && !log->first_ns)
		log->first_ns = line->time_ns;
	away_ns = line->time_ns > log->first_ns ? line->time_ns - log->first_ns :
						  log->first_ns - line->time_ns;
	return !line->time_ns || away_ns < RUN_MAX_NS;
}

static void shift_time(const struct source *source, struct line *line)
{
	size_t i;

	for (i = source->shift_count; line->time_ns && i-- > 0;)
		if (source->shifts[i].line <= source->line) {
			line->time_ns += source->shifts[i].by_ns;
			return;
		}
}

/* -- lines that a message of strace cut in two --------------------------------------------------- */

static int add_attached(struct source *source, u32 pid)
{
	u32 *attached = reallocarray(source->attached, source->attached_count + 1, sizeof(*attached));

	if (!attached)
		return -ENOMEM;
	source->attached = attached;
	attached[source->attached_count++] = pid;
	return 0;
}

static int join(struct source *source, struct text rest)
{
	struct text *body = &source->next.body;
	char *joined = malloc(body->bytes + rest.bytes + 1);

	if (!joined)
		return -ENOMEM;
	memcpy(joined, body->p, body->bytes);
	memcpy(joined + body->bytes, rest.p, rest.bytes);
	free(source->joined_before);
	source->joined_before = source->joined;
	source->joined = joined;
	*body = (struct text){ joined, body->bytes + rest.bytes };
	return 0;
}

/* The rest of the call is on the next line that is not a message. If there is none, it stays open. */
static int complete_line(struct log *log, struct source *source)
{
	size_t at = source->at;
	u64 line = source->line;
	struct line rest;
	struct text text;
	int err = 0;

	source->next.kind = LINE_BEGIN;
	while (!err && source_text(source, &text) && line_continue(text, &rest)) {
		at = source->at;
		line = source->line;
		if (rest.kind == LINE_ATTACHED)
			err = add_attached(source, rest.code);
		log->foreign += rest.kind == LINE_FOREIGN;
		if (rest.kind != LINE_CALL && rest.kind != LINE_BEGIN)
			continue;
		source->next.kind = rest.kind;
		return join(source, rest.body);
	}
	source->at = at;
	source->line = line;
	return err;
}

/* -- lines ------------------------------------------------------------------------------------------ */

static int take_foreign(struct log *log, struct source *source, struct text text)
{
	if (source->is_summary)
		return 0;
	log->foreign++;
	if (text.bytes && !source->calls && ++source->foreign > FOREIGN_MAX)
		return source_refuse(log, source, -EPROTO, "no line so far is of the form " LOG_LINE_FORM);
	return 0;
}

/* Return: 1 if the line is of interest; 0 if not; or a negative errno. */
static int look_at_line(struct log *log, struct source *source, struct text text)
{
	switch (source->next.kind) {
	case LINE_UNTIMED:
		return source_refuse(log, source, -EPROTO,
				     "no time of the form SECONDS.MICROSECONDS: strace was run without -ttt");
	case LINE_FOREIGN:
		return take_foreign(log, source, text);
	case LINE_SUMMARY:
		source->is_summary = true;
		return 0;
	case LINE_NOTE:
		return 0;
	case LINE_ATTACHED:
		source->next.time_ns = source->due_ns;
		return 1;
	case LINE_CUT:
		return complete_line(log, source) ?: 1;
	default:
		return 1;
	}
}

/**
 * source_line() - take the next line that is of interest
 *
 * Return: 1; 0 at the end of the file; or a negative errno.
 */
int source_line(struct log *log, struct source *source)
{
	struct text text;
	int n;

	source->has_next = false;
	source->attached_count = 0;
	while (source_text(source, &text)) {
		line_parse(text, &source->next);
		shift_time(source, &source->next);
		if (!is_near(log, &source->next))
			source->next.kind = LINE_FOREIGN;
		n = look_at_line(log, source, text);
		if (n < 0)
			return n;
		if (!n)
			continue;
		source->has_next = true;
		source->due_ns = source->next.time_ns;
		return 1;
	}
	return 0;
}
