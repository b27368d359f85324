/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * discover_search.h - the parts of iotape discover.
 */
#ifndef IOTAPE_DISCOVER_SEARCH_H
#define IOTAPE_DISCOVER_SEARCH_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

#include <iotape/control.h>

#include "discover/discover.h"

#define DISCOVER_MOUNTS_MAX 16

/**
 * struct discover_options - the options of iotape discover
 * @mpi, @has_wakes: options of iotape record
 * @runs: how often the command is run at most
 * @period: 0: chosen for each run
 * @is_every: delay every thread
 * @is_sleep_only: time on a CPU is no wait
 * @is_resume: continue an interrupted search
 */
struct discover_options {
	char *mounts[DISCOVER_MOUNTS_MAX];
	unsigned int mount_count;
	const char *output;
	const char *mpi;
	unsigned int runs;
	unsigned int period;
	bool has_wakes;
	bool is_every;
	bool is_sleep_only;
	bool is_resume;
	bool is_json;
	bool is_quiet;
	char **command;
};

/**
 * struct search - the work of the command
 * @trace: of the run under way; the traces of all runs are kept until the search ends
 * @source: the path by which this trace is read
 * @first: the same of the first run
 * @run: number of the next run, from 0
 * @is_single: fewer than two threads have operations
 * @plan: the last one
 * @interrupt, @quit: the actions of this process at SIGINT and SIGQUIT, which the command has, too
 */
struct search {
	const struct discover_options *options;
	struct discovery *discovery;
	char trace[PATH_MAX];
	char source[PATH_MAX];
	char first[PATH_MAX];
	unsigned int run;
	bool is_single;
	struct discovery_plan plan;
	struct sigaction interrupt;
	struct sigaction quit;
};

/* discover_runs.c */
void search_name_trace(struct search *search);
int search_compare(struct search *search, u32 thread);
int search_run(struct search *search, const struct iot_delay *delay);
void search_remove_traces(const struct search *search);
struct iot_delay search_delay(const struct search *search, const struct discovery_thread *thread);

/* discover_resume.c */
int search_resume(struct search *search);

/* discover_waits.c */
int search_note_waits(struct search *search);

/* discover_known.c */
int search_note_known(const struct search *search);

/* discover_result.c */
int search_finish(const struct search *search);

#endif
