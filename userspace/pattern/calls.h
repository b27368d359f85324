/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * calls.h - the parts of a trace that its canonical operations lack: MPI calls, times, handles and
 * nesting of each operation. Private to stream.c and calls.c.
 */
#ifndef IOTAPE_PATTERN_CALLS_H
#define IOTAPE_PATTERN_CALLS_H

#include <uthash.h>

#include "event.h"

/**
 * struct call - an operation or MPI call of a task
 * @op: its number in the task
 * @is_fact: not an operation, but information that a rank got after the operation of this number
 * @parent: number of the operation that it is nested in
 * @last_op: of a call on an MPI file, the last operation nested in it, else 0
 * @depth: of operations that it is nested in
 * @enter_ns, @duration_ns: start and duration
 * @ids: by enum event_role: as in the record, later as numbers by role
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

/**
 * struct caller - a task
 * @job: key of its MPI_COMM_WORLD, 0 if it is not a rank
 * @rank, @ranks: own, and how many there are
 * @calls: sorted by call_order() once all are there
 */
struct caller {
	UT_hash_handle hh;
	u32 task;
	u64 job;
	u32 rank;
	u32 ranks;
	struct call *calls;
	u32 count;
	u32 room;
};

int calls_read(const char *path, struct caller **callers, struct iot_reject *reject);
struct caller *calls_of(struct caller *callers, u32 task);
const struct call *call_find(const struct caller *caller, u32 op);
void calls_free(struct caller *callers);

#endif
