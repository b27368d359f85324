/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * passes.h - all that is found out about a graph that was loaded.
 */
#ifndef IOTAPE_PASSES_H
#define IOTAPE_PASSES_H

#include "analyse/graph/graph.h"

struct tree;

int graph_passes_run(struct graph *graph, struct tree *tree);

#endif
