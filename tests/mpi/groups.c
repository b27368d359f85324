// SPDX-License-Identifier: GPL-2.0-only
/*
 * groups.c - communicators with a topology, created from a group while other ranks work, and
 * inter-communicators.
 */
#include "exercise.h"

static void announced(const char *call)
{
	did("mpi_coll", call);
	did("mpi_comm", "-");
}

/* The neighbours of each rank are the adjacent ranks. */
static void announced_ring(const char *call)
{
	announced(call);
	did("mpi_near", "-");
	did("mpi_near", "-");
}

static void freed(MPI_Comm *comm)
{
	MPI_Comm_free(comm);
	did("mpi_coll", "comm_free");
}

/* On a ring; the buffers hold data of both neighbours. */
static void neighbours(MPI_Comm comm)
{
	static const int ones[2] = { 1, 1 }, places[2] = { 0, 1 };
	static const MPI_Aint byte_places[2] = { 0, sizeof(int) };
	MPI_Datatype types[2] = { MPI_INT, MPI_INT };
	struct request_list list = {};
	int own[2] = { rank, rank }, in[2], ins[5][2], i;

	in[0] = in[1] = -1;
	MPI_Neighbor_allgather(own, 1, MPI_INT, in, 1, MPI_INT, comm);
	expect(in[0] + in[1] == previous + next);
	MPI_Neighbor_allgatherv(own, 1, MPI_INT, in, ones, places, MPI_INT, comm);
	MPI_Neighbor_alltoall(own, 1, MPI_INT, in, 1, MPI_INT, comm);
	MPI_Neighbor_alltoallv(own, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
	MPI_Neighbor_alltoallw(own, ones, byte_places, types, in, ones, byte_places, types, comm);
	expect(in[0] + in[1] == previous + next);
	did("mpi_coll", "neighbor_allgather");
	did("mpi_coll", "neighbor_allgatherv");
	did("mpi_coll", "neighbor_alltoall");
	did("mpi_coll", "neighbor_alltoallv");
	did("mpi_coll", "neighbor_alltoallw");
	for (i = 0; i < 5; i++)
		ins[i][0] = ins[i][1] = -1;
	MPI_Ineighbor_allgather(own, 1, MPI_INT, ins[0], 1, MPI_INT, comm, list_add(&list, true));
	MPI_Ineighbor_allgatherv(own, 1, MPI_INT, ins[1], ones, places, MPI_INT, comm,
				 list_add(&list, true));
	MPI_Ineighbor_alltoall(own, 1, MPI_INT, ins[2], 1, MPI_INT, comm, list_add(&list, true));
	MPI_Ineighbor_alltoallv(own, ones, places, MPI_INT, ins[3], ones, places, MPI_INT, comm,
				list_add(&list, true));
	MPI_Ineighbor_alltoallw(own, ones, byte_places, types, ins[4], ones, byte_places, types, comm,
				list_add(&list, true));
	did("mpi_coll", "ineighbor_allgather");
	did("mpi_coll", "ineighbor_allgatherv");
	did("mpi_coll", "ineighbor_alltoall");
	did("mpi_coll", "ineighbor_alltoallv");
	did("mpi_coll", "ineighbor_alltoallw");
	list_finish(&list, 2, true);
	for (i = 0; i < 5; i++)
		expect(ins[i][0] + ins[i][1] == previous + next);
}

static void topologies(void)
{
	int periodic = 1, kept = 1, index[16], edges[32], beside[2] = { previous, next }, two = 2, i;
	MPI_Comm ring, part, graph;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
	announced_ring("cart_create");
	exchange(false, ring);
	neighbours(ring);
	MPI_Cart_sub(ring, &kept, &part);
	announced_ring("cart_sub");
	exchange(true, part);
	freed(&part);
	freed(&ring);

	for (i = 0; i < size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + size - 1) % size;
		edges[2 * i + 1] = (i + 1) % size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
	announced_ring("graph_create");
	neighbours(graph);
	freed(&graph);
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &two, beside, MPI_UNWEIGHTED, MPI_INFO_NULL,
			      0, &graph);
	announced_ring("dist_graph_create");
	neighbours(graph);
	freed(&graph);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, beside, MPI_UNWEIGHTED, 2, beside,
				       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	announced_ring("dist_graph_create_adjacent");
	neighbours(graph);
	freed(&graph);
}

/* Only odd ranks call, twice with the same tag; even ranks work on something else. */
static void of_a_group(void)
{
	int odd[2] = { 1, 3 }, sum, i;
	MPI_Group all, group;
	MPI_Comm comm;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 2, odd, &group);
	for (i = 0; i < 2 && (rank & 1); i++) {
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
		announced("comm_create_group");
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
		did("mpi_coll", "allreduce");
		expect(sum == 4);
		freed(&comm);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&all);
	barrier(MPI_COMM_WORLD);
}

static void while_others_work(void)
{
	struct request_list list = {};
	MPI_Comm comms[2], duplicate;
	int i;

	for (i = 0; i < 2; i++) { /* one after the other: Open MPI 4.1 hangs if they overlap */
		MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], list_add(&list, true));
		announced("comm_idup");
		barrier(MPI_COMM_WORLD);
		list_finish(&list, i, true);
	}
	for (i = 0; i < 2; i++) {
		exchange(true, comms[i]);
		freed(&comms[i]);
	}
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &duplicate);
	announced("comm_dup_with_info");
	exchange(true, duplicate);
	freed(&duplicate);
}

/* Ranks are those of the remote group; both groups use the same ranks and tags. */
static void between(MPI_Comm comm, int own, int ranks, bool is_low)
{
	int in = -1, sum, root = is_low ? (own ? MPI_PROC_NULL : MPI_ROOT) : 0;
	struct request_list list = {};
	MPI_Status status;

	MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, list_add(&list, true));
	did("mpi_recv", "irecv");
	MPI_Send(&rank, 1, MPI_INT, own, 7, comm);
	did("mpi_send", "send");
	list_finish(&list, 0, false);
	expect(in == (is_low ? rank + 2 : rank - 2));
	MPI_Sendrecv(&rank, 1, MPI_INT, ranks - 1 - own, 8, &in, 1, MPI_INT, ranks - 1 - own, 8, comm,
		     &status);
	did("mpi_send", "sendrecv");
	did("mpi_recv", "sendrecv");
	expect(status.MPI_SOURCE == ranks - 1 - own && in == size - 1 - rank);
	sum = rank;
	MPI_Bcast(&sum, 1, MPI_INT, root, comm);
	did("mpi_coll", "bcast");
	expect(is_low || sum == 0);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	did("mpi_coll", "allreduce");
	expect(sum == (is_low ? 5 : 1));
	saw(&sum, 1);
}

static void of_two_groups(void)
{
	bool is_low = rank < 2;
	MPI_Comm half, inter, copy, merged;
	int own, i;

	MPI_Comm_split(MPI_COMM_WORLD, is_low, rank, &half);
	announced("comm_split");
	MPI_Comm_rank(half, &own);
	for (i = 0; i < 2; i++) {
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? 2 : 0, 9, &inter);
		announced("intercomm_create");
		between(inter, own, 2, is_low);
		MPI_Comm_dup(inter, &copy);
		announced("comm_dup");
		between(copy, own, 2, is_low);
		freed(&copy);
		MPI_Intercomm_merge(inter, !is_low, &merged);
		announced("intercomm_merge");
		exchange(false, merged);
		freed(&merged);
		freed(&inter);
	}
	freed(&half);
}

void groups(void)
{
	topologies();
	of_a_group();
	while_others_work();
	of_two_groups();
}
