/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * passes.h - the table of passes. A new pass gets a row here, below the passes that it needs.
 */
#ifndef IOTAPE_PASSES_H
#define IOTAPE_PASSES_H

#include "analyse/graph/graph.h"

struct tree;

/*
 * In the order in which they run. P(name, passes that it needs, sentence): the function of a pass is
 * graph_pass_NAME().
 */
#define GRAPH_PASSES(P)                                                                                     \
	P(life, 0, "a task begins after its fork, and a parent continues after the end of a child")         \
	P(queues, PASS_BIT(life), "asynchronous requests form request queues")                              \
	P(mpi, PASS_BIT(queues), "messages and collectives")                                                \
	P(wakes, PASS_BIT(life), "wake-ups")                                                                \
	P(linear, PASS_BIT(mpi) | PASS_BIT(wakes), "overlapping operations in the order that their results " \
	  "show, and file locks")                                                                           \
	P(starts, PASS_BIT(linear), "marks at the starts of operations, if rules order starts")             \
	P(rules, PASS_BIT(starts), "uses of names, files, handles and mappings that must keep their order") \
	P(fan_in, PASS_BIT(rules), "latches where many operations wait for many others")                \
	P(prune, PASS_BIT(fan_in), "edges that follow from other edges are removed")                        \
	P(lengths, PASS_BIT(prune), "time between the two operations of each edge")                         \
	P(think, PASS_BIT(prune), "think time: compute and pause between operations")

enum graph_pass {
#define GRAPH_PASS_VALUE(name, needs, sentence) PASS_##name,
	GRAPH_PASSES(GRAPH_PASS_VALUE)
#undef GRAPH_PASS_VALUE
	PASS_COUNT
};

#define PASS_BIT(name) (1u << PASS_##name)
#define PASSES_ALL     ((1u << PASS_COUNT) - 1)

u32 graph_passes_needed(u32 passes);
int graph_passes_run(struct graph *graph, struct tree *tree, u32 passes);

#endif
