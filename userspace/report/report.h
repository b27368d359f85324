/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report.h - the numbers behind the charts of iotape report, and the parts of its page.
 *
 * A trace is read in streaming passes and reduced to a fixed number of bins, rows and operations, so that neither the
 * memory of a chart nor the size of a report depends on the length of the trace.
 */
#ifndef IOTAPE_REPORT_H
#define IOTAPE_REPORT_H

#include "analyse/stats/actors.h"
#include "around.h"
#include "lib/iotape.h"

#define REPORT_BINS	    512	  /* of time */
#define REPORT_LANES_MAX    128	  /* rows of the timeline */
#define REPORT_OPS_MAX	    12000 /* operations that are drawn one by one */
#define REPORT_FILES	    6	  /* with a map of offsets */
#define REPORT_MAP_BINS	    128	  /* of time, in a map of offsets */
#define REPORT_MAP_ROWS	    64	  /* of offsets */
#define REPORT_NAME_BYTES   128
#define REPORT_PATH_BYTES   160

/* Classes of operations, each with its colour. R(class, words) */
#define REPORT_CLASSES(R)                                                                                 \
	R(read, "read") R(write, "write") R(copy, "other data") R(metadata, "metadata") R(mapping, "mapping") \
	R(sync, "sync") R(lock, "lock") R(mpi, "MPI")

enum report_class {
#define REPORT_ENUM(class, words) REPORT_##class,
	REPORT_CLASSES(REPORT_ENUM)
#undef REPORT_ENUM
	REPORT_CLASS_COUNT
};

/**
 * struct report_axis - equal bins of time
 * @begin_ns: of the first bin
 * @end_ns: the last instant of the trace that counts
 * @width_ns: of a bin, at least 1
 * @bins: their number
 */
struct report_axis {
	u64 begin_ns;
	u64 end_ns;
	u64 width_ns;
	u32 bins;
};

/**
 * struct report_lane - a row of the timeline: a rank, a group of ranks, or a task
 * @name: of it; bytes of a trace
 * @ranks: of a group of ranks, their number; else 1
 * @tasks: in it; a thread has several if it called exec
 * @operations: of them, with calls of MPI
 * @time_ns: time in operations, by class and bin; nested operations are part of the outer ones
 * @bytes: read, written and touched, by bin
 */
struct report_lane {
	char name[REPORT_NAME_BYTES];
	u32 ranks;
	u32 tasks;
	u64 operations;
	u64 time_ns[REPORT_CLASS_COUNT][REPORT_BINS];
	u64 bytes[REPORT_BINS];
};

/**
 * struct report_op - an operation that is drawn individually
 * @result: of asynchronous requests, that of the submission
 * @path: of its object, the end of it if it is long; NULL if not known
 */
struct report_op {
	u64 begin_ns;
	u64 duration_ns;
	s64 result;
	char *path;
	u32 task;
	u32 lane;
	u16 kind;
};

/**
 * struct report_map - the accesses to one file by time and offset
 * @path: of the file
 * @begin_bytes, @end_bytes: offsets of the first and behind the last access
 * @bytes: accessed in it
 * @read_bytes, @written_bytes: by row of offsets and bin of time
 */
struct report_map {
	char *path;
	u64 begin_bytes;
	u64 end_bytes;
	u64 bytes;
	u64 read_bytes[REPORT_MAP_ROWS][REPORT_MAP_BINS];
	u64 written_bytes[REPORT_MAP_ROWS][REPORT_MAP_BINS];
};

/**
 * struct report - the charts of one trace
 * @axis: of all charts but the maps
 * @map_axis: of these
 * @operations: on files and calls of MPI
 * @nested: of them, those in another one, which are not drawn
 * @read_bytes, @written_bytes, @touched_bytes: by bin, spread over the duration of the operation or request
 * @started: operations by class and bin of their beginning
 * @lanes: rows, ranks first; the last one has all tasks that have no row, if there are any
 * @lanes_are_ranks: rows are ranks or groups of them
 * @has_shared_lane: the last lane is shared by tasks
 * @tasks: with any operation
 * @ops: the longest operations, in no order; all if @op_count + @nested is @operations
 * @maps: of the files with the most bytes
 * @files: that data was read from or written to
 */
struct report {
	struct report_axis axis;
	struct report_axis map_axis;
	u64 operations;
	u64 nested;
	u64 read_bytes[REPORT_BINS];
	u64 written_bytes[REPORT_BINS];
	u64 touched_bytes[REPORT_BINS];
	u64 started[REPORT_CLASS_COUNT][REPORT_BINS];
	struct report_lane *lanes;
	u32 lane_count;
	bool lanes_are_ranks;
	bool has_shared_lane;
	u64 tasks;
	struct report_op *ops;
	u32 op_count;
	struct report_map *maps;
	u32 map_count;
	u64 files;
};

/**
 * struct report_limits - limits of the stored data of a trace, for reports of several traces
 * @lanes: at most REPORT_LANES_MAX, at least 2
 * @ops: at most REPORT_OPS_MAX
 * @maps: at most REPORT_FILES
 */
struct report_limits {
	u32 lanes;
	u32 ops;
	u32 maps;
};

int report_read(const char *path, const struct report_limits *limits, struct report *report, struct iot_reject *reject);
void report_free(struct report *report);
enum report_class report_class_of(const struct iot_record *record);
const char *report_class_name(enum report_class class);

/* axis.c */
void report_axis_set(struct report_axis *axis, u64 begin_ns, u64 end_ns, u32 bins);
u32 report_axis_bin(const struct report_axis *axis, u64 ns);
void report_axis_spread(const struct report_axis *axis, u64 begin_ns, u64 end_ns, u64 amount, u64 *bins);

/* Files below page/, made into strings by the Makefile. */
extern const char report_page[];
extern const char report_run[];
extern const char report_style[];
extern const char report_script[];

#endif
