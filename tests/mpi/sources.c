// SPDX-License-Identifier: GPL-2.0-only
/*
 * sources.c - collectives with empty blocks, and the ranks whose data their records must state.
 *
 *	sources	for four ranks; each prints a line for each call: RANK CALL SOURCES [LIST]
 *
 * The expected values are written by hand for each call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4

static int rank;
static int from[64], to[64];
static const int places[64];

static void says(const char *call, const char *sources)
{
	printf("%d %s %s\n", rank, call, sources);
}

static void all_or_none(const char *call, int is_some)
{
	says(call, is_some ? "all" : "none");
}

/* Each rank contributes an element for the next two ranks, except rank 3, which contributes nothing. */
static int gives(int source, int target)
{
	int step = (target - source + RANKS) % RANKS;

	return source != 3 && (step == 1 || step == 2);
}

static const char *const bits[RANKS] = { "bits 2", "bits 0", "bits 0-1", "bits 1-2" };

static void to_all(MPI_Comm comm)
{
	int out[RANKS], in[RANKS], i;
	MPI_Datatype types[RANKS], empty;
	MPI_Request request;

	MPI_Type_contiguous(0, MPI_INT, &empty);
	MPI_Type_commit(&empty);
	for (i = 0; i < RANKS; i++) {
		out[i] = gives(rank, i);
		in[i] = gives(i, rank);
		types[i] = MPI_INT;
	}
	MPI_Alltoallv(from, out, places, MPI_INT, to, in, places, MPI_INT, comm);
	says("alltoallv", bits[rank]);
	MPI_Ialltoallv(from, out, places, MPI_INT, to, in, places, MPI_INT, comm, &request);
	says("ialltoallv", bits[rank]);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Alltoallw(from, out, places, types, to, in, places, types, comm);
	says("alltoallw", bits[rank]);
	for (i = 0; i < RANKS; i++) {
		out[i] = in[i] = 1;
		types[i] = (i + rank) % 2 ? empty : MPI_INT; /* no data between ranks at an odd distance */
	}
	MPI_Alltoallw(from, out, places, types, to, in, places, types, comm);
	printf("%d alltoallw bits %d\n", rank, (rank + 2) % RANKS);
	MPI_Alltoallv(from, out, places, empty, to, in, places, empty, comm);
	says("alltoallv", "none");
	memset(in, 0, sizeof(in));
	in[rank] = 1; /* only from itself */
	MPI_Alltoallv(from, in, places, MPI_INT, to, in, places, MPI_INT, comm);
	says("alltoallv", "none");
	for (i = 0; i < RANKS; i++)
		in[i] = i != rank;
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, to, in, places, MPI_INT, comm);
	says("alltoallv", "all");
	MPI_Type_free(&empty);
}

static void uniform(int count, MPI_Comm comm)
{
	MPI_Request request;

	MPI_Bcast(to, count, MPI_INT, 1, comm);
	all_or_none("bcast", count && rank != 1);
	MPI_Reduce(from, to, count, MPI_INT, MPI_SUM, 2, comm);
	all_or_none("reduce", count && rank == 2);
	MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, comm);
	all_or_none("allreduce", count);
	MPI_Iallreduce(MPI_IN_PLACE, to, count, MPI_INT, MPI_SUM, comm, &request);
	all_or_none("iallreduce", count);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Gather(from, count, MPI_INT, to, count, MPI_INT, 0, comm);
	all_or_none("gather", count && !rank);
	MPI_Scatter(from, count, MPI_INT, rank ? (void *)to : MPI_IN_PLACE, count, MPI_INT, 0, comm);
	all_or_none("scatter", count && rank);
	MPI_Allgather(from, count, MPI_INT, to, count, MPI_INT, comm);
	all_or_none("allgather", count);
	MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, comm);
	all_or_none("alltoall", count);
	MPI_Scan(from, to, count, MPI_INT, MPI_SUM, comm);
	all_or_none("scan", count);
	MPI_Exscan(from, to, count, MPI_INT, MPI_SUM, comm);
	all_or_none("exscan", count);
	MPI_Reduce_scatter_block(from, to, count, MPI_INT, MPI_SUM, comm);
	all_or_none("reduce_scatter_block", count);
	MPI_Barrier(comm);
	says("barrier", "all");
}

/* Only ranks 1 and 3 contribute, or receive. */
static void some(MPI_Comm comm)
{
	static const int counts[RANKS] = { 0, 2, 0, 1 };

	MPI_Gatherv(from, counts[rank], MPI_INT, to, rank == 2 ? counts : NULL, rank == 2 ? places : NULL,
		    MPI_INT, 2, comm);
	says("gatherv", rank == 2 ? "bits 1,3" : "none");
	MPI_Allgatherv(from, counts[rank], MPI_INT, to, counts, places, MPI_INT, comm);
	says("allgatherv", rank == 1 ? "bits 3" : rank == 3 ? "bits 1" : "bits 1,3");
	MPI_Scatterv(from, counts, places, MPI_INT, to, counts[rank], MPI_INT, 0, comm);
	all_or_none("scatterv", counts[rank]);
	MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, comm);
	all_or_none("reduce_scatter", counts[rank]);
}

/* A line with open ends, in which each rank receives only from the rank below it. */
static void neighbours(void)
{
	const int size = RANKS, is_ring = 0, in[2] = { 1, 0 }, out[2] = { 0, 1 };
	const MPI_Aint byte_places[2] = { 0, 4 };
	const MPI_Datatype types[2] = { MPI_INT, MPI_INT };
	static const char *const below[RANKS] = { "none", "bits 0", "bits 1", "all" };
	MPI_Comm line;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_ring, 0, &line);
	MPI_Neighbor_alltoallv(from, out, places, MPI_INT, to, in, places, MPI_INT, line);
	says("neighbor_alltoallv", below[rank]);
	MPI_Neighbor_alltoallw(from, out, byte_places, types, to, in, byte_places, types, line);
	says("neighbor_alltoallw", below[rank]);
	MPI_Neighbor_allgather(from, 0, MPI_INT, to, 0, MPI_INT, line);
	says("neighbor_allgather", "none");
	MPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, line);
	says("neighbor_alltoall", "all");
	MPI_Comm_free(&line);
}

/* Between ranks 0 and 1, and 2 and 3; the ranks of the first group come first in the common sequence. */
static void groups(void)
{
	const int in[2] = { 0, 1 }, out[2] = { rank % 2, rank % 2 };
	const int is_first = rank < 2;
	MPI_Comm half, both;

	MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_first ? 2 : 0, 0, &both);
	MPI_Alltoallv(from, out, places, MPI_INT, to, in, places, MPI_INT, both);
	says("alltoallv", is_first ? "bits 3" : "bits 1");
	MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, is_first ? 1 : rank == 3 ? MPI_ROOT : MPI_PROC_NULL, both);
	all_or_none("gather", rank == 3);
	MPI_Bcast(to, 1, MPI_INT, !is_first ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT, both);
	all_or_none("bcast", !is_first);
	MPI_Comm_free(&both);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	uniform(1, MPI_COMM_WORLD);
	uniform(0, MPI_COMM_WORLD);
	to_all(MPI_COMM_WORLD);
	some(MPI_COMM_WORLD);
	neighbours();
	groups();
	MPI_Finalize();
	return 0;
}
