// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_hints.c - the hints of iotape advise in a report.
 */
#include <string.h>

#include "hint_quantity.h"
#include "report_page.h"

#define ITEMS_SHOWN 5

static void put_items(FILE *out, const struct advise_rule *rule, const struct advise_finding *finding)
{
	u32 i, count = finding->item_count < ITEMS_SHOWN ? finding->item_count : ITEMS_SHOWN;
	char value[32];

	if (!count)
		return;
	fprintf(out, "<dt>%s</dt><dd>", rule->subjects);
	for (i = 0; i < count; i++) {
		fputs(i ? ", <code>" : "<code>", out);
		html_text(out, finding->items[i].name);
		fprintf(out, "</code> (%s)", hint_quantity(value, rule->unit, finding->items[i].count));
	}
	if (count < finding->item_count)
		fprintf(out, ", and %u more", finding->item_count - count);
	fputs("</dd>\n", out);
}

static void put_hint(FILE *out, const struct advise_rule *rule, const struct advise_finding *finding)
{
	double percent = finding->whole ? 100.0 * (double)finding->count / (double)finding->whole : 0;
	char count[32], whole[32];

	fputs("<li class=\"hint\"><h4>", out);
	html_text(out, rule->title);
	fprintf(out, " <code class=\"tag\">%s</code></h4>\n<dl>\n<dt>evidence</dt><dd>%s of %s ", rule->name,
		hint_quantity(count, rule->unit, finding->count), hint_quantity(whole, rule->unit, finding->whole));
	html_text(out, rule->share);
	fprintf(out, " (%.1f %%; threshold %u %%)</dd>\n", percent, rule->percent);
	put_items(out, rule, finding);
	fputs("<dt>reason</dt><dd>", out);
	html_text(out, rule->reason);
	fputs("</dd>\n<dt>try</dt><dd>", out);
	html_text(out, rule->remedy);
	fputs("</dd>\n", out);
	if (finding->change)
		fprintf(out, "<dt>what if</dt><dd><code>iotape pattern --set=%s</code>, then replay both programs; <code>iotape advise --gain</code> does this</dd>\n",
			finding->change);
	fputs("</dl></li>\n", out);
}

static bool is_same_reason(const struct advise_finding *a, const struct advise_finding *b)
{
	return a->verdict == b->verdict && (a->why && b->why ? !strcmp(a->why, b->why) : a->why == b->why);
}

/* Is it the first hint with its verdict and reason? */
static bool is_first(const struct advise *advise, u32 hint)
{
	u32 i;

	for (i = 0; i < hint; i++)
		if (is_same_reason(&advise->findings[i], &advise->findings[hint]))
			return false;
	return true;
}

/* A line for each reason: those that do not apply have none. */
static void put_others(FILE *out, const struct advise *advise, enum advise_verdict verdict, const char *words)
{
	const struct advise_finding *findings = advise->findings;
	u32 i, j;

	for (i = 0; i < ADVISE_HINT_COUNT; i++) {
		if (findings[i].verdict != verdict || !is_first(advise, i))
			continue;
		fprintf(out, "<p class=\"small\">%s", words);
		if (findings[i].why) {
			fputs(" (", out);
			html_text(out, findings[i].why);
			fputs(")", out);
		}
		fprintf(out, ": %s", advise_rules[i].name);
		for (j = i + 1; j < ADVISE_HINT_COUNT; j++)
			if (is_same_reason(&findings[i], &findings[j]))
				fprintf(out, ", %s", advise_rules[j].name);
		fputs("</p>\n", out);
	}
}

/**
 * report_hints_put() - write the hints that apply, and the names of the others
 */
void report_hints_put(FILE *out, const struct advise *advise)
{
	u32 i, count = 0;

	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		count += advise->findings[i].verdict == ADVISE_FOUND;
	if (!count)
		fprintf(out, "<p>None of the %u hints applies.</p>\n", ADVISE_HINT_COUNT);
	else
		fputs("<ul class=\"hints\">\n", out);
	for (i = 0; i < ADVISE_HINT_COUNT; i++)
		if (advise->findings[i].verdict == ADVISE_FOUND)
			put_hint(out, &advise_rules[i], &advise->findings[i]);
	if (count)
		fputs("</ul>\n", out);
	put_others(out, advise, ADVISE_UNKNOWN, "Unknown");
	put_others(out, advise, ADVISE_INAPPLICABLE, "Not applicable");
	put_others(out, advise, ADVISE_ABSENT, "Do not apply");
}
