/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call.h - an operation or MPI call of a task, with the parts that canonical operations lack. Private to the streams of traces.
 */
#ifndef IOTAPE_PATTERN_CALL_H
#define IOTAPE_PATTERN_CALL_H

#include "analyse/diff/canon.h"
#include "event.h"

#define CALL_SPANS_MAX 16

/**
 * struct call - an operation or MPI call of a task
 * @op: its number in the task
 * @is_fact: not an operation, but information that a rank got after the operation of this number
 * @parent: number of the operation that it is nested in
 * @last_op: of a call on an MPI file, the last operation nested in it, else 0
 * @depth: of operations that it is nested in
 * @enter_ns, @duration_ns: start and duration
 * @ids: by enum event_role: as in the record, later as numbers by role
 * @nth: of the calls of the task, in the order of their records
 * @mapped_bytes: how much a mapping becomes longer, or shorter
 * @event: of MPI, else NULL
 */
struct call {
	u32 op;
	bool is_fact;
	bool is_release;
	bool is_done;
	u32 parent;
	u32 last_op;
	u32 depth;
	u32 nth;
	u64 enter_ns;
	u64 duration_ns;
	u64 ids[EVENT_ROLES];
	s64 mapped_bytes;
	struct event *event;
};

/* The rank of a task: key of its MPI_COMM_WORLD, 0 if it is not a rank; its number, and how many there are. */
struct task_rank {
	u64 job;
	u32 rank;
	u32 ranks;
};

/* Calls on MPI files that have not ended, the innermost last. */
struct call_spans {
	u32 last_op[CALL_SPANS_MAX];
	u32 depth[CALL_SPANS_MAX];
	u32 count;
};

/**
 * struct call_walk - the calls of a task so far
 * @spans: that the next one may be nested in
 * @used: ids by role: each has the number of its place
 * @left: length of each mapping, by number
 */
struct call_walk {
	struct call_spans spans;
	struct numbers used[EVENT_ROLES];
	struct numbers left;
};

bool call_is_made_of(const struct iot_record *r);
int call_make(struct call *call, const struct iot_record *r);
void call_free(struct call *call);
void call_take_comm(struct task_rank *rank, const struct iot_rec_mpi_comm *r);
void call_event(const struct canon_op *op, struct event *event);
int calls_compare(const void *a, const void *b);
int call_walk_next(struct call_walk *walk, struct call *call, u32 nested_depth);
void call_walk_end(struct call_walk *walk);

#endif
