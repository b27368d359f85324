/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the parts of a report while its trace is read.
 *
 * First pass, survey: span of time, tasks, files. Then rows and files are chosen. Second pass: the bins.
 */
#ifndef IOTAPE_REPORT_STATE_H
#define IOTAPE_REPORT_STATE_H

#include "report.h"

#define LANE_NONE (~0u)

/* A task with any operation. */
struct report_task {
	UT_hash_handle hh;
	u32 task;
	u32 lane;
	u64 operations;
	u64 time_ns;
};

/* A file with any access to data; @map is its index among the maps, LANE_NONE if it has none. */
struct report_file {
	UT_hash_handle hh;
	u64 bytes;
	u64 begin_bytes;
	u64 end_bytes;
	u32 map;
	char path[];
};

/* A range of a file that an operation reads or writes. */
struct report_access {
	const char *path;
	u64 begin_bytes;
	u64 bytes;
	bool is_write;
};

/**
 * struct report_state - a report that is being made
 * @actors: of the trace
 * @tasks, @files: from the survey
 * @has_time: @begin_ns and @end_ns are set
 */
struct report_state {
	struct report *report;
	const struct report_limits *limits;
	struct actors actors;
	struct report_task *tasks;
	struct report_file *files;
	struct request_pairs *requests;
	bool has_time;
	u64 begin_ns;
	u64 end_ns;
};

static inline u64 report_end_ns(u64 begin_ns, u64 duration_ns)
{
	return duration_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + duration_ns;
}

/* lanes.c */
int lanes_survey(struct report_state *s, const struct iot_record *r);
int lanes_choose(struct report_state *s);
struct report_lane *lanes_of(struct report_state *s, u32 task, u32 *index);
void lanes_free(struct report_state *s);

/* longest.c */
int longest_take(struct report *report, u32 max, const struct report_op *op, const char *path);

/* offsets.c */
u32 offsets_accesses(struct iot_names *names, const struct iot_record *r, struct report_access accesses[2]);
int offsets_survey(struct report_state *s, const struct report_access *access);
int offsets_choose(struct report_state *s);
void offsets_take(struct report_state *s, const struct report_access *access, u64 ns);
void offsets_free(struct report_state *s);

#endif
