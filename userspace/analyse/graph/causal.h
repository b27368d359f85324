/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * causal.h - all operations of a graph, in an order that a replay could have, too.
 */
#ifndef IOTAPE_WALK_H
#define IOTAPE_WALK_H

#include "graph.h"

/* Called for an operation; return: 0, or a negative errno, which ends the walk. */
typedef int (*graph_visit_fn)(void *context, u32 task, u32 index);

int causal_traverse(const struct graph *graph, graph_visit_fn visit, void *context);
int causal_traverse_spans(const struct graph *graph, graph_visit_fn visit, graph_visit_fn leave,
		     void *context);

#endif
