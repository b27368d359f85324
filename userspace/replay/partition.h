/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * partition.h - the part of a program that a node runs, and the progress that nodes report to each other.
 *
 * A wait of a task for a task on another node holds when that node has reported the operation. Each node
 * finds in the program the operations that other nodes wait for: its marks. At a mark it reports
 * the progress of the task or, of a latch that tasks on several nodes signal, the number of signals from
 * its own tasks, once all of them have signaled. Progress that only local tasks wait for is not reported.
 *
 * It is arithmetic: nothing here waits, sends, or knows an engine.
 */
#ifndef IOTAPE_PARTITION_H
#define IOTAPE_PARTITION_H

#include "lib/iotape.h"

/* A report of one node to another. */
enum partition_news {
	PARTITION_PASSED = 1,  /* task `what` has ended `value` operations */
	PARTITION_SIGNALED = 2, /* `value` tasks of the node have signaled latch `what` */
};

struct partition_note {
	u32 news;
	u32 what;
	u32 value;
};

/**
 * struct partition_mark - an operation of a local task that other nodes wait for
 * @task: the task
 * @index: of the operation
 * @latch: that it signals; IOT_WAIT_LATCH if a task waits for it
 * @node: of the waiting task, if a task waits
 */
struct partition_mark {
	u32 task;
	u32 index;
	u32 latch;
	u32 node;
};

/* Node @node waits for @latch. */
struct partition_latch_wait {
	u32 latch;
	u32 node;
};

/**
 * struct partition - the part of one node
 * @program: verified
 * @node_of: of each task, see placement.h
 * @node: this one
 * @nodes: their number
 * @marks: operations that other nodes wait for, by task and index
 * @mark_count: their number
 * @next_mark: of each task, the first that was not reported
 * @latch_waits: other nodes that wait for a latch that local tasks signal, by latch
 * @latch_wait_count: their number
 * @signals: of each latch, signals of local tasks
 * @here: of them, those that are missing
 * @elsewhere: of each latch, signals of other nodes that were not reported yet
 * @ended: of each task elsewhere, operations that were reported as ended
 */
struct partition {
	const struct iot_program *program;
	const u32 *node_of;
	u32 node;
	u32 nodes;
	struct partition_mark *marks;
	size_t mark_count;
	size_t mark_room;
	size_t *next_mark;
	struct partition_latch_wait *latch_waits;
	size_t latch_wait_count;
	size_t latch_wait_room;
	u32 *signals;
	u32 *here;
	u32 *elsewhere;
	u32 *ended;
};

int partition_open(struct partition *partition, const struct iot_program *program, const u32 *node_of, u32 node,
	       u32 nodes);
void partition_close(struct partition *partition);

static inline bool partition_has_task(const struct partition *partition, u32 task)
{
	return partition->node_of[task] == partition->node;
}

/* The index of the next mark of a task; IOT_WAIT_LATCH if it has none. */
static inline u32 partition_next_mark(const struct partition *partition, u32 task)
{
	size_t next = partition->next_mark[task];

	return next < partition->mark_count && partition->marks[next].task == task ?
		       partition->marks[next].index : IOT_WAIT_LATCH;
}

typedef int (*partition_send_fn)(void *context, u32 node, const struct partition_note *note);

int partition_report(struct partition *partition, u32 task, u32 ended, partition_send_fn send, void *context);
bool partition_receive(struct partition *partition, u32 from, const struct partition_note *note);
bool partition_is_reported(const struct partition *partition);

#endif
