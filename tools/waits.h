/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h - the time of the processes of a job by part, and the waits of ranks for each other: for stat and report.
 */
#ifndef IOTAPE_WAITS_H
#define IOTAPE_WAITS_H

#include "analyse/mpi/mpi_late.h"
#include "analyse/passes/analysis.h"
#include "analyse/stats/breakdown.h"
#include "analyse/stats/times.h"
#include "table.h"

/* Parts of the elapsed time. W(member, heading) */
#define WAITS_TIMES(W)                                                                                          \
	W(io, "storage") W(compute, "compute") W(mpi, "MPI waits") W(wait, "other waits") W(unexplained, "unexplained")

/**
 * struct waits - times and late arrivals of a trace
 * @times: of processes
 * @bytes: operations by rank
 * @late: if @has_mpi
 * @is_storage_known: operations on files were recorded
 * @is_compute_known: so was the time on CPUs
 */
struct waits {
	struct analysis *analysis;
	struct process_times *times;
	u32 count;
	struct breakdown bytes;
	struct late_arrivals late;
	bool has_mpi;
	bool is_storage_known;
	bool is_compute_known;
};

/**
 * struct waits_late_sum - waits that a rank caused, and waits of its own
 * @times, @caused_ns: of others, for this rank
 * @waited_ns: of this rank, for others
 */
struct waits_late_sum {
	u64 times;
	u64 caused_ns;
	u64 waited_ns;
};

#define WAITS_LATE_COLUMNS 8

int waits_read(struct waits *waits, const char *path, struct iot_reject *reject);
void waits_close(struct waits *waits);
void waits_put_rank(struct table *table, u32 rank);
void waits_put_late_rows(struct table *table, const struct late_row *const *rows, u32 count);
bool waits_is_known(const struct waits *waits, size_t member);
const struct late_row **waits_late_rows(const struct late_arrivals *late);
struct waits_late_sum waits_late_sum(const struct late_arrivals *late, u32 rank);
const char *waits_late_name(u32 kind);
const char *waits_call_name(u32 call);

#endif
