/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * order_passes.h - the passes that find which operations must keep their order, and how long tasks think.
 *
 * Each adds to the graph. They run in the order of analyse/passes/passes.c.
 */
#ifndef IOTAPE_ORDER_H
#define IOTAPE_ORDER_H

#include "analyse/graph/graph.h"

struct tree;

int graph_pass_life(struct graph *graph);
int graph_pass_queues(struct graph *graph);
int graph_pass_wakes(struct graph *graph);
int graph_pass_linear(struct graph *graph, struct tree *tree);
int graph_pass_starts(struct graph *graph);
int graph_pass_rules(struct graph *graph);
int graph_pass_fan_in(struct graph *graph);
int graph_pass_prune(struct graph *graph);
int graph_pass_lengths(struct graph *graph);
int graph_pass_think(struct graph *graph);

int graph_sum_asleep(struct graph *graph);

bool graph_wakes_mark(struct graph *graph);
void graph_wakes_drop(struct graph *graph);
void graph_timeouts_match(struct graph *graph);

#endif
