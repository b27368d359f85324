// SPDX-License-Identifier: GPL-2.0-only
/*
 * communicators.c - creates communicators in every way that is recorded, uses and frees them.
 */
#include "exercise.h"

static void made(const char *call, MPI_Comm comm)
{
	int ranks, rank_there, sum, one = 1;

	did("mpi_coll", call);
	if (comm == MPI_COMM_NULL)
		return;
	did("mpi_comm", "-");
	MPI_Comm_size(comm, &ranks);
	MPI_Comm_rank(comm, &rank_there);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	did("mpi_coll", "allreduce");
	expect(sum == ranks);
	saw(&rank_there, 1);
}

static void freed(MPI_Comm *comm)
{
	if (*comm == MPI_COMM_NULL)
		return;
	MPI_Comm_free(comm);
	did("mpi_coll", "comm_free");
}

/* One call creates two halves, in reverse order. */
static void halves(MPI_Comm parent)
{
	MPI_Comm half, again, inner;

	MPI_Comm_split(parent, rank / 2, -rank, &half);
	made("comm_split", half);
	MPI_Comm_split(parent, rank / 2, -rank, &again);
	made("comm_split", again);
	MPI_Comm_dup(half, &inner);
	made("comm_dup", inner);
	collectives(inner);
	freed(&inner);
	freed(&again);
	MPI_Comm_dup(half, &inner); /* may reuse the handle of the previous one, not its key */
	made("comm_dup", inner);
	freed(&half);
	barrier(inner);
	freed(&inner);
}

static void some(MPI_Comm parent)
{
	MPI_Group all, odd;
	MPI_Comm comm;
	int ranks[2] = { 3, 1 };

	MPI_Comm_split(parent, rank ? 1 : MPI_UNDEFINED, rank, &comm);
	made("comm_split", comm);
	freed(&comm);
	MPI_Comm_group(parent, &all);
	MPI_Group_incl(all, 2, ranks, &odd);
	MPI_Comm_create(parent, odd, &comm);
	made("comm_create", comm);
	freed(&comm);
	MPI_Group_free(&odd);
	MPI_Group_free(&all);
	MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	made("comm_split_type", comm);
	freed(&comm);
}

void communicators(void)
{
	MPI_Comm comm, alone;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	made("comm_dup", comm);
	messages(comm);
	halves(comm);
	some(comm);
	freed(&comm);
	MPI_Comm_dup(MPI_COMM_SELF, &alone);
	made("comm_dup", alone);
	collectives(alone);
	barrier(MPI_COMM_SELF);
	MPI_Comm_disconnect(&alone);
	did("mpi_coll", "comm_disconnect");
}
