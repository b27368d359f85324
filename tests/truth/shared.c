// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared.c - operations of a handle and of its mappings on one file, for tests/truth/mapped.
 *
 *	shared map FILE			the first mapping of a handle, for reading and for writing
 *	shared by-handle FILE		operations of a handle that resemble those of a mapping
 *	shared by-mapping FILE		the same operations of a mapping
 *	shared closed FILE		mappings whose handle is closed: in a child, in a thread, by an exec
 *	shared cold FILE		reads of mapped pages, each of which waits for the storage
 *	shared copy FILE COPY			copies a range of a mapped file
 *	shared race SECONDS FILE	threads and children do all of the above concurrently, with one handle
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE  4096
#define PAGES 16
#define BYTES (PAGES * PAGE)

static void must(const char *what, long result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "shared: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *map(int fd, int prot)
{
	char *p = mmap(NULL, BYTES, prot, MAP_SHARED, fd, 0);

	must("mmap", p == MAP_FAILED ? -1 : 0);
	return p;
}

static int first_mapping(const char *path)
{
	int fd = open(path, O_RDWR);
	volatile char *p;

	must("open", fd);
	p = map(fd, PROT_READ | PROT_WRITE);
	p[PAGE] = p[0];
	must("msync", msync((void *)p, BYTES, MS_SYNC));
	must("munmap", munmap((void *)p, BYTES));
	close(fd);
	puts("mapped");
	return 0;
}

static void write_by_aio(int fd, void *block)
{
	struct iocb iocb = { .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = fd, .aio_buf = (uintptr_t)block,
			     .aio_nbytes = PAGE, .aio_offset = 2 * PAGE };
	struct iocb *iocbs[] = { &iocb };
	struct io_event event;
	aio_context_t context = 0;

	must("io_setup", syscall(SYS_io_setup, 1, &context));
	must("io_submit", syscall(SYS_io_submit, context, 1, iocbs));
	must("io_getevents", syscall(SYS_io_getevents, context, 1, 1, &event, NULL));
	syscall(SYS_io_destroy, context);
}

/* Synchronous writes; a kernel thread completes a queued one. */
static void write_durably(const char *path)
{
	int fd = open(path, O_RDWR | O_DSYNC | O_DIRECT);
	char *block = aligned_alloc(PAGE, PAGE), *p;

	must("open", fd);
	p = map(fd, PROT_READ);
	memset(block, 'd', PAGE);
	must("pwrite", pwrite(fd, block, PAGE, PAGE));
	write_by_aio(fd, block);
	munmap(p, BYTES);
	free(block);
	close(fd);
}

static void send_durably(const char *path)
{
	int fd = open(path, O_RDWR | O_SYNC), in = open("/proc/self/exe", O_RDONLY), pipe_fds[2];
	char *p = map(fd, PROT_READ);

	must("write", write(fd, "s", 1));
	must("copy_file_range", copy_file_range(in, NULL, fd, NULL, 100, 0) < 0 && errno != EXDEV ? -1 : 0);
	must("pipe", pipe(pipe_fds));
	must("write", write(pipe_fds[1], "spliced", 7));
	must("splice", splice(pipe_fds[0], NULL, fd, NULL, 7, 0));
	munmap(p, BYTES);
	close(fd);
	close(in);
}

static int by_handle(const char *path)
{
	int fd = open(path, O_RDWR);
	char *p;

	must("open", fd);
	p = map(fd, PROT_READ | PROT_WRITE);
	p[0] = 'x';
	must("fsync", fsync(fd));
	must("fdatasync", fdatasync(fd));
	must("posix_fadvise", posix_fadvise(fd, 0, BYTES, POSIX_FADV_WILLNEED));
	must("fallocate", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE));
	munmap(p, BYTES);
	close(fd);
	write_durably(path);
	send_durably(path);
	return 0;
}

