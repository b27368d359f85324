// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_filter.c - options whose value is a filter expression, or @FILE with one.
 */
#include "option_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536

static char *file_read(struct option_state *state, const char *path)
{
	char *text = calloc(1, FILE_MAX + 1);
	FILE *in = text ? fopen(path, "re") : NULL;
	size_t count;

	if (!in)
		option_failure(state, errno, "%s", path);
	count = fread(text, 1, FILE_MAX, in);
	if (ferror(in))
		option_failure(state, errno, "%s", path);
	if (count == FILE_MAX || strlen(text) != count)
		option_failure(state, EINVAL, "%s", path);
	fclose(in);
	return text;
}

/* The line of the character that is wrong, and a mark below it. Tabs stay tabs, so that the mark fits. */
static void fail_at(struct option_state *state, const char *name, const char *text, const struct filter_error *error)
{
	size_t begin = error->at, line = 1, i;
	char mark[256];

	while (begin && text[begin - 1] != '\n')
		begin--;
	for (i = 0; i < begin; i++)
		line += text[i] == '\n';
	for (i = 0; i < error->at - begin && i < sizeof(mark) - 1; i++)
		mark[i] = text[begin + i] == '\t' ? '\t' : ' ';
	mark[i] = 0;
	option_error(state, "%s: %zu:%zu: %s\n  %.*s\n  %s^", name, line, error->at - begin + 1, error->why,
		     (int)strcspn(text + begin, "\n"), text + begin, mark);
}

/**
 * option_filter() - compile the value of an option
 * @state: of the command line
 * @name: of the option, for messages
 * @argument: an expression, or the name of a file behind an at sign
 * @is_for_records: it is for the records of a trace
 *
 * Return: the filter, for filter_free(); if it is wrong, the process exits.
 */
struct filter *option_filter(struct option_state *state, const char *name, const char *argument, bool is_for_records)
{
	char *text = argument[0] == '@' ? file_read(state, argument + 1) : strdup(argument);
	struct filter_error error;
	struct filter *filter;
	int err;

	if (!text)
		option_failure(state, ENOMEM, "%s", name);
	err = filter_compile(text, &filter, &error);
	if (!err && is_for_records)
		err = filter_check_records(filter, &error);
	if (err)
		fail_at(state, name, text, &error);
	free(text);
	return filter;
}
