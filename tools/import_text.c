// SPDX-License-Identifier: GPL-2.0-only
/*
 * import_text.c - the result of an import, as text.
 */
#include "import_text.h"

#include "cmd.h"

static void print_named(const struct import_summary *s, enum import_gap kind)
{
	size_t i;

	for (i = 0; i < s->named_count; i++)
		if (s->named[i].kind == kind)
			say("  %llu of %s", s->named[i].count, s->named[i].name);
}

/**
 * import_say_gaps() - print the time of strace that was subtracted, and what the logs lack, on standard error
 * @s: of an import without an error
 */
void import_say_gaps(const struct import_summary *s)
{
	char text[IOT_OMISSION_TEXT_BYTES];
	u32 i;

	if (s->held_ns)
		say("%s%llu ms of strace's own time are not think time: %.1f us between two calls, %.1f us within each%s",
		    s->is_calibrated ? "" : "at least ", s->held_ns / 1000000, s->cost.gap_ns / 1e3, s->cost.call_ns / 1e3,
		    s->is_calibrated ? "" : " (see iotape import --calibration)");
	if (iot_omissions_text(&s->omissions, text))
		say("%s", text);
	for (i = 0; i < IMPORT_GAP_COUNT; i++) {
		if (!s->gaps[i])
			continue;
		say("%llu %s", s->gaps[i], import_gap_sentences[i]);
		print_named(s, i);
	}
}
