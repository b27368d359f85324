// SPDX-License-Identifier: GPL-2.0-only
/*
 * exercise.c - an MPI program that keeps an account of its calls.
 *
 *	exercise DIR MODE	writes the account of each rank to DIR/rank.N
 *
 * Modes: `calls` every recorded call and some that are not recorded; `probes` probes for
 * messages; `modern` calls that not every MPI has; `threads` several threads of each rank concurrently; `children`
 * fork and exec while MPI runs; `descriptors` closes descriptors of others; `killed` 1000 collectives and
 * an endless wait; `aborted` 1000 collectives and MPI_Abort; `unfinished` messages, and exit without MPI_Finalize;
 * `io` every call on files, `romio` nearly all; `windows` every one-sided call; `late` waits until
 * DIR/go exists.
 */
#define _GNU_SOURCE
#include "exercise.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int rank, size, next, previous;
static const char *dir;

static void calls(void)
{
	messages(MPI_COMM_WORLD);
	collectives(MPI_COMM_WORLD);
	communicators();
	persistent(MPI_COMM_WORLD);
	groups();
	passing();
	probes(MPI_COMM_WORLD);
	modern(MPI_COMM_WORLD);
}

static void newer(void)
{
	modern(MPI_COMM_WORLD);
}

static void found(void)
{
	probes(MPI_COMM_WORLD);
}

static void io(void)
{
	files(dir, true);
}

/* Open MPI's copy of ROMIO crashes on collective calls that create requests. */
static void romio(void)
{
	files(dir, false);
}

/* -- threads ----------------------------------------------------------------------------- */

#define THREADS 3
#define ROUNDS 24

struct thread {
	pthread_t id;
	int number;
	MPI_Comm comm;
};

static void *thread_main(void *argument)
{
	struct thread *thread = argument;
	struct request_list list = {};
	int round, i, out = 0, in[4], sum;

	for (round = 0; round < ROUNDS; round++) {
		out = rank * 100 + round;
		for (i = 0; i < 4; i++) {
			MPI_Irecv(&in[i], 1, MPI_INT, i & 1 ? MPI_ANY_SOURCE : previous, thread->number,
				  MPI_COMM_WORLD, list_add(&list, true));
			did("mpi_recv", "irecv");
		}
		for (i = 0; i < 4; i++) {
			(i & 1 ? MPI_Isend : MPI_Issend)(&out, 1, MPI_INT, next, thread->number,
							 MPI_COMM_WORLD, list_add(&list, true));
			did("mpi_send", i & 1 ? "isend" : "issend");
		}
		list_finish(&list, round % WAYS, round & 1);
		for (i = 0; i < 4; i++)
			expect(in[i] == previous * 100 + round);
		saw(in, 4);
		MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, thread->comm);
		did("mpi_coll", "allreduce");
	}
	return NULL;
}

static void threads(void)
{
	struct thread threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++) {
		threads[i].number = i;
		MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
		did("mpi_coll", "comm_dup");
		did("mpi_comm", "-");
	}
	for (i = 0; i < THREADS; i++)
		expect(!pthread_create(&threads[i].id, NULL, thread_main, &threads[i]));
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		MPI_Comm_free(&threads[i].comm);
		did("mpi_coll", "comm_free");
	}
}

/* -- children ---------------------------------------------------------------------------- */

/* A child is not a rank: its calls are not recorded, and it has no descriptors of the shim. */
static void children(void)
{
	static const char *const search = "! ls -l /proc/self/fd | grep -q iotape";
	int status;
	pid_t pid;

	barrier(MPI_COMM_WORLD);
	pid = fork();
	if (!pid) {
		MPI_Barrier(MPI_COMM_SELF);
		if (system("! ls -l /proc/$PPID/fd | grep -q iotape"))
			_exit(1);
		execlp("sh", "sh", "-c", search, NULL);
		_exit(1);
	}
	expect(waitpid(pid, &status, 0) == pid && !status);
	expect(!system(search));
	exchange(false, MPI_COMM_WORLD);
	collectives(MPI_COMM_WORLD);
}

/* -- descriptors ------------------------------------------------------------------------- */

/* All descriptor numbers, including the shim's, belong to files of the program now. */
static void descriptors(void)
{
	char path[4096];
	struct stat stat;
	int fd, i;

	snprintf(path, sizeof(path), "%s/append.%d", dir, rank);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	expect(fd >= 0);
	barrier(MPI_COMM_WORLD);
	expect(!close_range(500, ~0u, 0));
	for (i = 500; i < 1000; i++)
		expect(dup2(fd, i) == i);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	expect(!fstat(fd, &stat) && stat.st_size == 0);
}

/* The files must remain at the end: MPI_Finalize must not have closed them, nor written to them. */
static void descriptors_at_end(void)
{
	struct stat stat;
	int i;

	for (i = 500; i < 1000; i++)
		if (fstat(i, &stat) || stat.st_size)
			exit(1);
}

static bool is_there(const char *name, int of)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s.%d", dir, name, of);
	return !access(path, F_OK);
}

static void touch(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.%d", dir, name, rank);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	expect(fd >= 0);
	close(fd);
}

/* -- killed ------------------------------------------------------------------------------ */

/* 1000 collectives, which have returned on all ranks before the first rank dies. */
static void all_but_the_end(void)
{
	int i, sum;

	for (i = 0; i < 1000; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	touch("done");
	for (i = 0; i < size; i++)
		while (!is_there("done", i))
			usleep(1000);
}

static void aborted(void)
{
	all_but_the_end();
	if (rank == size - 1)
		MPI_Abort(MPI_COMM_WORLD, 5);
	pause();
}

static void killed(void)
{
	all_but_the_end();
	if (!rank)
		sleep(1); /* after an exit, the launcher may wait for the other ranks */
	kill(getpid(), SIGKILL);
}

/* -- late -------------------------------------------------------------------------------- */

/* A real program would continue to MPI_Finalize. */
static void unfinished(void)
{
	messages(MPI_COMM_WORLD);
	account_write(dir);
	exit(0);
}

static void late(void)
{
	char path[4096];

	touch("started");
	snprintf(path, sizeof(path), "%s/go", dir);
	while (access(path, F_OK))
		usleep(50000);
	errno = 77;
	MPI_Barrier(MPI_COMM_SELF); /* this call notices that the recording has ended */
	expect(errno == 77);
	messages(MPI_COMM_WORLD);
}

static const struct {
	const char *name;
	void (*function)(void);
} modes[] = { { "calls", calls }, { "probes", found }, { "modern", newer }, { "threads", threads }, { "children", children },
	      { "descriptors", descriptors }, { "late", late }, { "killed", killed },
	      { "aborted", aborted },	  { "unfinished", unfinished },
	      { "windows", windows },
	      { "io", io }, { "romio", romio } };

static void init(bool has_threads)
{
	int provided;

	if (has_threads) {
		MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
		expect(provided == MPI_THREAD_MULTIPLE);
	} else {
		MPI_Init(NULL, NULL);
	}
	did("mpi_comm", "-");
	did("mpi_comm", "-");
	did("mpi_coll", "init");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	next = (rank + 1) % size;
	previous = (rank + size - 1) % size;
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[2], modes[i].name))
			continue;
		dir = argv[1];
		init(modes[i].function == threads);
		modes[i].function();
		MPI_Finalize();
		if (modes[i].function == descriptors)
			descriptors_at_end();
		did("mpi_coll", "finalize");
		account_write(dir);
		return 0;
	}
	fprintf(stderr, "usage: exercise DIR MODE\n");
	return 2;
}
