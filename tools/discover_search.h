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
#define DISCOVER_SHARED_MAX 16
#define DISCOVER_WORDS_MAX  (16 + 2 * DISCOVER_MOUNTS_MAX)
#define DISCOVER_RECORDER   "{record}" /* a word of the command that stands for the recorder */

/**
 * struct discover_options - the options of iotape discover
 * @mpi, @has_wakes: options of iotape record
 * @has_nodes: the command runs on several nodes
 * @nodes: names of those whose threads are delayed, separated by commas; NULL: of all
 * @shared: directories that are the same on all nodes, ended by NULL; none: those on file systems of a shared type are
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
	bool has_nodes;
	char *nodes;
	const char *shared[DISCOVER_SHARED_MAX + 1];
	unsigned int shared_count;
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

struct controller;

/**
 * struct search - the work of the command
 * @trace: of the run under way; the traces of all runs are kept until the search ends
 * @source: the path by which this trace is read
 * @first: the same of the first run
 * @run: number of the next run, from 0
 * @nodes: number of nodes in the first run
 * @excluded: threads with operations on nodes that were not chosen
 * @lost: connections of nodes that were lost
 * @is_single: fewer than two threads have operations
 * @plan: the last one
 * @controller: of the run under way, if it has delays on several nodes
 * @directory, @controller_file: for the traces of the nodes, and for the controller
 * @program: path of this program
 * @interrupt, @quit: the actions of this process at SIGINT and SIGQUIT, which the command has, too
 */
struct search {
	const struct discover_options *options;
	struct discovery *discovery;
	char trace[PATH_MAX];
	char source[PATH_MAX];
	char first[PATH_MAX];
	unsigned int run;
	unsigned int nodes;
	unsigned int excluded;
	unsigned int lost;
	bool is_single;
	struct discovery_plan plan;
	struct controller *controller;
	char directory[PATH_MAX + 16];
	char controller_file[PATH_MAX + 32];
	char program[PATH_MAX];
	struct sigaction interrupt;
	struct sigaction quit;
};

/**
 * struct search_words - the words of a command
 * @list: ended by NULL
 */
struct search_words {
	const char *list[DISCOVER_WORDS_MAX + 1];
	unsigned int count;
};

/* discover_nodes.c */
int search_nodes_choose(struct search *search);
bool search_node_has_commands(const struct search *search, const char *node);
int search_nodes_begin(struct search *search, const struct discovery_thread *thread);
void search_nodes_words(const struct search *search, bool has_delay, struct search_words *words);
int search_nodes_end(struct search *search, int code);

/* discover_runs.c */
void search_name_trace(struct search *search);
int search_compare(struct search *search, u32 thread);
int search_run(struct search *search, const struct iot_delay *delay, const struct discovery_thread *thread);
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
