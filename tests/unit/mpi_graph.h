/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi_graph.h - a graph of MPI calls written by a test, and the resulting edges as text.
 *
 * A call of a task is two operations, its halves. Edges are written TASK.OP<TASK.OP, where
 * the first waits for the second, or TASK.OP<hN for latch N; the operations of call N of a task are
 * 2 N and 2 N + 1, from 0.
 */
#ifndef IOTAPE_TEST_MPI_GRAPH_H
#define IOTAPE_TEST_MPI_GRAPH_H

#include "analyse/graph/graph.h"

#include <string.h>

#include "suite.h"
#include "analyse/mpi/mpi.h"

#define COMM  11
#define OTHER 12
#define ANY   (-1)

/* Task @task is the only one of its process and has the same rank in both communicators. */
static inline struct graph *begin(u32 tasks)
{
	struct graph *graph;
	u32 i, task, comm;

	assert_int_equal(graph_open(&graph), 0);
	for (i = 0; i < tasks; i++) {
		assert_int_equal(graph_task_make(graph, 100 + i, &task), 0);
		graph->tasks[task].tgid = 100 + i;
		for (comm = COMM; comm <= OTHER; comm++) {
			const struct graph_rank rank = { comm, i, tasks, 100 + i };

			assert_int_equal(graph_rank_add(graph, &rank), 0);
		}
	}
	return graph;
}

static inline void half(struct graph *graph, u32 task, u16 kind, u64 time_ns)
{
	struct graph_op *op = graph_op_add(graph, task);

	assert_non_null(op);
	op->kind = kind;
	op->enter_ns = time_ns;
	op->end_ns = time_ns;
	op->number = graph->mpi_count;
	op->event = graph->mpi_count;
}

/* CALL(kind, task, enter, end, fields...) */
#define CALL(kind_, task_, enter, end, ...)                                               \
	call(graph, (struct graph_mpi){ .kind = IOT_KIND_##kind_, .task = (task_),        \
					.enter_ns = (enter), .end_ns = (end), __VA_ARGS__ })

static inline void call(struct graph *graph, struct graph_mpi fields)
{
	struct graph_mpi *mpi = graph_mpi_add(graph);

	assert_non_null(mpi);
	fields.comm = fields.comm ?: COMM;
	*mpi = fields;
	half(graph, fields.task, IOT_PLAY_signal, fields.enter_ns);
	half(graph, fields.task, IOT_PLAY_wait, fields.end_ns);
}

static inline void append(char *text, size_t room, const struct graph_edge *edge, u32 task, u32 op)
{
	size_t used = strlen(text);

	if (edge->task == GRAPH_NONE)
		snprintf(text + used, room - used, "%s%u.%u<h%u", used ? " " : "", task, op,
			 edge->index);
	else
		snprintf(text + used, room - used, "%s%u.%u<%u.%u", used ? " " : "", task, op,
			 edge->task, edge->index);
}

/* Closes a graph whose edges have been added. */
static inline void ends_as(struct graph *graph, const char *expected, u32 unmatched)
{
	char text[512] = "";
	u32 task, op, e;

	for (task = 0; task < graph->task_count; task++)
		for (op = 0; op < graph->tasks[task].op_count; op++)
			for (e = graph->tasks[task].ops[op].edges; e != GRAPH_NONE;
			     e = graph->edges[e].next)
				append(text, sizeof(text), &graph->edges[e], task, op);
	assert_string_equal(text, expected);
	assert_int_equal(graph->mpi_unmatched, unmatched);
	graph_close(graph);
}

/* Adds the edges, and closes the graph. */
static inline void gives(struct graph *graph, const char *expected, u32 unmatched)
{
	graph_sort(graph);
	assert_int_equal(graph_pass_mpi(graph), 0);
	ends_as(graph, expected, unmatched);
}

#endif
