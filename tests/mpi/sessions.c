// SPDX-License-Identifier: GPL-2.0-only
/*
 * sessions.c - a program that initializes MPI by sessions only: it never calls MPI_Init, and has no MPI_COMM_WORLD.
 *
 *	sessions DIR once|again|both	writes the account of each rank to DIR/rank.N
 *
 * `again`: a second session follows the first; `both`: MPI_Init is called, too, while there is
 * a session.
 *
 * Exits with 4 if MPI does not support sessions.
 */
#include "exercise.h"
#include "mpi_has.h"

#include <stdlib.h>
#include <string.h>

int rank, size, next, previous;

#if IOT_HAS_Session_init

static MPI_Comm made(MPI_Group group, const char *tag)
{
	MPI_Comm comm;

	MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	did("mpi_comm", "-");
	did("mpi_coll", "comm_create_from_group");
	return comm;
}

static void use(MPI_Comm comm)
{
	int in = -1, own, all, out, sum;

	MPI_Comm_rank(comm, &own);
	MPI_Comm_size(comm, &all);
	out = own;
	MPI_Sendrecv(&out, 1, MPI_INT, (own + 1) % all, 3, &in, 1, MPI_INT, (own + all - 1) % all, 3, comm,
		     MPI_STATUS_IGNORE);
	did("mpi_send", "sendrecv");
	did("mpi_recv", "sendrecv");
	MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
	did("mpi_coll", "allreduce");
	expect(in == (own + all - 1) % all && sum == all * (all - 1) / 2);
	MPI_Comm_free(&comm);
	did("mpi_coll", "comm_free");
}

/* The same group and tag twice; and the ranks in two halves, one of them in reverse order. */
static void groups_of(MPI_Group world)
{
	MPI_Comm first = made(world, "all"), second = made(world, "all"), inter;
	int half[2][3] = { { 0, size / 2 - 1, 1 }, { size - 1, size / 2, -1 } }, is_high = rank >= size / 2;
	MPI_Group low, high;
	MPI_Request request;

	use(first);
	use(second);
	MPI_Group_range_incl(world, 1, &half[0], &low);
	MPI_Group_range_incl(world, 1, &half[1], &high);
	use(made(is_high ? high : low, "half"));
	MPI_Intercomm_create_from_groups(is_high ? high : low, 0, is_high ? low : high, 0, "across", MPI_INFO_NULL,
					 MPI_ERRORS_ARE_FATAL, &inter);
	did("mpi_comm", "-");
	did("mpi_coll", "intercomm_create_from_groups");
	MPI_Ibarrier(inter, &request);
	did("mpi_coll", "ibarrier");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	did("mpi_done", "wait");
	MPI_Comm_free(&inter);
	did("mpi_coll", "comm_free");
	MPI_Group_free(&low);
	MPI_Group_free(&high);
}

static void session(bool is_first)
{
	MPI_Session session;
	MPI_Group world;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
	MPI_Group_rank(world, &rank);
	MPI_Group_size(world, &size);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
	if (is_first) {
		did("mpi_comm", "-");
		did("mpi_comm", "-");
	}
	groups_of(world);
	MPI_Group_free(&world);
	MPI_Session_finalize(&session);
	did("mpi_coll", "session_finalize");
}

static void both(void)
{
	MPI_Session session;
	MPI_Group world;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
	MPI_Init(NULL, NULL);
	did("mpi_comm", "-");
	did("mpi_comm", "-");
	did("mpi_coll", "init");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	use(made(world, "all"));
	MPI_Barrier(MPI_COMM_WORLD);
	did("mpi_coll", "barrier");
	MPI_Finalize();
	did("mpi_coll", "finalize");
	use(made(world, "after"));
	MPI_Group_free(&world);
	MPI_Session_finalize(&session);
	did("mpi_coll", "session_finalize");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (!strcmp(argv[2], "both"))
		both();
	else
		session(true);
	if (!strcmp(argv[2], "again"))
		session(false);
	account_write(argv[1]);
	return 0;
}

#else

int main(void)
{
	return 4;
}

#endif
