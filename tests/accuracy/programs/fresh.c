// SPDX-License-Identifier: GPL-2.0-only
/*
 * fresh.c - a workload: files are read into memory that the program has not touched before.
 *
 * A program that loads a file into a new array does this: page faults during the read fetch the memory. Each file has another
 * size, from 64 KiB to 4 MiB. With --reuse, all reads go to the same memory, which is touched before.
 *
 *	fresh --prepare [--files=N] DIRECTORY	creates the files
 *	fresh [--files=N] [--rounds=N] [--reuse] DIRECTORY
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "../../workloads/workload.h"

#define SIZES 4

static const size_t sizes_bytes[SIZES] = { 64 << 10, 256 << 10, 1 << 20, 4 << 20 };

static long files = 8, rounds = 4;
static bool is_preparing, is_reusing;
static const char *directory;

static const struct workload_option options[] = {
	{ "files", &files, NULL, NULL, "number of files" },
	{ "rounds", &rounds, NULL, NULL, "how often each is read" },
	{ "prepare", NULL, NULL, &is_preparing, "make the files, and read nothing" },
	{ "reuse", NULL, NULL, &is_reusing, "every read goes to the same memory" },
	{}
};

static int open_file(long number, int flags)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/file.%ld", directory, number);
	fd = open(path, flags, 0644);
	CHECK(fd >= 0);
	return fd;
}

static char *map_memory(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

static void make_file(long number)
{
	size_t bytes = sizes_bytes[number % SIZES];
	char *memory = map_memory(bytes);
	int fd = open_file(number, O_CREAT | O_TRUNC | O_WRONLY);

	workload_fill(memory, bytes, number, 0);
	CHECK(write(fd, memory, bytes) == (ssize_t)bytes);
	CHECK(!fsync(fd));
	CHECK(!close(fd));
	CHECK(!munmap(memory, bytes));
}

static void read_file(long number, char *memory)
{
	size_t bytes = sizes_bytes[number % SIZES];
	char *fresh = memory ? memory : map_memory(bytes);
	int fd = open_file(number, O_RDONLY);

	CHECK(pread(fd, fresh, bytes, 0) == (ssize_t)bytes);
	CHECK(workload_is(fresh, 64, number, 0));
	CHECK(!close(fd));
	if (!memory)
		CHECK(!munmap(fresh, bytes));
}

int main(int argc, char **argv)
{
	char *memory = NULL;
	long i;

	directory = workload_options(argc, argv, "Reads into fresh memory.", options);
	if (is_preparing) {
		for (i = 0; i < files; i++)
			make_file(i);
		return 0;
	}
	if (is_reusing) {
		memory = map_memory(sizes_bytes[SIZES - 1]);
		memset(memory, 1, sizes_bytes[SIZES - 1]);
	}
	for (i = 0; i < files * rounds; i++)
		read_file(i % files, memory);
	return 0;
}
