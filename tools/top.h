/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top.h - parts of iotape top: totals of a trace that is being written, as text and on a screen.
 */
#ifndef IOTAPE_TOP_H
#define IOTAPE_TOP_H

#include <uthash.h>

#include "analyse/stats/histogram.h"
#include "lib/iotape.h"
#include "sessions.h"

enum top_sort {
	TOP_SORT_TIME,
	TOP_SORT_OPERATIONS,
	TOP_SORT_BYTES,
	TOP_SORT_ERRORS,
	TOP_SORT_NAME,
};

extern const char *const top_sort_words[];

/**
 * struct top_row - operations of one kind, on one file, or of one process
 * @key: name of the operation; path; or process id, colon and command
 * @ops, @errors, @bytes, @time_ns: in this interval
 * @all_ops: since the beginning
 * @max_ns: duration of the longest operation in this interval
 */
struct top_row {
	UT_hash_handle hh;
	u64 ops;
	u64 errors;
	u64 bytes;
	u64 time_ns;
	u64 all_ops;
	u64 max_ns;
	char key[];
};

/* A task, and the row of its process. */
struct top_task {
	UT_hash_handle hh;
	u32 task;
	struct top_row *row;
};

/**
 * struct top - see above
 * @reader: of the trace
 * @names: as of the last record
 * @kinds, @files, @processes: rows by key
 * @tasks: by id
 * @latency_ns: of the operations in this interval
 * @all: of all rows of operations
 * @begin_ns, @end_ns: of the interval, on the monotonic clock, by the records
 * @waits, @waited_ns: for the collector, in this interval
 */
struct top {
	struct iot_reader *reader;
	struct iot_names *names;
	struct top_row *kinds;
	struct top_row *files;
	struct top_row *processes;
	struct top_task *tasks;
	struct histogram latency_ns;
	struct top_row all;
	u64 begin_ns;
	u64 end_ns;
	u64 waits;
	u64 waited_ns;
};

/* top_model.c */
int top_open(struct top *top, const char *path, struct iot_reject *reject);
void top_close(struct top *top);
int top_take(struct top *top, struct iot_reject *reject);
void top_begin(struct top *top);

/**
 * struct top_view - the visible part of it
 * @sort: of the rows
 * @rows: of each list at most; 0: all
 */
struct top_view {
	enum top_sort sort;
	u32 rows;
};

/* top_text.c */
int top_text(FILE *out, struct top *top, const struct session *session, const struct top_view *view);

/* top_screen.c */
bool top_screen_is_there(void);
int top_screen_open(void);
void top_screen_close(void);
u32 top_screen_rows(void);
void top_screen_show(const char *text, const struct top_view *view);
bool top_screen_wait(struct top_view *view, int timeout_ms);

#endif
