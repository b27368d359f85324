// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold.c - keeps a file in use, either by an open descriptor or by a mapping,
 * and checks for each line of its input that the file can still be read and written.
 *
 *	hold open|map FILE
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "workloads/workload.h"

#define PAGE  4096L
#define PAGES 64L

static unsigned char expected(long page, long round)
{
	return (unsigned char)(page * 7 + round * 13 + 1);
}

static void use_fd(int fd, long page, long round)
{
	unsigned char byte = 0;

	CHECK(pread(fd, &byte, 1, page * PAGE) == 1);
	CHECK(byte == expected(page, round));
	byte = expected(page, round + 1);
	CHECK(pwrite(fd, &byte, 1, page * PAGE) == 1);
}

static void use_map(volatile unsigned char *map, long page, long round)
{
	CHECK(map[page * PAGE] == expected(page, round));
	map[page * PAGE] = expected(page, round + 1);
}

int main(int argc, char **argv)
{
	unsigned char *map = MAP_FAILED;
	char line[64];
	long page, round;
	int fd;

	if (argc != 3 || (strcmp(argv[1], "open") && strcmp(argv[1], "map"))) {
		fprintf(stderr, "usage: hold open|map FILE\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	CHECK(fd >= 0);
	CHECK(!ftruncate(fd, PAGES * PAGE));
	for (page = 0; page < PAGES; page++) {
		unsigned char byte = expected(page, 0);

		CHECK(pwrite(fd, &byte, 1, page * PAGE) == 1);
	}
	if (!strcmp(argv[1], "map")) {
		map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		CHECK(map != MAP_FAILED);
		CHECK(!close(fd));
	}
	puts("holding");
	for (round = 0; fgets(line, sizeof(line), stdin); round++) {
		for (page = 0; page < PAGES; page++) {
			if (map == MAP_FAILED)
				use_fd(fd, page, round);
			else
				use_map(map, page, round);
		}
		printf("right %ld\n", round + 1);
	}
	puts("ends");
	return 0;
}
