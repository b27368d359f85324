// SPDX-License-Identifier: GPL-2.0-only
/*
 * init.c - MPI begins and ends: so does recording.
 */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* In one piece; where all meet the same, one rank speaks for all. */
static void complain(const char *where, const char *why)
{
	char text[4096 + 256];
	int rank = 0, bytes;

	if (!iot_mpi_is_foreign() && getenv("IOTAPE_MOUNT"))
		iot_mpi_found.PMPI_Comm_rank(iot_mpi_found.comm_world, &rank);
	if (rank)
		return;
	bytes = snprintf(text, sizeof(text), IOT_MPI_NAME ": %s: %s: MPI calls are not recorded\n",
			 where, why);
	if (write(STDERR_FILENO, text, (size_t)bytes) < 0)
		return; /* nobody can be told */
}

static void start(u64 enter_ns)
{
	const char *where = "MPI";
	struct iot_mpi_collective call;
	struct iot_mpi_comm *world;
	int saved = errno, err = 0;

	if (!iot_mpi_is_foreign())
		err = iot_mpi_session_open(enter_ns, &where);
	if (err > 0) {
		iot_mpi_request_start();
		err = iot_mpi_comm_start();
		if (err)
			iot_mpi_session_close();
	}
	if (err < 0)
		complain(where, strerror(-err));
	world = iot_mpi_comm_find(iot_mpi_found.comm_world);
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
		complain(program_invocation_short_name, "uses MPICH, not Open MPI");
#else
	complain(program_invocation_short_name, "uses Open MPI, not MPICH, and cannot go on");
	exit(1);
#endif
}

int MPI_Init(int *argc, char ***argv)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	u64 enter_ns = iot_mpi_now_ns();
	int rc;

	check_mpi();
	rc = IOT_MPI_BELOW(mpi->MPI_Init(argc, argv));

	if (!rc)
		start(enter_ns);
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	const struct iot_mpi_library *mpi = iot_mpi_library();
	u64 enter_ns = iot_mpi_now_ns();
	int rc;

	check_mpi();
	rc = IOT_MPI_BELOW(mpi->MPI_Init_thread(argc, argv, required, provided));

	if (!rc)
		start(enter_ns);
	return rc;
}

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
	iot_mpi_session_close();
	return rc;
}
