// SPDX-License-Identifier: GPL-2.0-only
/*
 * collectives.c - every collective call, blocking and nonblocking.
 */
#include "exercise.h"

#define MANY 16 /* more than the number of ranks */

static int ones[MANY], places[MANY], byte_places[MANY], in[MANY];
static const int own[MANY] = { 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33 };
static MPI_Datatype types[MANY];

void barrier(MPI_Comm comm)
{
	MPI_Barrier(comm);
	did("mpi_coll", "barrier");
}

static void set_up(void)
{
	int i;

	for (i = 0; i < MANY; i++) {
		ones[i] = 1;
		places[i] = i;
		byte_places[i] = i * (int)sizeof(int);
		types[i] = MPI_INT;
	}
}

static void done(const char *call, int count)
{
	did("mpi_coll", call);
	saw(in, count);
}

static void rooted(int root, bool is_root, int ranks, MPI_Comm comm)
{
	int all = is_root ? ranks : 0;

	in[0] = is_root ? 42 : 0;
	MPI_Bcast(in, 1, MPI_INT, root, comm);
	expect(in[0] == 42);
	done("bcast", 1);
	MPI_Reduce(own, in, 1, MPI_INT, MPI_SUM, root, comm);
	expect(!is_root || in[0] == 3 * ranks);
	done("reduce", is_root);
	MPI_Gather(own, 1, MPI_INT, in, 1, MPI_INT, root, comm);
	done("gather", all);
	MPI_Gatherv(own, 1, MPI_INT, in, ones, places, MPI_INT, root, comm);
	done("gatherv", all);
	MPI_Scatter(own, 1, MPI_INT, in, 1, MPI_INT, root, comm);
	done("scatter", 1);
	MPI_Scatterv(own, ones, places, MPI_INT, in, 1, MPI_INT, root, comm);
	done("scatterv", 1);
}

static void rootless(int ranks, int rank_there, MPI_Comm comm)
{
	barrier(comm);
	MPI_Allreduce(own, in, 2, MPI_INT, MPI_SUM, comm);
	expect(in[1] == 5 * ranks);
	done("allreduce", 2);
	MPI_Allgather(own, 1, MPI_INT, in, 1, MPI_INT, comm);
	done("allgather", ranks);
	MPI_Allgatherv(own, 1, MPI_INT, in, ones, places, MPI_INT, comm);
	done("allgatherv", ranks);
	MPI_Alltoall(own, 1, MPI_INT, in, 1, MPI_INT, comm);
	expect(in[ranks - 1] == own[rank_there]);
	done("alltoall", ranks);
	MPI_Alltoallv(own, ones, places, MPI_INT, in, ones, places, MPI_INT, comm);
	done("alltoallv", ranks);
	MPI_Alltoallw(own, ones, byte_places, types, in, ones, byte_places, types, comm);
	done("alltoallw", ranks);
	MPI_Scan(own, in, 1, MPI_INT, MPI_SUM, comm);
	expect(in[0] == 3 * (rank_there + 1));
	done("scan", 1);
	MPI_Exscan(own, in, 1, MPI_INT, MPI_SUM, comm);
	expect(!rank_there || in[0] == 3 * rank_there);
	done("exscan", rank_there > 0);
	MPI_Reduce_scatter(own, in, ones, MPI_INT, MPI_SUM, comm);
	expect(in[0] == own[rank_there] * ranks);
	done("reduce_scatter", 1);
	MPI_Reduce_scatter_block(own, in, 1, MPI_INT, MPI_SUM, comm);
	done("reduce_scatter_block", 1);
}

