/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - which part of a program a node runs, and what the nodes have to tell each other.
 *
 * A wait of a task on one node for a task on another holds when the other node has said so. Each node
 * finds in the program what others wait for: marks, at which it tells them. It tells how far the task
 * is, or, of a latch that tasks on several nodes arrive at, how many have arrived here, once all of them
 * have. What only its own tasks wait for it tells nobody.
 *
 * It is arithmetic: nothing here waits, sends, or knows an engine.
 */
#ifndef IOTAPE_SHARE_H
#define IOTAPE_SHARE_H

#include "lib/iotape.h"

/* What one node tells another. */
enum share_news {
	SHARE_PASSED = 1,  /* task `what` has ended `value` operations */
	SHARE_ARRIVED = 2, /* `value` tasks of the node have arrived at latch `what` */
};

struct share_note {
	u32 news;
	u32 what;
	u32 value;
};

/**
 * struct share_mark - an operation of a task here that others wait for
 * @task: which
 * @index: holds when it has ended that one
 * @latch: it arrives at that latch; IOT_WAIT_LATCH if a task waits for it
 * @node: of who waits, if it is a task
 */
struct share_mark {
	u32 task;
	u32 index;
	u32 latch;
	u32 node;
};

/* Node @node waits for @latch. */
struct share_leave {
	u32 latch;
	u32 node;
};

/**
 * struct share - the part of one node
 * @program: verified
 * @node_of: of each task, see place.h
 * @node: this one
 * @nodes: their number
 * @marks: what others wait for, by task and index
 * @mark_count: their number
 * @next_mark: of each task, the first that has not been told
 * @leaves: other nodes that wait for a latch that tasks here arrive at, by latch
 * @leave_count: their number
 * @arrivals: of each latch, arrivals of tasks here
 * @here: of them, those that are missing
 * @elsewhere: of each latch, arrivals on other nodes that have not been told
 * @ended: of each task elsewhere, operations that have ended, as far as was told
 */
struct share {
	const struct iot_program *program;
	const u32 *node_of;
	u32 node;
	u32 nodes;
	struct share_mark *marks;
	size_t mark_count;
	size_t mark_room;
	size_t *next_mark;
	struct share_leave *leaves;
	size_t leave_count;
	size_t leave_room;
	u32 *arrivals;
	u32 *here;
	u32 *elsewhere;
	u32 *ended;
};

int share_open(struct share *share, const struct iot_program *program, const u32 *node_of, u32 node,
	       u32 nodes);
void share_close(struct share *share);

static inline bool share_is_here(const struct share *share, u32 task)
{
	return share->node_of[task] == share->node;
}

/* The index of the next mark of a task; IOT_WAIT_LATCH if it has none. */
static inline u32 share_next(const struct share *share, u32 task)
{
	size_t next = share->next_mark[task];

	return next < share->mark_count && share->marks[next].task == task ?
		       share->marks[next].index : IOT_WAIT_LATCH;
}

typedef int (*share_tell_fn)(void *context, u32 node, const struct share_note *note);

int share_moved(struct share *share, u32 task, u32 ended, share_tell_fn tell, void *context);
bool share_take(struct share *share, u32 from, const struct share_note *note);
bool share_is_told(const struct share *share);

#endif
