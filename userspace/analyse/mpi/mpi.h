/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi.h - which MPI calls belong together, and which ranks wait for which.
 */
#ifndef IOTAPE_ANALYSE_MPI_H
#define IOTAPE_ANALYSE_MPI_H

#include "analyse/graph/graph.h"

int graph_pass_mpi(struct graph *graph);
int graph_mpi_match(struct graph *graph, const struct graph_mpi_listener *listener);
int graph_links_pair(struct graph *graph, bool has_one_clock);
int graph_links_unite(struct graph *graph, bool has_one_clock);
u64 graph_world_root(const struct graph *graph, u64 world);
void graph_worlds_number(struct graph *graph);

#endif
