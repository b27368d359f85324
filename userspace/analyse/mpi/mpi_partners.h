/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi_partners.h - which MPI calls belong together, in a form that does not depend on time.
 */
#ifndef IOTAPE_PARTNERS_H
#define IOTAPE_PARTNERS_H

#include "analyse/graph/graph.h"

/**
 * struct partner - an MPI call, and the one that it belongs to
 * @rank: in MPI_COMM_WORLD; GRAPH_NONE if the process is none that is known
 * @number: among those of its rank, from 1
 * @with: index of the other end of a message, or of the part of a collective whose rank is lowest,
 *	which has its own; GRAPH_NONE if there is none
 * @is_send: it sends a message
 * @count: of a collective that is its own partner: how many parts were found; else 0
 */
struct partner {
	u32 rank;
	u32 number;
	u32 call;
	u32 with;
	u32 count;
	bool is_send;
};

int graph_partners(struct graph *graph, struct partner **partners, u32 *count);

#endif
