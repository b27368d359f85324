// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - an MPI program that passes files from rank to rank: operations of a rank depend on those of others.
 *
 *	ring DIR ROUNDS
 *
 * A token, which is a file that is renamed in each step, circulates: the rank that has received the message
 * may rename it. In a shared file, each rank writes its block, and reads that of the next rank after a barrier.
 * Rank 0 creates a directory and broadcasts this; all ranks create files there; when all have answered,
 * it removes the files and the directory.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES 8192
#define PATH_BYTES  512

static int rank, size;
static const char *dir;

static void must(int is_right, const char *what)
{
	if (is_right)
		return;
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void pass_token(int round)
{
	int previous = (rank + size - 1) % size, next = (rank + 1) % size, step = round * size + rank;
	char from[PATH_BYTES], to[PATH_BYTES];

	if (step)
		MPI_Recv(NULL, 0, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	snprintf(from, sizeof(from), "%s/token.%d", dir, step);
	snprintf(to, sizeof(to), "%s/token.%d", dir, step + 1);
	must(!rename(from, to), from);
	MPI_Send(NULL, 0, MPI_INT, next, 0, MPI_COMM_WORLD);
}

static void exchange_blocks(int fd)
{
	static char block[BLOCK_BYTES];
	off_t mine = (off_t)rank * BLOCK_BYTES, theirs = (off_t)((rank + 1) % size) * BLOCK_BYTES;

	must(pwrite(fd, block, sizeof(block), mine) == sizeof(block), "blocks");
	MPI_Barrier(MPI_COMM_WORLD);
	must(pread(fd, block, sizeof(block), theirs) == sizeof(block), "blocks");
	MPI_Barrier(MPI_COMM_WORLD);
}

static void meet_in_directory(int round)
{
	char path[PATH_BYTES], file[PATH_BYTES + 32];
	int i, sum, one = 1;

	snprintf(path, sizeof(path), "%s/room.%d", dir, round);
	if (!rank)
		must(!mkdir(path, 0755), path);
	MPI_Bcast(&i, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(file, sizeof(file), "%s/%d", path, rank);
	must(!mknod(file, S_IFREG | 0644, 0), file);
	MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	for (i = 0; i < size && !rank; i++) {
		snprintf(file, sizeof(file), "%s/%d", path, i);
		must(!unlink(file), file);
	}
	if (!rank)
		must(!rmdir(path), path);
}

int main(int argc, char **argv)
{
	char path[PATH_BYTES];
	int rounds, round, fd;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	dir = argv[1];
	rounds = atoi(argv[2]);
	snprintf(path, sizeof(path), "%s/token.0", dir);
	if (!rank)
		must(!mknod(path, S_IFREG | 0644, 0), path);
	snprintf(path, sizeof(path), "%s/blocks", dir);
	if (!rank)
		must(!mknod(path, S_IFREG | 0644, 0), path);
	MPI_Barrier(MPI_COMM_WORLD);
	fd = open(path, O_RDWR);
	must(fd >= 0, path);
	for (round = 0; round < rounds; round++) {
		pass_token(round);
		exchange_blocks(fd);
		meet_in_directory(round);
	}
	if (!rank)
		MPI_Recv(NULL, 0, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	close(fd);
	MPI_Finalize();
	return 0;
}
