/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mpi_match.h - what the files that match MPI calls know of each other; for them alone.
 */
#ifndef IOTAPE_ANALYSE_MPI_MATCH_H
#define IOTAPE_ANALYSE_MPI_MATCH_H

#include "graph.h"

/* A request of a process, and the call that found it complete. */
struct mpi_done {
	u32 tgid;
	u64 request;
	u32 call;
};

/* In the order of processes and requests. */
struct mpi_dones {
	struct mpi_done *dones;
	size_t count;
};

u32 mpi_rank_of(const struct graph *graph, u64 comm, u32 task);
u32 mpi_ended_by(const struct graph *graph, const struct mpi_dones *dones, u32 call);
void mpi_note(struct graph *graph, u32 call, const char *reason);
void mpi_unmatched(struct graph *graph, u32 call, const char *reason);
struct graph_op *mpi_leave_of(struct graph *graph, u32 call);
int mpi_wait_for(struct graph *graph, const struct graph_mpi *from, u32 ended);

int mpi_match_messages(struct graph *graph, const struct mpi_dones *dones,
		       const struct graph_mpi_listener *listener);
int mpi_match_collectives(struct graph *graph, const struct mpi_dones *dones,
			  const struct graph_mpi_listener *listener);

#endif
