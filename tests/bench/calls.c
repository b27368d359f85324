// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls.c - durations of file operations: prints a line for each, with its name and the ns per call.
 *
 *	calls [--calls=N] [--maps | --writers] DIRECTORY
 *
 * Measures common calls; with --maps, mappings and accesses to their pages; with --writers, writes by one, two and
 * four concurrent threads.
 *
 * Each operation is repeated N times in a batch. The fastest of twenty batches counts, because
 * other load makes a batch slower, never faster.
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
#define WRITERS 4   /* at most */
#define BLOCKS	256 /* of each file that is read and written */

static long calls = 500;
static int fd;
static char block[BLOCK] __attribute__((aligned(BLOCK))); /* alignment for O_DIRECT */

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

/* -- mappings: the first access to each cached page in a new mapping ------------------------------- */

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

/* One fault of the kernel maps neighbours, too, if permitted. */
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

/* One thread, the size of its writes, and its part of the file, which is divided into COUNT parts. */
struct writer {
	int fd;
	long writes;
	long bytes;
	long number;
	long count;
};

static void *write_parts(void *argument)
{
	const struct writer *w = argument;
	long i, parts = (long)BLOCKS * BLOCK / w->bytes;

	for (i = 0; i < w->writes; i++)
		must(pwrite(w->fd, block, (size_t)w->bytes, (i * w->count + w->number) % parts * w->bytes) ==
			     w->bytes, "pwrite");
	return NULL;
}

/* Time in ns from the start to the end of all threads, divided by their writes: smaller means more concurrency. */
static double batch_writers_of(int count, long writes, long bytes, const int *fds)
{
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	double begin = now_ns();
	int i;

	for (i = 0; i < count; i++) {
		writers[i] = (struct writer){ fds[i], writes, bytes, i, count };
		must(!pthread_create(&threads[i], NULL, write_parts, &writers[i]), "pthread_create");
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return (now_ns() - begin) / (double)(writes * count);
}

static double batch_writers(void)
{
	const int same[WRITERS] = { fd, fd, fd, fd };

	return batch_writers_of(WRITERS, calls, 512, same);
}

static int files[WRITERS];  /* one for each */
static int direct[WRITERS]; /* the same file for all, without the page cache */
static int at_once;

static double batch_files(void)
{
	return batch_writers_of(at_once, calls, BLOCK, files);
}

static double batch_direct(void)
{
	return batch_writers_of(at_once, (calls + 4) / 5, BLOCK, direct); /* fewer, because each waits for the disk */
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

static int filled(const char *name, int flags)
{
	int made = open(name, O_CREAT | O_RDWR | flags, 0600);
	long i;

	must(made >= 0, name);
	for (i = 0; i < BLOCKS; i++)
		must(pwrite(made, block, BLOCK, i * BLOCK) == BLOCK, name);
	return made;
}

static void measure_writers(void)
{
	char name[32];
	int i;

	for (i = 0; i < WRITERS; i++) {
		snprintf(name, sizeof(name), "file.%d", i);
		files[i] = filled(name, 0);
		direct[i] = filled("direct", O_DIRECT);
	}
	for (at_once = 1; at_once <= WRITERS; at_once *= 2) {
		snprintf(name, sizeof(name), "files-%d", at_once);
		measure(name, batch_files);
	}
	for (at_once = 1; at_once <= WRITERS; at_once *= 2) {
		snprintf(name, sizeof(name), "direct-%d", at_once);
		measure(name, batch_direct);
	}
}

int main(int argc, char **argv)
{
	const char *what = "";

	if (argc > 1 && sscanf(argv[1], "--calls=%ld", &calls) == 1 && calls > 0)
		argv++, argc--;
	if (argc > 1 && (!strcmp(argv[1], "--maps") || !strcmp(argv[1], "--writers")))
		what = argv[1], argv++, argc--;
	if (argc != 2) {
		fprintf(stderr, "usage: calls [--calls=N] [--maps | --writers] DIRECTORY\n");
		return 2;
	}
	must(!chdir(argv[1]), argv[1]);
	fd = filled("file", 0);
	if (!strcmp(what, "--maps"))
		measure_maps();
	else if (!strcmp(what, "--writers"))
		measure_writers();
	else
		measure_calls();
	close(fd);
	return 0;
}
