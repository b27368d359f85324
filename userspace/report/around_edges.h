/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * around_edges.h - the edges of a graph in both directions, and the waits of its operations. Private to this directory.
 *
 * An operation has a number, which counts the operations of all tasks, task by task.
 */
#ifndef IOTAPE_REPORT_AROUND_EDGES_H
#define IOTAPE_REPORT_AROUND_EDGES_H

#include "analyse/stats/times.h"

#define AROUND_NONE 0xffffffffu

/* Members of groups, group by group: those of group i begin at index first[i]. */
struct around_groups {
	u32 *first;
	u32 *members;
};

/**
 * struct around_edges - edges in both directions
 * @first: of each task, the number of its first operation
 * @count: number of operations
 * @waits: of each operation
 * @opened_ns: of each latch
 * @waiters: of each operation, the operations with an edge from it
 * @signals, @latch_waiters: of each latch, the operations that signal it, and those that wait for it
 */
struct around_edges {
	const struct graph *graph;
	u32 *first;
	u32 count;
	struct op_wait *waits;
	u64 *opened_ns;
	struct around_groups waiters;
	struct around_groups signals;
	struct around_groups latch_waiters;
};

/**
 * struct around_edge - a predecessor or successor of an operation
 * @op: its number
 * @cause: an enum edge_cause, or AROUND_CAUSE_TASK
 * @waited_ns: how long the successor waited for the predecessor
 * @distance_ns: from the end of the predecessor to the start of the successor, 0 if they overlapped
 */
struct around_edge {
	u32 op;
	u32 cause;
	u64 waited_ns;
	u64 distance_ns;
};

struct around_edge_list {
	struct around_edge *edges;
	u32 count;
	u32 room;
};

int around_edges_open(struct around_edges *edges, const struct graph *graph);
void around_edges_close(struct around_edges *edges);
u32 around_edges_task(const struct around_edges *edges, u32 op);
const struct graph_op *around_edges_op(const struct around_edges *edges, u32 op);
int around_edges_before(const struct around_edges *edges, u32 op, struct around_edge_list *list);
int around_edges_after(const struct around_edges *edges, u32 op, struct around_edge_list *list);
u32 around_edges_binding(const struct around_edges *edges, u32 op, bool *is_crossed);

#endif
