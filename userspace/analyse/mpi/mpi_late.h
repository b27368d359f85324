/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi_late.h - late arrivals: which rank waits for which, in collectives and messages, and how long.
 */
#ifndef IOTAPE_MPI_LATE_H
#define IOTAPE_MPI_LATE_H

#include <uthash.h>

#include "analyse/graph/graph.h"

/* The kinds of late arrivals. L(kind, name, sentence) */
#define LATE_KINDS(L)                                                                                    \
	L(collective, "collective", "a rank arrived last of those that other ranks waited for")          \
	L(sender, "late sender", "a receive waited for its message to be sent")                          \
	L(receiver, "late receiver", "a send ended only after its receive had been posted")

enum late_kind {
#define LATE_ENUM(kind, name, sentence) LATE_##kind,
	LATE_KINDS(LATE_ENUM)
#undef LATE_ENUM
	LATE_KIND_COUNT
};

/**
 * struct late_key - a row: waits of one rank for another, of one kind, in calls of one name
 * @waiter, @late: ranks in MPI_COMM_WORLD; GRAPH_NONE if not known
 * @kind: an enum late_kind
 * @call: of the rank that waited, an enum iot_call
 */
struct late_key {
	u32 waiter;
	u32 late;
	u32 kind;
	u32 call;
};

/**
 * struct late_row - the waits of a key
 * @times: number of waits
 * @sum_ns, @max_ns: time in the waiting call before the late rank had arrived
 */
struct late_row {
	UT_hash_handle hh;
	struct late_key key;
	u64 times;
	u64 sum_ns;
	u64 max_ns;
};

/**
 * struct late_rank - a rank that the trace knows
 * @rank: in MPI_COMM_WORLD
 * @last: collectives that it entered last
 */
struct late_rank {
	u32 rank;
	u64 last;
};

/**
 * struct late_arrivals - waits of ranks for other ranks
 * @rows: by key
 * @ranks: sorted by rank; numbers may be missing
 * @rank_count: length of @ranks
 * @collectives: with at least two known parts
 * @messages: whose two ends were found
 * @parts: calls in these collectives
 * @certain: of them, those that surely needed the arrival of others; the rest needed none, or the trace does not show it
 * @unmatched: calls without a partner
 */
struct late_arrivals {
	struct late_row *rows;
	struct late_rank *ranks;
	u32 rank_count;
	u64 collectives;
	u64 messages;
	u64 parts;
	u64 certain;
	u64 unmatched;
};

int graph_late_arrivals(struct graph *graph, struct late_arrivals *late);
void late_arrivals_free(struct late_arrivals *late);

#endif
