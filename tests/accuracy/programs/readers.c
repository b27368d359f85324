// SPDX-License-Identifier: GPL-2.0-only
/*
 * readers.c - a workload: threads that read blocks of 4 KiB, each from a file of its own.
 *
 * The four micro-benchmarks of the ARTC paper (SOSP'13, section 5.2.1): more threads, more
 * devices, a smaller page cache (--first: the first thread reads its whole file before its
 * random reads), and a scheduler that divides the disk between sequential readers (--sequential).
 *
 *	readers --prepare [--threads=N] [--mib=N] DIRECTORY	creates the files
 *	readers [--threads=N] [--mib=N] [--reads=N] [--first] [--sequential] DIRECTORY
 */
#include <fcntl.h>
#include <pthread.h>

#include "../../workloads/workload.h"

#define BLOCK 4096L

static long threads = 2, file_mib = 16, reads = 200;
static bool is_preparing, is_first_whole, is_sequential;
static const char *directory;

static const struct workload_option options[] = {
	{ "threads", &threads, NULL, NULL, "threads" },
	{ "mib", &file_mib, NULL, NULL, "size of each file" },
	{ "reads", &reads, NULL, NULL, "reads of each thread" },
	{ "prepare", NULL, NULL, &is_preparing, "make the files, and read nothing" },
	{ "first", NULL, NULL, &is_first_whole, "the first thread reads its whole file before" },
	{ "sequential", NULL, NULL, &is_sequential, "block after block, not at random" },
	{}
};

static int open_file(long thread, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/file.%ld", directory, thread);
	fd = open(path, flags, 0644);
	CHECK(fd >= 0);
	return fd;
}

static void make_file(long thread)
{
	static char block[1 << 20];
	int fd = open_file(thread, O_CREAT | O_TRUNC | O_WRONLY);
	long i;

	for (i = 0; i < file_mib; i++) {
		workload_fill(block, sizeof(block), thread, i << 20);
		CHECK(write(fd, block, sizeof(block)) == sizeof(block));
	}
	CHECK(!fsync(fd));
	CHECK(!close(fd));
}

static void read_block(int fd, long thread, long number)
{
	char block[BLOCK];

	CHECK(pread(fd, block, BLOCK, number * BLOCK) == BLOCK);
	CHECK(workload_is(block, 64, thread, number * BLOCK));
}

static void *read_file(void *argument)
{
	long thread = (long)argument, blocks = (file_mib << 20) / BLOCK, i;
	uint64_t state = (uint64_t)thread + 1;
	int fd = open_file(thread, O_RDONLY);

	for (i = 0; is_first_whole && !thread && i < blocks; i++)
		read_block(fd, thread, i);
	if (!is_sequential)
		CHECK(!posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM));
	for (i = 0; i < reads; i++)
		read_block(fd, thread, is_sequential ? i % blocks : workload_below(&state, blocks));
	CHECK(!close(fd));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	long i;

	directory = workload_options(argc, argv, "Reads of several threads.", options);
	CHECK(threads > 0 && threads <= 64);
	if (is_preparing) {
		for (i = 0; i < threads; i++)
			make_file(i);
		return 0;
	}
	for (i = 0; i < threads; i++)
		CHECK(!pthread_create(&thread[i], NULL, read_file, (void *)i));
	for (i = 0; i < threads; i++)
		CHECK(!pthread_join(thread[i], NULL));
	return 0;
}
