/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * graph_load.h - a trace into a graph, and the tree that was there before.
 */
#ifndef IOTAPE_LOAD_H
#define IOTAPE_LOAD_H

#include <string.h>

#include "graph.h"
#include "tree.h"

/* Called now and then with the number of records read so far. */
typedef void (*load_progress_fn)(u64 records);

/* Names that the trace lost are "?", see lib/names.c. */
static inline bool is_known(const char *path)
{
	return path && strncmp(path, "?/", 2) && iot_path_is_valid(path);
}

int load_trace(const char *path, struct graph *graph, struct tree *tree, load_progress_fn progress,
	       struct iot_reject *reject);
int load_mpi_fields(struct graph *graph, struct graph_mpi *mpi, const struct iot_record *r);

#endif
