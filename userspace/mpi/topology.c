// SPDX-License-Identifier: GPL-2.0-only
/*
 * topology.c - the neighbours of a rank: whose data it gets in collectives of neighbours.
 *
 * MPI 4.0, 8.6: in a Cartesian topology those beside the rank in each dimension, in a graph those
 * it has an edge to, in a distributed graph those that have an edge to it. MPI knows them
 * locally, so nothing is sent.
 */
#include "shim.h"

#include <stdlib.h>

struct neighbours {
	int *ranks;
	int count;
};

static bool make_room(struct neighbours *near, int count)
{
	near->ranks = count > 0 ? calloc((size_t)count, sizeof(*near->ranks)) : NULL;
	near->count = near->ranks ? count : 0;
	return near->count;
}

static void find_cartesian(MPI_Comm comm, struct neighbours *near)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int dimensions = 0, i;

	mpi->PMPI_Cartdim_get(comm, &dimensions);
	if (!make_room(near, 2 * dimensions))
		return;
	for (i = 0; i < dimensions; i++)
		mpi->PMPI_Cart_shift(comm, i, 1, &near->ranks[2 * i], &near->ranks[2 * i + 1]);
}

static void find_graph(MPI_Comm comm, int own, struct neighbours *near)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int count = 0;

	mpi->PMPI_Graph_neighbors_count(comm, own, &count);
	if (make_room(near, count))
		mpi->PMPI_Graph_neighbors(comm, own, count, near->ranks);
}

/* Weights and destinations are not used, but MPI requires memory for them. */
static void find_distributed(MPI_Comm comm, struct neighbours *near)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	struct neighbours rest;
	int in = 0, out = 0, is_weighted;

	mpi->PMPI_Dist_graph_neighbors_count(comm, &in, &out, &is_weighted);
	if (!make_room(&rest, in + 2 * out))
		return;
	if (make_room(near, in))
		mpi->PMPI_Dist_graph_neighbors(comm, in, near->ranks, rest.ranks, out,
					       rest.ranks + in, rest.ranks + in + out);
	free(rest.ranks);
}

static int compare_ranks(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Each neighbour once; MPI_PROC_NULL beyond an edge and the rank itself are none. */
static void announce(const struct iot_mpi_comm *state, int *ranks, int count)
{
	int i;

	qsort(ranks, (size_t)count, sizeof(*ranks), compare_ranks);
	for (i = 0; i < count; i++) {
		if (ranks[i] < 0 || ranks[i] == state->own || (i && ranks[i] == ranks[i - 1]))
			continue;
		IOT_MPI_EMIT(mpi_near, .comm = state->key, .rank = (u32)state->own,
			     .source = (u32)ranks[i]);
	}
}

/**
 * iot_mpi_topology_announce() - announce the neighbours in a communicator, if it has a topology
 * @state: of the communicator, which is announced; gets a list of its own
 * @comm: the communicator
 *
 * Without memory for the list, collectives have no records and no order.
 */
void iot_mpi_topology_announce(struct iot_mpi_comm *state, MPI_Comm comm)
{
	struct neighbours near = {}, sorted;
	int kind = MPI_UNDEFINED;

	iot_mpi_found.PMPI_Topo_test(comm, &kind);
	if (kind == MPI_CART)
		find_cartesian(comm, &near);
	else if (kind == MPI_GRAPH)
		find_graph(comm, state->own, &near);
	else if (kind == MPI_DIST_GRAPH)
		find_distributed(comm, &near);
	if (!near.count || !make_room(&sorted, near.count)) {
		free(near.ranks);
		return;
	}
	memcpy(sorted.ranks, near.ranks, (size_t)near.count * sizeof(*near.ranks));
	announce(state, sorted.ranks, sorted.count);
	free(sorted.ranks);
	state->near = near.ranks;
	state->near_count = near.count;
}
