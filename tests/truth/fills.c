// SPDX-License-Identifier: GPL-2.0-only
/*
 * fills.c - reads into memory with a known number of page faults, one line each: the name of the file, and the faults.
 *
 *	fills DIRECTORY
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHECK(condition)                                                            \
	do {                                                                        \
		if (!(condition)) {                                                 \
			fprintf(stderr, "fills: line %d: %m\n", __LINE__);          \
			exit(1);                                                    \
		}                                                                   \
	} while (0)

#define PAGES 16

static size_t page_bytes, file_bytes;

static char *map(int flags, int fd)
{
	char *memory = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	CHECK(memory != MAP_FAILED);
	madvise(memory, file_bytes, MADV_NOHUGEPAGE);
	return memory;
}

static int make(const char *name)
{
	static char bytes[PAGES << 16];
	int fd = open(name, O_CREAT | O_RDWR, 0644);

	CHECK(fd >= 0 && write(fd, bytes, file_bytes) == (ssize_t)file_bytes);
	return fd;
}

static void fill(const char *name, char *memory, size_t bytes, int faults)
{
	int fd = make(name);

	CHECK(pread(fd, memory, bytes, 0) == (ssize_t)bytes);
	CHECK(!close(fd));
	printf("%s %d\n", name, faults);
}

static void fill_vector(const char *name, char *first, char *second, int faults)
{
	struct iovec vectors[] = { { first, page_bytes }, { second, page_bytes } };
	int fd = make(name);

	CHECK(preadv(fd, vectors, 2, 0) == 2 * (ssize_t)page_bytes);
	CHECK(!close(fd));
	printf("%s %d\n", name, faults);
}

int main(int argc, char **argv)
{
	char *fresh, *half, *single, *vector, *mapped;
	int fd;

	CHECK(argc == 2 && !chdir(argv[1]));
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	file_bytes = PAGES * page_bytes;
	fresh = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	half = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	single = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	vector = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(half, 1, file_bytes / 2);
	memset(vector, 1, page_bytes);
	fill("fresh", fresh, file_bytes, PAGES);
	fill("again", fresh, file_bytes, 0);
	fill("half", half, file_bytes, PAGES / 2);
	fill("one", single + page_bytes, 1, 1);
	CHECK(!madvise(fresh, file_bytes, MADV_DONTNEED));
	fill("dropped", fresh, 3 * page_bytes, 3);
	fill_vector("vector", vector, vector + 4 * page_bytes, 1);
	fd = make("mapped");
	mapped = map(MAP_SHARED, fd);
	fill("file", mapped, file_bytes, 0); /* records of their own */
	CHECK(!close(fd));
	return 0;
}
