// SPDX-License-Identifier: GPL-2.0-only
/*
 * sets.c - sessions of MPI 4: MPI without MPI_COMM_WORLD.
 *
 * A process that begins a session knows sets of processes by their names. That of mpi://WORLD, the
 * processes that were started together, takes the place of MPI_COMM_WORLD: its ranks are those of the
 * records, and the key of the job is made for it. The start of a session makes no rank wait and has
 * no record of its own, only the announcement of the process; the end of the last session is
 * recorded for the process alone, to show that it has ended MPI.
 */
#include "shim.h"

#include <stdlib.h>

#if IOT_HAS_Session_init

#define SESSIONS_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Session sessions[SESSIONS_MAX]; /* those that are open, as many as there is room for */
static int session_count;
static int open_count;
static bool is_last_over;

/**
 * iot_mpi_sets_are_there() - is there a session, or may another one begin?
 *
 * The program may begin one at any time once it has had one.
 */
bool iot_mpi_sets_are_there(void)
{
	return open_count || is_last_over;
}

/**
 * iot_mpi_sets_world() - all processes of the world
 * @group: out, to be freed
 *
 * Return: false if there is no session.
 */
bool iot_mpi_sets_world(MPI_Group *group)
{
	bool is_there;

	pthread_mutex_lock(&lock);
	is_there = session_count &&
		   !iot_mpi_found.PMPI_Group_from_session_pset(sessions[session_count - 1], "mpi://WORLD", group);
	pthread_mutex_unlock(&lock);
	return is_there;
}

/* A communicator of this process alone, for a moment. */
static void find_shared_handles(MPI_Session session)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	MPI_Comm self = mpi->comm_null;
	MPI_Group group;

	if (mpi->PMPI_Group_from_session_pset(session, "mpi://SELF", &group))
		return;
	if (!mpi->PMPI_Comm_create_from_group(group, "iotape", mpi->info_null, mpi->errors_return, &self)) {
		iot_mpi_request_start(self);
		mpi->PMPI_Comm_free(&self);
	}
	mpi->PMPI_Group_free(&group);
}

static void start(u64 enter_ns, MPI_Session session)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int rank = 0, ranks = 0;
	MPI_Group world;

	if (mpi->PMPI_Group_from_session_pset(session, "mpi://WORLD", &world))
		return;
	mpi->PMPI_Group_rank(world, &rank);
	mpi->PMPI_Group_size(world, &ranks);
	mpi->PMPI_Group_free(&world);
	if (!iot_mpi_begin(enter_ns, rank))
		return;
	find_shared_handles(session);
	if (iot_mpi_comm_start(rank, ranks, false)) {
		iot_mpi_session_close();
		iot_mpi_speak_of(rank, "MPI", strerror(ENOMEM));
	}
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	u64 enter_ns = iot_mpi_now_ns();
	int rc = IOT_MPI_BELOW(mpi->MPI_Session_init(info, handler, session)), saved = errno;

	if (rc || iot_mpi_is_foreign())
		return rc;
	pthread_mutex_lock(&lock);
	open_count++;
	is_last_over = false;
	if (session_count < SESSIONS_MAX)
		sessions[session_count++] = *session;
	iot_mpi_depth++;
	start(enter_ns, *session);
	iot_mpi_depth--;
	pthread_mutex_unlock(&lock);
	errno = saved;
	return rc;
}

static void forget(MPI_Session session)
{
	int i;

	for (i = 0; i < session_count; i++) {
		if (sessions[i] != session)
			continue;
		sessions[i] = sessions[--session_count];
		return;
	}
}

int MPI_Session_finalize(MPI_Session *session)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	u64 enter_ns = iot_mpi_now_ns();
	MPI_Session old;
	struct iot_mpi_collective call;
	int rc;

	memset(&old, 0, sizeof(old)); /* the null handle may be in a library that is not there */
	if (session)
		old = *session;
	rc = IOT_MPI_BELOW(mpi->MPI_Session_finalize(session));
	if (rc || iot_mpi_is_foreign())
		return rc;
	pthread_mutex_lock(&lock);
	forget(old);
	is_last_over = !--open_count;
	if (is_last_over && !iot_mpi_world_is_there() && iot_mpi_is_on()) {
		iot_mpi_collective_begin(&call, enter_ns, iot_mpi_comm_self());
		iot_mpi_collective_end(&call, IOT_CALL_session_finalize, -1, 0, rc);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

/* The process ends, and has ended MPI. */
__attribute__((destructor)) static void finish(void)
{
	if (is_last_over && !iot_mpi_world_is_there())
		iot_mpi_session_close();
}

#else

bool iot_mpi_sets_are_there(void)
{
	return false;
}

bool iot_mpi_sets_world(MPI_Group *group)
{
	(void)group;
	return false;
}

#endif
