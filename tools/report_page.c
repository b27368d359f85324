// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_page.c - the page of iotape report: the slots of page.html.
 */
#include <string.h>
#include <time.h>

#include "report_page.h"

static const struct report_view *view_of(const void *context)
{
	return context;
}

static void put_title(FILE *out, const void *context)
{
	html_text(out, view_of(context)->title);
}

static void put_nonce(FILE *out, const void *context)
{
	fputs(view_of(context)->nonce, out);
}

static void put_version(FILE *out, const void *context)
{
	char written[64];
	time_t now = time(NULL);

	(void)context;
	strftime(written, sizeof(written), "%Y-%m-%d %H:%M:%S %z", localtime(&now));
	fprintf(out, "iotape %s, %s", IOTAPE_VERSION, written);
}

static void put_style(FILE *out, const void *context)
{
	(void)context;
	fputs(report_style, out);
}

static void put_script(FILE *out, const void *context)
{
	(void)context;
	fputs(report_script, out);
}

static void put_data(FILE *out, const void *context)
{
	report_data_put(out, context);
}

static void put_warnings(FILE *out, const void *context)
{
	const struct comparison *c = view_of(context)->comparison;
	u32 i;

	for (i = 0; i < c->warning_count; i++) {
		fputs("<p class=\"warning\">", out);
		html_text(out, c->warnings[i].text);
		fputs("</p>\n", out);
	}
	if (!c->warning_count)
		fputs("<p>The traces state no omissions.</p>\n", out);
}

static bool are_several(const void *context)
{
	return view_of(context)->comparison->run_count > 1;
}

static void put_comparison(FILE *out, const void *context)
{
	if (are_several(context))
		report_runs_put(out, view_of(context)->comparison);
}

static void put_runs(FILE *out, const void *context)
{
	u32 i;

	for (i = 0; i < view_of(context)->comparison->run_count; i++)
		report_run_put(out, &view_of(context)->runs[i]);
}

/**
 * report_page_put() - write the page
 */
void report_page_put(FILE *out, const struct report_view *view)
{
	static const struct html_slot slots[] = {
		{ "title", put_title },
		{ "nonce", put_nonce },
		{ "version", put_version },
		{ "style", put_style },
		{ "script", put_script },
		{ "data", put_data },
		{ "warnings", put_warnings },
		{ "comparison", put_comparison },
		{ "runs", put_runs },
		{},
	};

	html_template(out, report_page, slots, view);
}
