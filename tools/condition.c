// SPDX-License-Identifier: GPL-2.0-only
/*
 * condition.c - the condition of a trace in words.
 */
#include "condition.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "lib/iotape.h"

static void __attribute__((format(printf, 2, 3))) add(char *text, const char *format, ...)
{
	size_t at = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + at, CONDITION_TEXT_BYTES - at, format, arguments);
	va_end(arguments);
}

static const char *plural(u64 count)
{
	return count == 1 ? "" : "s";
}

/**
 * condition_text() - describe what is intact and what is not
 * @condition: of a trace
 * @text: out: a part of a sentence
 */
void condition_text(const struct iot_condition *condition, char text[CONDITION_TEXT_BYTES])
{
	text[0] = 0;
	add(text, "%" PRIu64 " record%s in %" PRIu64 " chunk%s are intact", (uint64_t)condition->records,
	    plural(condition->records), (uint64_t)condition->chunks, plural(condition->chunks));
	if (condition->damaged_chunks)
		add(text, ", %" PRIu64 " record%s in %" PRIu64 " damaged chunk%s", (uint64_t)condition->damaged_records,
		    plural(condition->damaged_records), (uint64_t)condition->damaged_chunks, plural(condition->damaged_chunks));
	if (condition->lost_bytes)
		add(text, ", %" PRIu64 " byte%s belong to no chunk", (uint64_t)condition->lost_bytes,
		    plural(condition->lost_bytes));
	if (condition->is_index_damaged)
		add(text, ", the index is damaged");
	if (condition->is_torn)
		add(text, ", the trace ends inside a chunk");
	else if (!condition->is_complete)
		add(text, ", the trace was not finished");
}
