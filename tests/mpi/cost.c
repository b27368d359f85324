// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost.c - the cost of a call: prints its CPU time in ns, the minimum of several rounds,
 * to exclude the influence of other load.
 *
 * A barrier of one rank is the cheapest collective, and an empty message to the same rank
 * the cheapest message: their additional time under the shim is the cost of the records.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define CALLS 20000
#define ROUNDS 20

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_SELF);
}

/* Four records: start and completion of two requests. */
static void message(void)
{
	MPI_Request requests[2];
	char in = 0, out = 0;

	MPI_Irecv(&in, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[0]);
	MPI_Isend(&out, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static double cost_ns(void (*call)(void), int calls)
{
	double least_ns = 1e18, begin_ns, ns;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		begin_ns = now_ns();
		for (i = 0; i < calls; i++)
			call();
		ns = (now_ns() - begin_ns) / calls;
		if (ns < least_ns)
			least_ns = ns;
	}
	return least_ns;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	printf("%.0f %.0f\n", cost_ns(barrier, CALLS), cost_ns(message, CALLS / 4));
	MPI_Finalize();
	return 0;
}
