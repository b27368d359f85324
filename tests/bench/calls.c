// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - how long file operations take: one line for each, its name and ns per call.
 *
 *	calls [--calls=N] [--maps] DIRECTORY
 *
 * With --maps, of mappings and what is done to their pages; else of the usual calls.
 *
 * Each operation is repeated N times in a batch; the fastest of twenty batches counts, for
 * whatever else the machine does makes a batch slower, never faster.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096
#define BATCHES 20
#define WRITERS 4
#define BLOCKS	256 /* of the file that is read and written */

static long calls = 500;
static int fd;
static char block[BLOCK];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void must(int is_good, const char *what)
{
	if (!is_good)
		fail(what);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void do_pread(long i)
{
	must(pread(fd, block, BLOCK, i % BLOCKS * BLOCK) == BLOCK, "pread");
}

static void do_pwrite(long i)
{
	must(pwrite(fd, block, BLOCK, i % BLOCKS * BLOCK) == BLOCK, "pwrite");
}

static void do_open(long i)
{
	(void)i;
	must(!close(open("file", O_RDONLY)), "open");
}

static void do_stat(long i)
{
	struct stat stat_;

	(void)i;
	must(!stat("file", &stat_), "stat");
}

static void do_create(long i)
{
	char name[32];

	snprintf(name, sizeof(name), "new.%ld", i);
	must(!close(open(name, O_CREAT | O_EXCL | O_WRONLY, 0600)), "create");
	must(!unlink(name), "unlink");
}

static double batch_of(void (*call)(long i))
{
	double begin = now_ns();
	long i;

	for (i = 0; i < calls; i++)
		call(i);
	return (now_ns() - begin) / (double)calls;
}

static double batch_pread(void)
{
	return batch_of(do_pread);
}

static double batch_pwrite(void)
{
	return batch_of(do_pwrite);
}

static double batch_open(void)
{
	return batch_of(do_open);
}

static double batch_stat(void)
{
	return batch_of(do_stat);
}

static double batch_create(void)
{
	return batch_of(do_create);
}

/* -- mappings: of each page, that is in the cache, the first access in a new one -------------------- */

static double batch_pages(int flags, int is_write)
{
	size_t bytes = (size_t)BLOCKS * BLOCK;
	volatile char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	double begin, end;
	size_t i;

	must(map != MAP_FAILED, "mmap");
	begin = now_ns();
	for (i = 0; i < bytes; i += BLOCK) {
		if (is_write)
			map[i] = 1;
		else
			(void)map[i];
	}
	end = now_ns();
	munmap((void *)map, bytes);
	return (end - begin) / BLOCKS;
}

/* The kernel maps neighbours with one fault, if it may. */
static double batch_touch(void)
{
	return batch_pages(MAP_SHARED, 0);
}

static double batch_write_touch(void)
{
	return batch_pages(MAP_SHARED, 1);
}

static double batch_private_write(void)
{
	return batch_pages(MAP_PRIVATE, 1);
}

static void do_map(long i)
{
	void *map = mmap(NULL, BLOCK, PROT_READ, MAP_SHARED, fd, i % BLOCKS * BLOCK);

	must(map != MAP_FAILED, "mmap");
	munmap(map, BLOCK);
}

static double batch_map(void)
{
	return batch_of(do_map);
}

/* -- several threads --------------------------------------------------------------------------------- */

static void *writer(void *argument)
{
	long i, number = (long)argument;

	for (i = 0; i < calls; i++)
		must(pwrite(fd, block, 512, (i * WRITERS + number) % (BLOCKS * 8) * 512) == 512, "pwrite");
	return NULL;
}

static double batch_writers(void)
{
	pthread_t threads[WRITERS];
	double begin = now_ns();
	long i;

	for (i = 0; i < WRITERS; i++)
		must(!pthread_create(&threads[i], NULL, writer, (void *)i), "pthread_create");
	for (i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	return (now_ns() - begin) / (double)(calls * WRITERS);
}

static void measure(const char *name, double (*batch)(void))
{
	double best_ns = batch(), ns;
	int i;

	for (i = 1; i < BATCHES; i++) {
		ns = batch();
		if (ns < best_ns)
			best_ns = ns;
	}
	printf("%s %.0f\n", name, best_ns);
}

static void measure_calls(void)
{
	measure("pread", batch_pread);
	measure("pwrite", batch_pwrite);
	measure("open+close", batch_open);
	measure("stat", batch_stat);
	measure("create+unlink", batch_create);
	measure("touch", batch_touch);
	measure("writers", batch_writers);
}

static void measure_maps(void)
{
	measure("mmap+munmap", batch_map);
	measure("touch", batch_touch);
	measure("write-touch", batch_write_touch);
	measure("private-write", batch_private_write);
}

int main(int argc, char **argv)
{
	int is_maps = 0;
	long i;

	if (argc > 1 && sscanf(argv[1], "--calls=%ld", &calls) == 1 && calls > 0)
		argv++, argc--;
	if (argc > 1 && !strcmp(argv[1], "--maps"))
		is_maps = 1, argv++, argc--;
	if (argc != 2) {
		fprintf(stderr, "usage: calls [--calls=N] [--maps] DIRECTORY\n");
		return 2;
	}
	must(!chdir(argv[1]), argv[1]);
	fd = open("file", O_CREAT | O_RDWR, 0600);
	must(fd >= 0, "file");
	for (i = 0; i < BLOCKS; i++)
		do_pwrite(i);
	if (is_maps)
		measure_maps();
	else
		measure_calls();
	close(fd);
	return 0;
}
