/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * around.h - the dependency view of a report: operations with their predecessors and successors.
 *
 * The edges are those of the graph after all passes, as in a program: edges that follow from others are not among them. Of a
 * large graph, only some operations are kept, so that the size of a report does not depend on its number of operations.
 */
#ifndef IOTAPE_REPORT_AROUND_H
#define IOTAPE_REPORT_AROUND_H

#include "analyse/graph/graph.h"
#include "lib/iotape.h"

#define AROUND_NODES_MAX   2400 /* operations in a report */
#define AROUND_LINKS_MAX   8	/* shown on each side of an operation */
#define AROUND_WAITS_MAX   100	/* preselected: the longest waits */
#define AROUND_PATH_MAX	   200	/* preselected: the operations of the critical path that took longest */
#define AROUND_CAUSE_TASK  EDGE_CAUSE_COUNT /* the order of a task */

/**
 * struct around_link - a predecessor or successor
 * @node: index in around.nodes
 * @cause: an enum edge_cause, or AROUND_CAUSE_TASK
 * @waited_ns: how long the successor waited for the predecessor in the trace
 */
struct around_link {
	u32 node;
	u32 cause;
	u64 waited_ns;
};

/**
 * struct around_node - an operation that is kept
 * @task, @index: in the graph
 * @begin_ns, @duration_ns: of a wait, from the beginning of the wait
 * @waited_ns: for all its predecessors
 * @path_ns: of an operation of the critical path, the time by which it made the path longer
 * @is_path: it is on the critical path
 * @is_open: its predecessors and successors are kept: @before and @after, longest waits first
 * @before_all, @after_all: their numbers, those that are not kept included
 */
struct around_node {
	u32 task;
	u32 index;
	u64 begin_ns;
	u64 duration_ns;
	u64 waited_ns;
	u64 path_ns;
	bool is_path;
	bool is_open;
	u32 before_count;
	u32 after_count;
	u32 before_all;
	u32 after_all;
	struct around_link before[AROUND_LINKS_MAX];
	struct around_link after[AROUND_LINKS_MAX];
};

/**
 * struct around - the dependency view of a trace
 * @graph: of the trace, not owned
 * @nodes: kept operations
 * @node_count: their number
 * @operations: of the graph: operations, halves of MPI calls, and waits
 * @waiting: of them, those that waited
 * @open: kept operations with predecessors and successors
 * @waits, @wait_count: the longest waits, as indices of nodes, the longest first
 * @path, @path_count: the operations of the critical path that took longest, as indices of nodes, in the order of the path
 * @path_operations: on the critical path
 * @path_changes: how often the path changes to another task
 * @path_op_ns, @path_gap_ns, @path_cross_ns: time on the path: in operations, between operations of a task, and from the end of
 *	an operation to the end of the wait of another task for it
 */
struct around {
	const struct graph *graph;
	struct around_node *nodes;
	u32 node_count;
	u64 operations;
	u64 waiting;
	u32 open;
	u32 waits[AROUND_WAITS_MAX];
	u32 wait_count;
	u32 path[AROUND_PATH_MAX];
	u32 path_count;
	u64 path_operations;
	u64 path_changes;
	u64 path_op_ns;
	u64 path_gap_ns;
	u64 path_cross_ns;
};

int around_make(struct around *around, const struct graph *graph, u32 nodes_max);
void around_free(struct around *around);

#endif
