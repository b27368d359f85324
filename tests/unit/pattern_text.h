/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PATTERN_TEXT_H
#define PATTERN_TEXT_H

#include <stdio.h>

#include "pattern/pattern.h"
#include "suite.h"

/* Return: the printed form, to be freed by the caller. */
static inline char *text_of(const struct pattern *pattern)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(pattern_print(pattern, false, out), 0);
	fclose(out);
	return text;
}

#endif
