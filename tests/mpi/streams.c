// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams.c - two ranks, with four threads each, that exchange messages with one tag: MPI sees them in
 * any order, and only their lengths identify the pairs. All lengths of a rank are different.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS	 4
#define MESSAGES 40
#define MOST	 (2 * THREADS * MESSAGES + 16)

static int rank, other;

static void exchange(int way, char *out, char *in, int bytes)
{
	MPI_Comm comm = MPI_COMM_WORLD;
	MPI_Request request;
	MPI_Message message;
	int is_done = 0;

	switch (way) {
	case 0:
		MPI_Irecv(in, MOST, MPI_CHAR, other, 0, comm, &request);
		MPI_Send(out, bytes, MPI_CHAR, other, 0, comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Isend(out, bytes, MPI_CHAR, other, 0, comm, &request);
		MPI_Mprobe(other, 0, comm, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(in, MOST, MPI_CHAR, &message, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 2:
		MPI_Sendrecv(out, bytes, MPI_CHAR, other, 0, in, MOST, MPI_CHAR, other, 0, comm, MPI_STATUS_IGNORE);
		break;
	default:
		MPI_Isend(out, bytes, MPI_CHAR, other, 0, comm, &request);
		MPI_Recv(in, MOST, MPI_CHAR, other, 0, comm, MPI_STATUS_IGNORE);
		while (!is_done) {
			MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
			if (!is_done)
				usleep(100);
		}
	}
}

static void *run(void *argument)
{
	int thread = *(int *)argument, i;
	char *out = calloc(1, MOST), *in = calloc(1, MOST);

	for (i = 0; i < MESSAGES; i++)
		exchange(i % 4, out, in, 8 + 2 * (thread * MESSAGES + i) + rank);
	free(out);
	free(in);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int numbers[THREADS], level, size, i;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (level != MPI_THREAD_MULTIPLE || size != 2) {
		fprintf(stderr, "streams: for two ranks with threads\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	other = 1 - rank;
	for (i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, run, &numbers[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MPI_Finalize();
	return 0;
}
