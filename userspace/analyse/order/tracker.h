/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.h - follows the uses of one resource, and adds edges between uses that conflict.
 *
 * A use is exclusive, a change or a look. Two uses that conflict keep the order that they had in the trace, unless
 * they overlapped there:
 *
 *			exclusive	change		look
 *	exclusive	conflict	conflict	conflict
 *	change		conflict	-		conflict
 *	look		conflict	conflict	-
 *
 * Changes commute with each other: names made in one directory, ranges written to one
 * file. Exclusive uses only are the sequential order of ROOT; an exclusive first and
 * last use, with shared uses in between, are its stage order.
 *
 * Operations come in the order in which they began, so from an operation on, all that
 * come begin no earlier. A use is forgotten when all operations to come wait for another use that
 * waits for it: an exclusive one that began after it had ended, and that has ended now; or a
 * change or look of a task that follows it, because it waited for a look or change that did.
 */
#ifndef IOTAPE_TRACKER_H
#define IOTAPE_TRACKER_H

#include "analyse/graph/graph.h"

enum use {
	USE_EXCLUSIVE,
	USE_CHANGE,
	USE_LOOK,
	USE_COUNT
};

/**
 * struct tracker_use - a use of a resource by an operation
 * @previous, @previous_ns: previous use by the same task, and its end, for operations that overlap this use;
 *	GRAPH_NONE if there is none
 * @version: version of its list when it was added
 * @seen: version of the list that it waits for: the task has waited for all uses added up to it
 */
struct tracker_use {
	u64 enter_ns;
	u64 end_ns;
	u64 previous_ns;
	u32 previous;
	u32 task;
	u32 index;
	u32 version;
	u32 seen;
};

/**
 * struct use_list - uses of one kind; at most one change and look of each task
 * @uses: by task
 * @version: version of the last addition
 * @followed: all uses up to this version are followed by a later one; 0: none
 * @followed_ns: end of that use
 * @asks: number of waits for many single uses since the last latch was created
 * @fan_in: number of the latch that uses signal, from 1; 0: none
 * @fan_in_version: all uses up to this version signal it, except those of request queues
 * @fan_in_ns: end of the last of them
 * @fan_in_seen: operations for which at least one of them has waited
 */
struct use_list {
	struct tracker_use *uses;
	u32 count;
	u32 room;
	u32 version;
	u32 followed;
	u64 followed_ns;
	u32 asks;
	u32 fan_in;
	u32 fan_in_version;
	u32 fan_in_seen;
	u64 fan_in_ns;
};

/**
 * struct tracker - a resource and its uses that later operations may have to wait for
 * @exclusive, @changes, @looks: uses by kind
 * @settled_ns: no operation needs to wait for uses that ended before this time
 */
struct tracker {
	struct use_list exclusive;
	struct use_list changes;
	struct use_list looks;
	u64 settled_ns;
};

/* For a pair of tasks, the last operation of one that the other has waited for. */
struct known;

/**
 * struct waiter - the operation that uses resources now
 * @graph: receives the edges
 * @known: waits of tasks so far; see waiter_open()
 * @task, @index: the operation
 * @target: index of the operation that gets the edges: itself, or the mark of its start
 * @enter_ns: its start, or a later moment before which it did not take effect
 */
struct waiter {
	struct graph *graph;
	struct known *known;
	u32 task;
	u32 index;
	u32 target;
	u64 enter_ns;
};

int waiter_open(struct waiter *waiter, struct graph *graph);
void waiter_close(struct waiter *waiter);
const struct graph_op *waiter_op(const struct waiter *waiter);
u64 waiter_begun_ns(const struct waiter *waiter);
int waiter_wait(struct waiter *waiter, u32 task, u32 index, enum edge_cause cause);

u32 use_list_seen(const struct use_list *list, u32 task);
int use_list_add(struct use_list *list, const struct waiter *waiter, u32 seen);
int use_list_wait(struct use_list *list, struct waiter *waiter, u32 *seen,
		   enum edge_cause cause, u32 *follows);
void use_list_forget(struct use_list *list, u64 before_ns);

int tracker_use(struct waiter *waiter, struct tracker *tracker, enum use use,
		 enum edge_cause cause);
int tracker_copy(struct tracker *copy, const struct tracker *tracker);
bool tracker_absorb(struct tracker *tracker, const struct tracker *other);
u64 tracker_last_ns(const struct tracker *tracker);
void tracker_exit(struct tracker *tracker);

#endif
