// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpijob.c - a workload: an MPI job whose ranks share a file, partly through mappings.
 *
 * In every round each rank writes its block of a file, and after a barrier reads the block
 * of its neighbour; likewise with a second file, of which it has mapped its region. With --sync
 * the ranks sync the file in turn, while the others wait. Then
 * messages order the creation of files: a circulating token, and a broadcast. Only
 * barriers and messages order the ranks, so a replay without them reads
 * data that does not exist yet.
 *
 * mpirun -n 4 mpijob [--rounds=N] [--block=BYTES] [--sync] DIRECTORY
 */
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>

#include "workload.h"

#define PAGE   4096L
#define REGION 4 /* pages that each rank has of the mapped file */

static long rounds = 5, block = 16384;
static bool is_synced;

static const struct workload_option options[] = {
	{ "rounds", &rounds, NULL, NULL, "rounds" },
	{ "block", &block, NULL, NULL, "bytes that each rank writes in each" },
	{ "sync", NULL, NULL, &is_synced, "in each round, one rank syncs" },
	{}
};

static const char *directory;
static int rank, ranks;

static int open_file(const char *name, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags, 0644);
	if (fd < 0)
		workload_fail("mpijob", __LINE__, "rank %d: %s", rank, path);
	return fd;
}

static void barrier(void)
{
	CHECK(!MPI_Barrier(MPI_COMM_WORLD));
}

/* The offset of a rank's block in a round. */
static int64_t offset_of(long round, int of_rank)
{
	return (round * ranks + of_rank) * block;
}

static void rounds_of_blocks(void)
{
	int fd, neighbour = (rank + 1) % ranks;
	char *buffer = malloc((size_t)block);
	long round;

	if (!rank) /* the others open the file that rank 0 has created */
		CHECK(!close(open_file("shared", O_WRONLY | O_CREAT | O_EXCL)));
	barrier();
	fd = open_file("shared", O_RDWR);
	CHECK(buffer);
	for (round = 0; round < rounds; round++) {
		workload_fill(buffer, (size_t)block, rank, offset_of(round, rank));
		CHECK(pwrite(fd, buffer, (size_t)block, offset_of(round, rank)) == block);
		if (is_synced && round % ranks == rank)
			CHECK(!fdatasync(fd));
		barrier();
		CHECK(pread(fd, buffer, (size_t)block, offset_of(round, neighbour)) == block);
		CHECK(workload_is(buffer, (size_t)block, neighbour, offset_of(round, neighbour)));
	}
	CHECK(!fsync(fd) && !close(fd));
	free(buffer);
}

static uint64_t word_of(long round, int of_rank, long page)
{
	return (uint64_t)((round + 1) * 1000000 + of_rank * 1000 + page);
}

/* A rank writes its own region through its mapping, and reads the neighbour's by pread. */
static void rounds_of_pages(void)
{
	int fd, neighbour = (rank + 1) % ranks;
	long round, page;
	uint64_t word;
	char *region;

	if (!rank) {
		fd = open_file("mapped", O_RDWR | O_CREAT | O_EXCL);
		CHECK(!ftruncate(fd, ranks * REGION * PAGE) && !close(fd));
	}
	barrier();
	fd = open_file("mapped", O_RDWR);
	region = mmap(NULL, REGION * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      rank * REGION * PAGE);
	CHECK(region != MAP_FAILED);
	for (round = 0; round < rounds; round++) {
		for (page = 0; page < REGION; page++)
			*(volatile uint64_t *)(region + page * PAGE) = word_of(round, rank, page);
		barrier();
		page = round % REGION;
		CHECK(pread(fd, &word, 8, (neighbour * REGION + page) * PAGE) == 8);
		CHECK(word == word_of(round, neighbour, page));
		barrier(); /* no rank writes the next round before all have read this one */
	}
	CHECK(!msync(region, REGION * PAGE, MS_SYNC) && !munmap(region, REGION * PAGE) && !close(fd));
}

static void write_note(int of_rank, const char *text)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "note.%d", of_rank);
	fd = open_file(name, O_WRONLY | O_CREAT | O_EXCL);
	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

static void read_note(int of_rank, char *text, size_t room)
{
	char name[32];
	ssize_t got;
	int fd;

	snprintf(name, sizeof(name), "note.%d", of_rank);
	fd = open_file(name, O_RDONLY);
	got = read(fd, text, room - 1);
	CHECK(got > 0 && !close(fd));
	text[got] = 0;
}

/* Each rank's file continues that of the rank before it. */
static void token(void)
{
	MPI_Request request;
	char text[1024] = "";
	int number = 0;

	if (rank) {
		CHECK(!MPI_Irecv(&number, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, &request));
		CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE) && number == rank);
		read_note(rank - 1, text, sizeof(text) - 16);
	}
	snprintf(text + strlen(text), 16, "%d ", rank);
	write_note(rank, text);
	if (rank + 1 < ranks) {
		number = rank + 1;
		CHECK(!MPI_Isend(&number, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD, &request));
		CHECK(!MPI_Wait(&request, MPI_STATUS_IGNORE));
	}
}

/* The last rank notifies the others when they may read its data. */
static void broadcast(void)
{
	int root = ranks - 1, number = rank == root ? 42 : 0;
	char text[1024];

	if (rank == root)
		write_note(ranks, "settings");
	CHECK(!MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD) && number == 42);
	read_note(ranks, text, sizeof(text));
	CHECK(!strcmp(text, "settings"));
}

int main(int argc, char **argv)
{
	char text[1024];

	directory = workload_options(argc, argv, "An MPI job whose ranks share files.", options);
	CHECK(!MPI_Init(&argc, &argv));
	CHECK(!MPI_Comm_rank(MPI_COMM_WORLD, &rank) && !MPI_Comm_size(MPI_COMM_WORLD, &ranks));
	rounds_of_blocks();
	rounds_of_pages();
	token();
	broadcast();
	barrier();
	if (!rank) {
		read_note(ranks - 1, text, sizeof(text));
		printf("mpijob: %d ranks, %ld rounds, token went %s\n", ranks, rounds, text);
	}
	CHECK(!MPI_Finalize());
	return 0;
}
