// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_text.c - the parts of lines that the logs of `perf trace` and `perf script` have in common: arguments of the form
 * NAME: VALUE, NAME: VALUE.
 */
#include "perf_text.h"

#include <ctype.h>
#include <string.h>

#include "foreign.h"

/**
 * perf_word_bytes() - length of the word of letters, digits and underscores that a text begins with
 * @text: any
 */
size_t perf_word_bytes(const char *text)
{
	size_t bytes = 0;

	while (isalnum((unsigned char)text[bytes]) || text[bytes] == '_')
		bytes++;
	return bytes;
}

/**
 * perf_value_end() - the end of the value of an argument
 * @value: its beginning, in the text of all arguments
 * @is_quoted: it ends with a string in quotes. Such a string has no escapes, and may contain the name of an argument
 *
 * Return: the comma before the next argument, or the end of the text.
 */
char *perf_value_end(char *value, bool is_quoted)
{
	char *comma;
	size_t bytes;

	for (comma = strstr(value, ", "); comma; comma = strstr(comma + 1, ", ")) {
		bytes = perf_word_bytes(comma + 2);
		if (is_quoted && comma[-1] != '"')
			continue;
		if (bytes && !strncmp(comma + 2 + bytes, ": ", 2))
			return comma;
	}
	return value + strlen(value);
}

/**
 * perf_is_file_name() - is an argument the name of a file?
 * @name: of the argument, as the kernel declares it
 */
bool perf_is_file_name(const char *name)
{
	static const char *const names[] = { "filename", "pathname", "path", "oldname", "newname" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
