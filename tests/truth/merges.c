// SPDX-License-Identifier: GPL-2.0-only
/*
 * merges.c - adjacent mappings of one file, which newer kernels merge.
 *
 *	merges FILE [visible]
 *
 * A mapping has the advice MADV_RANDOM when it becomes adjacent to another. If a part of it gets the advice of its
 * neighbour, the kernel merges the part with that. With `visible`, no mapping grows in place, which no record shows.
 *
 * Prints the expected records of a trace, one per line: `map N FIRST PAGES`, `moved N FIRST PAGES`,
 * `inherited N FIRST PAGES`, `unmap N FIRST PAGES` and `touch N PAGE`, where N numbers the mappings in the order of
 * their creation, and pages are those of the file. Touches are writes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE  4096L
#define PAGES 32L

#define CHECK(condition)                                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			printf("line %d: %s\n", __LINE__, #condition);                          \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static int fd, maps;
static char *room; /* address space without other uses */

/* Map pages of the file so that its first page would be at @base. Return: number of the mapping. */
static int map(char *base, long first, long pages, int advice)
{
	char *at = base + first * PAGE;

	CHECK(mmap(at, (size_t)(pages * PAGE), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, first * PAGE) == at);
	CHECK(!madvise(at, (size_t)(pages * PAGE), advice));
	printf("map %d %ld %ld\n", ++maps, first, pages);
	return maps;
}

static void say(const char *what, int number, long first, long pages)
{
	printf("%s %d %ld %ld\n", what, number, first, pages);
}

static void unmap(char *base, long first, long pages)
{
	CHECK(!munmap(base + first * PAGE, (size_t)(pages * PAGE)));
}

static void advise(char *base, long first, long pages)
{
	CHECK(!madvise(base + first * PAGE, (size_t)(pages * PAGE), MADV_NORMAL));
}

static void touch(char *base, int number, long page)
{
	base[page * PAGE] = 1;
	printf("touch %d %ld\n", number, page);
}

/* The first pages of a mapping get the advice of the one that ends there, and vice versa. */
static void advised(void)
{
	int a = map(room, 0, 4, MADV_NORMAL), b = map(room, 4, 4, MADV_RANDOM), c, d;

	touch(room, a, 1);
	advise(room, 4, 2);
	touch(room, b, 5);
	touch(room, a, 3);
	unmap(room, 2, 3);
	say("unmap", a, 2, 2);
	say("unmap", b, 4, 1);
	unmap(room, 0, 8);
	say("unmap", a, 0, 2);
	say("unmap", b, 5, 1);
	say("unmap", b, 6, 2);

	c = map(room, 10, 4, MADV_RANDOM);
	d = map(room, 14, 4, MADV_NORMAL);
	advise(room, 12, 2);
	touch(room, c, 13);
	touch(room, d, 14);
	unmap(room, 10, 8);
	say("unmap", c, 10, 2);
	say("unmap", c, 12, 2);
	say("unmap", d, 14, 4);
}

/* The remainder of a mapping in its old place is unmapped before the part that was merged with the neighbour. */
static void outlived(void)
{
	int a = map(room, 0, 4, MADV_NORMAL), b = map(room, 4, 4, MADV_RANDOM);

	advise(room, 4, 2);
	unmap(room, 6, 2);
	say("unmap", b, 6, 2);
	touch(room, b, 4);
	touch(room, a, 0);
	unmap(room, 0, 6);
	say("unmap", a, 0, 4);
	say("unmap", b, 4, 2);
}

/* A mapping is moved to the end of another. */
static void moved(void)
{
	char *elsewhere = room + PAGES * PAGE;
	int a = map(room, 0, 4, MADV_NORMAL), b = map(elsewhere, 4, 4, MADV_NORMAL);

	CHECK(mremap(elsewhere + 4 * PAGE, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room + 4 * PAGE) !=
	      MAP_FAILED);
	say("moved", b, 4, 4);
	say("unmap", b, 4, 4);
	touch(room, b, 6);
	touch(room, a, 2);
	unmap(room, 3, 2);
	say("unmap", a, 3, 1);
	say("unmap", b, 4, 1);
	unmap(room, 0, 8);
	say("unmap", a, 0, 3);
	say("unmap", b, 5, 3);
}

/* A mapping grows in place, which is not recorded. */
static void grown(void)
{
	int a = map(room, 0, 4, MADV_NORMAL), b;

	unmap(room, 4, 4);
	CHECK(mremap(room, 4 * PAGE, 6 * PAGE, 0) == room);
	touch(room, a, 5);
	b = map(room, 6, 2, MADV_NORMAL);
	touch(room, b, 7);
	unmap(room, 0, 8);
	say("unmap", a, 0, 6);
	say("unmap", b, 6, 2);
}

static void inherited(void)
{
	int a = map(room, 0, 4, MADV_NORMAL), b = map(room, 4, 4, MADV_RANDOM);
	pid_t child;

	advise(room, 4, 2);
	say("inherited", a, 0, 4);
	say("inherited", b, 4, 2);
	say("inherited", b, 6, 2);
	fflush(stdout);
	child = fork();
	if (!child) {
		touch(room, b, 5);
		say("unmap", a, 0, 4);
		say("unmap", b, 4, 2);
		say("unmap", b, 6, 2);
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(child, NULL, 0) == child);
	unmap(room, 0, 8);
	say("unmap", a, 0, 4);
	say("unmap", b, 4, 2);
	say("unmap", b, 6, 2);
}

int main(int argc, char **argv)
{
	if (argc != 2 && (argc != 3 || strcmp(argv[2], "visible") != 0)) {
		fprintf(stderr, "usage: merges FILE [visible]\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, PAGES * PAGE));
	room = mmap(NULL, 3 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(room != MAP_FAILED);
	advised();
	outlived();
	moved();
	if (argc == 2)
		grown();
	inherited();
	return 0;
}