/* All concurrently, with a blocking one in between: they are numbered in one sequence. */
static void nonblocking(int root, int ranks, int way, MPI_Comm comm)
{
	static int ins[8][MANY];
	struct request_list list = {};

	ins[0][0] = 42;
	MPI_Ibcast(ins[0], 1, MPI_INT, root, comm, list_add(&list, true));
	MPI_Ireduce(own, ins[1], 1, MPI_INT, MPI_SUM, root, comm, list_add(&list, true));
	MPI_Iallreduce(own, ins[2], 1, MPI_INT, MPI_SUM, comm, list_add(&list, true));
	MPI_Igather(own, 1, MPI_INT, ins[3], 1, MPI_INT, root, comm, list_add(&list, true));
	MPI_Allreduce(own, in, 1, MPI_INT, MPI_SUM, comm);
	done("allreduce", 1);
	MPI_Iscatter(own, 1, MPI_INT, ins[4], 1, MPI_INT, root, comm, list_add(&list, true));
	MPI_Iallgather(own, 1, MPI_INT, ins[5], 1, MPI_INT, comm, list_add(&list, true));
	MPI_Ialltoall(own, 1, MPI_INT, ins[6], 1, MPI_INT, comm, list_add(&list, true));
	MPI_Ibarrier(comm, list_add(&list, true));
	did("mpi_coll", "ibcast");
	did("mpi_coll", "ireduce");
	did("mpi_coll", "iallreduce");
	did("mpi_coll", "igather");
	did("mpi_coll", "iscatter");
	did("mpi_coll", "iallgather");
	did("mpi_coll", "ialltoall");
	did("mpi_coll", "ibarrier");
	list_finish(&list, way, way & 2);
	expect(ins[2][0] == 3 * ranks);
	saw(ins[0], 1);
	saw(ins[2], 1);
	saw(ins[4], 1);
	saw(ins[5], ranks);
	saw(ins[6], ranks);
}

/* The other nonblocking calls. */
static void nonblocking_more(int root, int ranks, int way, MPI_Comm comm)
{
	static int ins[9][MANY];
	struct request_list list = {};
	int i;

	MPI_Igatherv(own, 1, MPI_INT, ins[0], ones, places, MPI_INT, root, comm,
		     list_add(&list, true));
	MPI_Iscatterv(own, ones, places, MPI_INT, ins[1], 1, MPI_INT, root, comm,
		      list_add(&list, true));
	MPI_Iallgatherv(own, 1, MPI_INT, ins[2], ones, places, MPI_INT, comm, list_add(&list, true));
	MPI_Ialltoallv(own, ones, places, MPI_INT, ins[3], ones, places, MPI_INT, comm,
		       list_add(&list, true));
	MPI_Ialltoallw(own, ones, byte_places, types, ins[4], ones, byte_places, types, comm,
		       list_add(&list, true));
	MPI_Iscan(own, ins[5], 1, MPI_INT, MPI_SUM, comm, list_add(&list, true));
	MPI_Iexscan(own, ins[6], 1, MPI_INT, MPI_SUM, comm, list_add(&list, true));
	MPI_Ireduce_scatter(own, ins[7], ones, MPI_INT, MPI_SUM, comm, list_add(&list, true));
	MPI_Ireduce_scatter_block(own, ins[8], 1, MPI_INT, MPI_SUM, comm, list_add(&list, true));
	for (i = 0; i < 9; i++) {
		static const char *const names[] = {
			"igatherv", "iscatterv", "iallgatherv", "ialltoallv", "ialltoallw", "iscan",
			"iexscan", "ireduce_scatter", "ireduce_scatter_block"
		};
		did("mpi_coll", names[i]);
	}
	list_finish(&list, way, way & 2);
	saw(ins[1], 1);
	saw(ins[2], ranks);
	saw(ins[4], ranks);
	saw(ins[5], 1);
	saw(ins[7], 1);
	saw(ins[8], 1);
}

void collectives(MPI_Comm comm)
{
	int ranks, rank_there, root, way;

	set_up();
	MPI_Comm_size(comm, &ranks);
	MPI_Comm_rank(comm, &rank_there);
	for (root = 0; root < ranks; root++)
		rooted(root, root == rank_there, ranks, comm);
	rootless(ranks, rank_there, comm);
	for (way = 0; way < WAYS; way++)
		nonblocking(way % ranks, ranks, way, comm);
	for (way = 0; way < WAYS; way += 3)
		nonblocking_more(way % ranks, ranks, way, comm);
}
