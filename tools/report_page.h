/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report_page.h - parts of iotape report: its data, and the files that write its sections.
 */
#ifndef IOTAPE_REPORT_PAGE_H
#define IOTAPE_REPORT_PAGE_H

#include "advise/advise.h"
#include "analyse/stats/breakdown.h"
#include "html.h"
#include "json.h"
#include "report/report.h"
#include "runs.h"
#include "waits.h"

#define REPORT_ROWS_MAX	 100 /* of a table, and of a chart with a bar for each */
#define REPORT_FACTS_MAX 200
#define REPORT_KINDS_MAX 8 /* curves of latencies */

/**
 * struct report_run - a run, and all that is shown of it
 * @run: of the comparison
 * @all: the comparison
 * @index: of the run
 * @charts: of its trace
 * @waits, @around, @advise: of a recording
 * @sites: operations by call site; no groups if call sites were not recorded
 * @has_waits, @has_advise: they are set; @around is with @waits
 * @why: why there are no waits; "" if there are
 */
struct report_run {
	const struct comparison_run *run;
	const struct comparison *all;
	u32 index;
	struct report charts;
	struct waits waits;
	struct around around;
	struct advise advise;
	struct breakdown sites;
	bool has_waits;
	bool has_advise;
	char why[IOT_OMISSION_TEXT_BYTES];
};

/**
 * struct report_view - a page
 * @title: of it
 * @nonce: a random word; only scripts that have it run
 * @comparison: the runs
 * @runs: as many
 */
struct report_view {
	const char *title;
	char nonce[33];
	const struct comparison *comparison;
	struct report_run *runs;
};

/* report_page.c */
void report_page_put(FILE *out, const struct report_view *view);

/* report_runs.c */
void report_runs_put(FILE *out, const struct comparison *c);

/* report_run.c */
void report_run_put(FILE *out, const struct report_run *run);

/* report_hints.c */
void report_hints_put(FILE *out, const struct advise *advise);

/* report_accuracy.c */
void report_accuracy_put(FILE *out, const struct report_run *run);

/* report_sites.c */
void report_sites_put(FILE *out, const struct report_run *run);

/* report_waits.c */
void report_times_put(FILE *out, const struct waits *waits);
void report_late_put(FILE *out, const struct late_arrivals *late);

/* report_around.c */
void report_around_put(FILE *out, const struct report_run *run);
void report_around_caption_put(FILE *out, const struct report_run *run);
void report_around_data_put(struct json *json, const struct report_run *run);

/* report_data.c */
void report_data_put(FILE *out, const struct report_view *view);

#endif
