// SPDX-License-Identifier: GPL-2.0-only
/*
 * mappings.c - properties of mappings that depend on the file system: the address, huge pages, and synchronous writes
 * to storage (MAP_SYNC).
 *
 *	mappings DIRECTORY
 *
 * Prints a line for each, which must be the same on a bare directory and under tapefs. Lines that begin with "huge:"
 * state how much memory huge pages map: none where tapefs watches every page.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/workload.h"

#define HUGE_BYTES (2L << 20)
#define PAGE_BYTES 4096L
#define FILE_BYTES (4 * HUGE_BYTES)

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* A number of KiB, or the flags, of the mapping at an address, from /proc/self/smaps. */
static void say_smaps(const char *what, const void *address)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	unsigned long start, end, wanted = (unsigned long)address;
	bool is_it = false;
	char line[512];

	CHECK(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_it = start <= wanted && wanted < end;
		else if (is_it && strstr(line, "PmdMapped:"))
			printf("huge: %s: %s", what, line);
		else if (is_it && !strncmp(line, "VmFlags:", 8))
			printf("%s: %s\n", what, strstr(line, " sf") ? "synchronous" : "not synchronous");
	}
	fclose(smaps);
}

static int make(const char *name, long tag)
{
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
	char *data = malloc(HUGE_BYTES);
	long at;

	CHECK(fd >= 0 && data);
	for (at = 0; at < FILE_BYTES; at += HUGE_BYTES) {
		workload_fill(data, HUGE_BYTES, tag, at);
		CHECK(pwrite(fd, data, HUGE_BYTES, at) == HUGE_BYTES);
	}
	free(data);
	return fd;
}

static void *map(const char *what, int fd, int flags)
{
	void *at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	printf("%s: %s\n", what, at == MAP_FAILED ? strerrorname_np(errno) : "done");
	if (at == MAP_FAILED)
		return NULL;
	printf("huge: %s: %s\n", what, (unsigned long)at % HUGE_BYTES ? "not aligned" : "aligned");
	return at;
}

static void sum(const char *what, const char *at, long bytes)
{
	unsigned long result = 0;
	long i;

	for (i = 0; i < bytes; i += 64)
		result = result * 31 + (unsigned char)at[i];
	printf("%s: sum %lx\n", what, result);
}

static void try_synchronous(void)
{
	int fd = make("synchronous", 1);
	struct { const char *what; int flags; } kinds[] = {
		{ "MAP_SHARED_VALIDATE", MAP_SHARED_VALIDATE },
		{ "MAP_SHARED_VALIDATE, MAP_SYNC", MAP_SHARED_VALIDATE | MAP_SYNC },
		{ "MAP_SHARED, MAP_SYNC", MAP_SHARED | MAP_SYNC },
		{ "MAP_PRIVATE, MAP_SYNC", MAP_PRIVATE | MAP_SYNC },
		{ "MAP_SHARED_VALIDATE, an invalid flag", MAP_SHARED_VALIDATE | 0x2000000 },
	};
	size_t i;
	char *at;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		at = map(kinds[i].what, fd, kinds[i].flags);
		if (!at)
			continue;
		at[i] = 'x';
		at[HUGE_BYTES + 5 * PAGE_BYTES] = 'y';
		say_smaps(kinds[i].what, at);
		printf("%s: msync: %s\n", kinds[i].what, workload_outcome(msync(at, FILE_BYTES, MS_SYNC)));
		CHECK(!munmap(at, FILE_BYTES));
	}
	CHECK(!close(fd));
}

/* Runs in a child, which may be killed. */
static void touch_behind_end(const char *at)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child)
		_exit(*(const volatile char *)at);
	CHECK(waitpid(child, &status, 0) == child);
	printf("an access beyond the end: %s\n", WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "done");
}

/* Parts of a huge page are protected, discarded, punched out, locked. */
static void try_parts(char *at, int fd)
{
	char byte;

	CHECK(!mprotect(at + 16 * PAGE_BYTES, PAGE_BYTES, PROT_READ));
	CHECK(!munmap(at + HUGE_BYTES + 7 * PAGE_BYTES, PAGE_BYTES));
	at[HUGE_BYTES + 8 * PAGE_BYTES] = 'z';
	printf("MADV_REMOVE: %s\n",
	       workload_outcome(madvise(at + 2 * HUGE_BYTES, 64 * PAGE_BYTES, MADV_REMOVE)));
	CHECK(!mlock(at + 32 * PAGE_BYTES, PAGE_BYTES));
	CHECK(pread(fd, &byte, 1, HUGE_BYTES + 8 * PAGE_BYTES) == 1 && byte == 'z');
	sum("after parts", at + 2 * HUGE_BYTES, HUGE_BYTES);
}

static void in_child(char *at)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		at[3 * HUGE_BYTES - 1] = 'c';
		sum("child", at + 2 * HUGE_BYTES, HUGE_BYTES);
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	printf("the child's byte: %c\n", at[3 * HUGE_BYTES - 1]);
}

static void try_huge(const char *what, int flags, int advice)
{
	int fd = make(what, 2);
	char *at = map(what, fd, flags), *moved;

	CHECK(at);
	if (advice)
		printf("%s%s: madvise: %s\n", advice == MADV_COLLAPSE ? "huge: " : "", what,
		       workload_outcome(madvise(at, FILE_BYTES, advice)));
	fflush(stdout);
	sum(what, at, HUGE_BYTES);
	say_smaps(what, at);
	at[HUGE_BYTES + PAGE_BYTES] = 'w';
	say_smaps(what, at);
	in_child(at);
	if (flags == MAP_SHARED)
		try_parts(at, fd);
	moved = mremap(at + 3 * HUGE_BYTES, HUGE_BYTES, 2 * HUGE_BYTES, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED);
	sum("moved", moved, HUGE_BYTES);
	CHECK(!ftruncate(fd, 2 * HUGE_BYTES + 100));
	touch_behind_end(moved);
	CHECK(!munmap(moved, 2 * HUGE_BYTES));
	printf("%s: msync: %s\n", what, workload_outcome(msync(at, 16 * PAGE_BYTES, MS_SYNC)));
	CHECK(!close(fd));
	CHECK(!unlink(what));
	sum("without a name", at, HUGE_BYTES);
}

int main(int argc, char **argv)
{
	static const struct workload_option options[] = { { 0 } };
	struct statx attributes;

	CHECK(!chdir(workload_options(argc, argv, "Maps files as file systems treat in their own way.", options)));
	setvbuf(stdout, NULL, _IOLBF, 0);
	try_synchronous();
	CHECK(!statx(AT_FDCWD, "synchronous", 0, STATX_BASIC_STATS, &attributes));
	printf("page cache: %s, blocks of %u bytes\n",
	       attributes.stx_attributes & STATX_ATTR_DAX ? "none" : "there is one", attributes.stx_blksize);
	try_huge("shared", MAP_SHARED, 0);
	try_huge("private", MAP_PRIVATE, 0);
	try_huge("advised", MAP_SHARED, MADV_HUGEPAGE);
	try_huge("not advised", MAP_SHARED, MADV_NOHUGEPAGE);
	try_huge("collapsed", MAP_SHARED, MADV_COLLAPSE);
	try_huge("populated", MAP_SHARED | MAP_POPULATE, 0);
	return 0;
}
