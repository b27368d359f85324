// SPDX-License-Identifier: GPL-2.0-only
/*
 * init.c - start and end of MPI, and of the recording.
 *
 * A process may have MPI by MPI_Init, by sessions of MPI 4 (sets.c), or both, one after the other or at
 * the same time. Recording begins with the first and ends when none is left; later sessions continue
 * the same trace, which ends with the process.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool has_begun, is_world_there;

/**
 * iot_mpi_speak_of() - say that nothing is recorded
 * @rank: of the process; for a problem of all ranks, only rank 0 reports it
 * @where: the object of the problem
 * @why: a reason
 */
void iot_mpi_speak_of(int rank, const char *where, const char *why)
{
	char text[4096 + 256];
	int bytes;

	if (rank && getenv("IOTAPE_MOUNT"))
		return;
	bytes = snprintf(text, sizeof(text), IOT_MPI_NAME ": %s: %s: MPI calls are not recorded\n",
			 where, why);
	if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
		return; /* no way to report it */
}

/**
 * iot_mpi_begin() - start recording, if requested and not started yet
 * @enter_ns: when MPI began
 * @rank: of the process in its world
 *
 * Return: whether that began now.
 */
bool iot_mpi_begin(u64 enter_ns, int rank)
{
	const char *where = "MPI";
	int err = 0;

	if (has_begun || iot_mpi_is_foreign())
		return false;
	has_begun = true;
	err = iot_mpi_session_open(enter_ns, &where);
	if (err < 0)
		iot_mpi_speak_of(rank, where, strerror(-err));
	return err > 0;
}

/**
 * iot_mpi_end() - write no more if the process has no MPI any more
 *
 * No other thread may be in an MPI call.
 */
void iot_mpi_end(void)
{
	if (!is_world_there && !iot_mpi_sets_are_there())
		iot_mpi_session_close();
}

/**
 * iot_mpi_world_is_there() - is there an MPI_COMM_WORLD?
 */
bool iot_mpi_world_is_there(void)
{
	return is_world_there;
}

/**
 * iot_mpi_world_group() - all processes of the world
 * @group: out, to be freed
 *
 * Return: false if MPI does not provide it.
 */
bool iot_mpi_world_group(MPI_Group *group)
{
	if (is_world_there)
		return !iot_mpi_found.PMPI_Comm_group(iot_mpi_found.comm_world, group);
	return iot_mpi_sets_world(group);
}

static void start(u64 enter_ns)
{
	const struct iot_mpi_library *mpi = &iot_mpi_found;
	int saved = errno, rank = 0, ranks = 0;
	MPI_Comm parent = mpi->comm_null;
	struct iot_mpi_collective call;
	struct iot_mpi_comm *world;

	is_world_there = true;
	if (!iot_mpi_is_foreign()) {
		mpi->PMPI_Comm_rank(mpi->comm_world, &rank);
		mpi->PMPI_Comm_size(mpi->comm_world, &ranks);
		mpi->PMPI_Comm_get_parent(&parent);
	}
	if (iot_mpi_begin(enter_ns, rank)) {
		iot_mpi_request_start(mpi->comm_self);
		if (iot_mpi_comm_start(rank, ranks, parent != mpi->comm_null)) {
			iot_mpi_session_close();
			iot_mpi_speak_of(rank, "MPI", strerror(ENOMEM));
		}
	}
	world = iot_mpi_comm_find(mpi->comm_world);
	if (world) {
		iot_mpi_collective_begin(&call, enter_ns, world);
		iot_mpi_collective_end(&call, IOT_CALL_init, -1, 0, MPI_SUCCESS);
		iot_mpi_link_start(enter_ns);
	}
	errno = saved;
}

/*
 * Handles of Open MPI, which are pointers, do not fit through functions that take those of
 * MPICH, which are ints. The other way round they do.
 */
static void check_mpi(void)
{
	if (!iot_mpi_is_foreign())
		return;
#ifdef OPEN_MPI
	if (getenv("IOTAPE_MOUNT") || getenv("IOTAPE_MPI_OUT"))
		iot_mpi_speak_of(0, program_invocation_short_name, "uses MPICH, not Open MPI");
#else
	iot_mpi_speak_of(0, program_invocation_short_name, "uses Open MPI, not MPICH, and cannot go on");
	exit(1);
#endif
}

#define DEFINE_INIT(name, parameters, arguments)                        \
	int MPI_##name parameters                                       \
	{                                                               \
		const struct iot_mpi_library *mpi = iot_mpi_library();  \
		u64 enter_ns = iot_mpi_now_ns();                        \
		int rc;                                                 \
                                                                        \
		check_mpi();                                            \
		rc = IOT_MPI_BELOW(mpi->MPI_##name arguments);          \
		if (!rc)                                                \
			start(enter_ns);                                \
		return rc;                                              \
	}
DEFINE_INIT(Init, (int *argc, char ***argv), (argc, argv))
DEFINE_INIT(Init_thread, (int *argc, char ***argv, int required, int *provided),
	    (argc, argv, required, provided))

int MPI_Finalize(void)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	struct iot_mpi_collective call;
	u64 enter_ns = iot_mpi_now_ns();
	struct iot_mpi_comm *world = iot_mpi_comm_find(mpi->comm_world);
	int rc;

	if (!world)
		return IOT_MPI_BELOW(mpi->MPI_Finalize());
	iot_mpi_collective_begin(&call, enter_ns, world);
	rc = IOT_MPI_BELOW(mpi->MPI_Finalize());
	iot_mpi_collective_end(&call, IOT_CALL_finalize, -1, 0, rc);
	is_world_there = false;
	iot_mpi_end();
	return rc;
}
