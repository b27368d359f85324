/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * resource.h - one thing that operations use, and which of them must keep their order.
 *
 * An operation uses a resource in one of these ways; two uses that conflict keep the
 * order they had in the trace, if they did not overlap there:
 *
 *			exclusive	change		look
 *	exclusive	conflict	conflict	conflict
 *	change		conflict	-		conflict
 *	look		conflict	conflict	-
 *
 * Changes commute with each other: names made in one directory, ranges written to one
 * file. Uses that are all exclusive are what ROOT calls sequential order; an exclusive
 * first and last one, and looks between them, are its stage order.
 *
 * Operations come in the order in which they began, so from an operation on, all that
 * come begin no earlier. A use is forgotten when all operations to come wait for another use that
 * waits for it: an exclusive one that began after it had ended, and that has ended now; or a
 * change or look of a task that follows it, because it waited for a look or change that did.
 */
#ifndef IOTAPE_RESOURCE_H
#define IOTAPE_RESOURCE_H

#include "analyse/graph/graph.h"

enum use {
	USE_EXCLUSIVE,
	USE_CHANGE,
	USE_LOOK,
	USE_COUNT
};

/**
 * struct user - an operation that used a resource
 * @previous, @previous_ns: the use of the same task before it, and its end: for those who come
 *	while this one lasts; GRAPH_NONE if there is none
 * @version: of its list, when it was put there
 * @seen: version of the list of those that it waits for: the task has waited for all that were
 *	put there up to then
 */
struct user {
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
 * struct user_list - of changes and looks at most one of each task
 * @users: by task
 * @version: that of the last put
 * @followed: all that were put up to this version are followed by one that was put later; 0: none are
 * @followed_ns: when that one ends
 * @asks: how often many were waited for one by one since the last latch was made
 * @fan_in: number of the latch that users arrive at, from 1; 0: none
 * @fan_in_version: all that were put up to this version arrive there, but for request queues
 * @fan_in_ns: when the last of them has ended
 * @fan_in_seen: what they have waited for, as far as one of them did
 */
struct user_list {
	struct user *users;
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
 * struct resource - a thing, and who used it
 * @exclusive: exclusive users that may still be waited for
 * @changes, @looks: other users, likewise
 * @settled_ns: who ended before that need not be waited for
 */
struct resource {
	struct user_list exclusive;
	struct user_list changes;
	struct user_list looks;
	u64 settled_ns;
};

/* Of two tasks, up to which operation of one the other has waited. */
struct known;

/**
 * struct waiter - an operation that uses resources
 * @graph: gets the edges that follow
 * @known: what tasks have waited for already; see waiter_open()
 * @task, @index: the operation, whose times count
 * @target: index of what has the waits: itself, or the mark of its start
 * @enter_ns: when it began, or a later moment before which it did not take effect
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

u32 user_list_seen(const struct user_list *list, u32 task);
int user_list_add(struct user_list *list, const struct waiter *waiter, u32 seen);
int user_list_wait(struct user_list *list, struct waiter *waiter, u32 *seen,
		   enum edge_cause cause, u32 *follows);
void user_list_forget(struct user_list *list, u64 before_ns);

int resource_use(struct waiter *waiter, struct resource *resource, enum use use,
		 enum edge_cause cause);
int resource_copy(struct resource *copy, const struct resource *resource);
bool resource_absorb(struct resource *resource, const struct resource *other);
u64 resource_last_ns(const struct resource *resource);
void resource_exit(struct resource *resource);

#endif