static int by_mapping(const char *path)
{
	int fd = open(path, O_RDWR);
	char *p;

	must("open", fd);
	p = map(fd, PROT_READ | PROT_WRITE);
	p[0] = 'y';
	must("msync", msync(p, BYTES, MS_SYNC));
	must("madvise", madvise(p, BYTES, MADV_WILLNEED));
	must("madvise", madvise(p + PAGE, PAGE, MADV_REMOVE));
	close(fd);
	p[PAGE] = 'z';
	must("msync without a descriptor", msync(p, BYTES, MS_SYNC));
	must("mremap", mremap(p, BYTES, 2 * BYTES, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0);
	return 0;
}

static void *sync_mapping(void *p)
{
	must("msync in a thread", msync(p, BYTES, MS_SYNC));
	return NULL;
}

static int closed(const char *path)
{
	int fd = open(path, O_RDWR), status = 0, i;
	pthread_t thread;
	char *p;

	must("open", fd);
	for (i = 0; i < 8; i++) {
		p = map(fd, PROT_READ | PROT_WRITE);
		p[0] = (char)('a' + i);
		must("thread", pthread_create(&thread, NULL, sync_mapping, p) ? -1 : 0);
		if (fork() == 0) {
			close(fd);
			p[1] = 'c';
			must("msync in a child", msync(p, BYTES, MS_SYNC));
			if (i % 2)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		pthread_join(thread, NULL);
		munmap(p, BYTES);
		must("wait", wait(&status));
	}
	close(fd);
	return status != 0;
}

/* The kernel releases its locks while it waits, and handles the fault again. */
static int cold(const char *path)
{
	int fd = open(path, O_RDWR), i;
	struct rusage before, after;
	volatile char *p;

	must("open", fd);
	must("fsync", fsync(fd));
	p = map(fd, PROT_READ);
	must("madvise", madvise((void *)p, BYTES, MADV_RANDOM));
	must("posix_fadvise", -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED));
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < PAGES; i++)
		(void)p[i * PAGE];
	getrusage(RUSAGE_SELF, &after);
	printf("%ld major faults\n", after.ru_majflt - before.ru_majflt);
	return after.ru_majflt - before.ru_majflt != PAGES;
}

static int copy_range(const char *path, const char *copy)
{
	int fd = open(path, O_RDONLY), out = open(copy, O_CREAT | O_TRUNC | O_RDWR, 0666);
	volatile char *p;

	must("open", fd < 0 ? fd : out);
	p = map(fd, PROT_READ);
	if (p[0])
		return 1;
	must("copy_file_range", copy_file_range(fd, NULL, out, NULL, BYTES, 0));
	return 0;
}

/* -- all of the above concurrently ------------------------------------------------------------ */

static atomic_int handle = -1;
static const char *raced;
static time_t end;
static atomic_ulong done;

static void step(unsigned int *seed, char *block)
{
	int fd = handle, kind = (int)(rand_r(seed) % 12);
	char *p;

	switch (kind) {
	case 0:
		handle = open(raced, O_RDWR | (rand_r(seed) % 2 ? O_DSYNC : 0));
		close(fd);
		break;
	case 1:
		fsync(fd);
		break;
	case 2:
		posix_fadvise(fd, 0, BYTES, POSIX_FADV_DONTNEED);
		break;
	case 3:
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PAGE, PAGE);
		break;
	case 4:
	case 5:
		if (pwrite(fd, block, PAGE, (rand_r(seed) % PAGES) * PAGE) < 0 && errno != EBADF)
			must("pwrite", -1);
		break;
	case 6:
		if (fork() == 0) {
			p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			if (p != MAP_FAILED)
				p[PAGE] = 'f';
			if (kind % 2)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		wait(NULL);
		break;
	default:
		p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			break;
		p[(rand_r(seed) % PAGES) * PAGE] = 'm';
		msync(p, BYTES, rand_r(seed) % 2 ? MS_SYNC : MS_ASYNC);
		madvise(p, BYTES, rand_r(seed) % 4 ? MADV_WILLNEED : MADV_REMOVE);
		munmap(p, BYTES);
	}
	done++;
}

static void *run(void *argument)
{
	unsigned int seed = (unsigned int)(uintptr_t)argument;
	char *block = aligned_alloc(PAGE, PAGE);

	memset(block, 'w', PAGE);
	while (time(NULL) < end)
		step(&seed, block);
	free(block);
	return NULL;
}

static int race(int seconds, const char *path)
{
	pthread_t threads[4];
	uintptr_t i;

	raced = path;
	end = time(NULL) + seconds;
	handle = open(path, O_RDWR);
	for (i = 0; i < 4; i++)
		must("thread", pthread_create(&threads[i], NULL, run, (void *)(i + 1)) ? -1 : 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	close(handle);
	printf("%lu steps\n", done);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "map"))
		return first_mapping(argv[2]);
	if (!strcmp(what, "by-handle"))
		return by_handle(argv[2]);
	if (!strcmp(what, "by-mapping"))
		return by_mapping(argv[2]);
	if (!strcmp(what, "closed"))
		return closed(argv[2]);
	if (!strcmp(what, "cold"))
		return cold(argv[2]);
	if (!strcmp(what, "copy") && argc > 3)
		return copy_range(argv[2], argv[3]);
	if (!strcmp(what, "race") && argc > 3)
		return race(atoi(argv[2]), argv[3]);
	return 2;
}
