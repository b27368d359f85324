// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps.c - calls on mapped files, and accesses to them.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "calls.h"

#define PAGE  4096
#define PAGES 16

static volatile char *area;
static volatile char sink;
static sigjmp_buf after_fault;

static volatile char *map(int fd, int prot, int flags)
{
	volatile char *start = mmap(NULL, PAGES * PAGE, prot, flags, fd, 0);

	MUST(start != MAP_FAILED);
	return start;
}

static void unmap(volatile char *start, int pages)
{
	munmap((void *)start, (size_t)pages * PAGE);
}

static void on_bus_error(int number)
{
	(void)number;
	siglongjmp(after_fault, 1);
}

static void accessed(int fd)
{
	CALL("mmap, MAP_SHARED", area = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED));
	CALL("first read of a page, shared", sink = area[0]);
	CALL("second read of a page", sink = area[1]);
	CALL("first write to a page that was read, shared", area[0] = 1);
	CALL("second write to a page", area[1] = 1);
	CALL("first write to a page, shared", area[PAGE] = 1);
	CALL("read of a page that was written", sink = area[PAGE]);
	CALL("msync, MS_ASYNC", msync((void *)area, PAGES * PAGE, MS_ASYNC));
	CALL("msync, MS_SYNC", msync((void *)area, PAGES * PAGE, MS_SYNC));
	CALL("first write to a page after msync", area[PAGE] = 2);
	CALL("write(2) from a page not accessed before",
	     (void)!pwrite(fd, (void *)(area + 2 * PAGE), 100, 14 * PAGE));
	CALL("read(2) into a page not accessed before",
	     (void)!pread(fd, (void *)(area + 3 * PAGE), 100, 14 * PAGE));
	CALL("madvise, MADV_WILLNEED", madvise((void *)area, PAGE, MADV_WILLNEED));
	CALL("madvise, MADV_RANDOM", madvise((void *)area, PAGES * PAGE, MADV_RANDOM));
	CALL("madvise, MADV_DONTNEED", madvise((void *)area, PAGE, MADV_DONTNEED));
	CALL("read of a page after MADV_DONTNEED", sink = area[0]);
	CALL("madvise, MADV_REMOVE", madvise((void *)(area + 8 * PAGE), 4 * PAGE, MADV_REMOVE));
	CALL("mlock of three pages", mlock((void *)(area + 5 * PAGE), 3 * PAGE));
	CALL("munlock", munlock((void *)(area + 5 * PAGE), 3 * PAGE));
	CALL("mprotect of a part", mprotect((void *)(area + 15 * PAGE), PAGE, PROT_READ));
	CALL("mincore", { unsigned char vector[PAGES]; mincore((void *)area, PAGES * PAGE, vector); });
	CALL("munmap, two of three pieces", munmap((void *)(area + 6 * PAGE), 10 * PAGE));
	CALL("munmap of the middle", unmap(area + 2 * PAGE, 1));
	CALL("munmap of the rest", unmap(area, 6));
}

static void private(int fd)
{
	int readonly;

	area = map(fd, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	CALL("first read of a page, private", sink = area[0]);
	CALL("first write to a page that was read, private", area[0] = 1);
	CALL("first write to a page, private", area[PAGE] = 1);
	unmap(area, PAGES);
	CALL("mmap, MAP_PRIVATE", area = map(fd, PROT_READ, MAP_PRIVATE));
	CALL("mmap over a mapping, MAP_FIXED",
	     MUST(mmap((void *)area, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, PAGE) == area));
	unmap(area, PAGES);
	CALL("mmap, MAP_POPULATE", area = mmap(NULL, 3 * PAGE, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0));
	unmap(area, 3);
	readonly = open("old/stat", O_RDONLY);
	CALL("mmap, MAP_SHARED, of a read-only handle",
	     area = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, readonly, 0));
	unmap(area, 1);
	CALL("mmap for writing of a read-only handle (EACCES)",
	     mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, readonly, 0));
	close(readonly);
}

static void moved(int fd)
{
	volatile char *other;

	area = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED);
	sink = area[0];
	other = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CALL("mremap to another address",
	     area = mremap((void *)area, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other));
	CALL("mremap, smaller", area = mremap((void *)area, PAGES * PAGE, 8 * PAGE, 0));
	unmap(area + 8 * PAGE, 56);
	CALL("mremap, larger in place", area = mremap((void *)area, 8 * PAGE, 12 * PAGE, 0));
	CALL("munmap after mremap", unmap(area, 12));
}

static void beyond(int fd)
{
	signal(SIGBUS, on_bus_error);
	MUST(!ftruncate(fd, PAGE));
	area = map(fd, PROT_READ, MAP_SHARED);
	CALL("access beyond the end of the file (SIGBUS)",
	     if (!sigsetjmp(after_fault, 1)) sink = area[5 * PAGE]);
	unmap(area, PAGES);
}

static void outlived(void)
{
	int fd = make_open("outlived");

	area = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	CALL("close while it is mapped", close(fd));
	CALL("munmap of the last piece", unmap(area, 2));
}

void calls_of_maps(void)
{
	int fd = make_open("mapped");

	MUST(!ftruncate(fd, PAGES * PAGE));
	accessed(fd);
	private(fd);
	moved(fd);
	beyond(fd);
	close(fd);
	outlived();
}
