// SPDX-License-Identifier: GPL-2.0-only
/*
 * aio.c - a workload: asynchronous requests by io_submit(2), several at a time.
 *
 * A queue of direct requests: the next block does not depend on which
 * request ended first. Data read is compared with data written; a child reads the data
 * of its parent through the page cache, after the parent has got all completions. The
 * system calls are made without a library.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "workload.h"

#define BLOCK	  4096
#define DEPTH_MAX 64

static long blocks = 128;
static long depth = 8;

static const struct workload_option options[] = {
	{ "blocks", &blocks, NULL, NULL, "blocks of each file" },
	{ "depth", &depth, NULL, NULL, "requests under way at a time" },
	{}
};

/* The block and the memory of a request. */
struct request {
	struct iocb iocb;
	long block;
	char *memory;
};

static struct request requests[DEPTH_MAX];
static aio_context_t context;
static long file;

static void fill(char *memory, long block, int generation)
{
	uint64_t state = (uint64_t)block * 16 + (uint64_t)generation, i;
	uint64_t *words = (uint64_t *)memory;

	for (i = 0; i < BLOCK / sizeof(*words); i++)
		words[i] = workload_random(&state);
}

static void check(const char *memory, long block, int generation)
{
	static char expected[BLOCK] __attribute__((aligned(8)));

	fill(expected, block, generation);
	CHECK(!memcmp(memory, expected, BLOCK));
}

static void submit(struct request *request, int what, long block, int generation)
{
	struct iocb *iocb = &request->iocb;

	request->block = block;
	if (what == IOCB_CMD_PWRITE)
		fill(request->memory, block, generation);
	*iocb = (struct iocb){
		.aio_data = (uint64_t)(uintptr_t)request,
		.aio_lio_opcode = (uint16_t)what,
		.aio_fildes = (uint32_t)file,
		.aio_buf = (uint64_t)(uintptr_t)request->memory,
		.aio_nbytes = BLOCK,
		.aio_offset = block * BLOCK,
	};
	CHECK(syscall(SYS_io_submit, context, 1L, &iocb) == 1);
}

/* Return: a request that has ended. */
static struct request *reap(void)
{
	struct io_event event;

	CHECK(syscall(SYS_io_getevents, context, 1L, 1L, &event, NULL) == 1);
	CHECK(event.res == BLOCK);
	return (struct request *)(uintptr_t)event.data;
}

/* All blocks, each once, @depth of them at a time. */
static void run(int what, int generation, long step)
{
	struct request *request;
	long next, ended;

	for (next = 0; next < depth && next < blocks; next++)
		submit(&requests[next], what, next * step % blocks, generation);
	for (ended = 0; ended < blocks; ended++) {
		request = reap();
		if (what == IOCB_CMD_PREAD)
			check(request->memory, request->block, generation);
		if (next < blocks)
			submit(request, what, next++ * step % blocks, generation);
	}
}

static void open_file(const char *name)
{
	static char memory[BLOCK];
	long i;

	file = open(name, O_CREAT | O_RDWR, 0600);
	CHECK(file >= 0);
	for (i = 0; i < blocks; i++) {
		fill(memory, i, 0);
		CHECK(pwrite((int)file, memory, BLOCK, i * BLOCK) == BLOCK);
	}
	CHECK(!fsync((int)file) && !close((int)file));
	file = open(name, O_RDWR | O_DIRECT);
	CHECK(file >= 0);
}

static void child(const char *name, int generation)
{
	static char memory[BLOCK];
	int fd = open(name, O_RDONLY);
	long i;

	CHECK(fd >= 0);
	for (i = 0; i < blocks; i += 16) {
		CHECK(pread(fd, memory, BLOCK, i * BLOCK) == BLOCK);
		check(memory, i, generation);
	}
	CHECK(!close(fd));
	_exit(0);
}

static void tell_child(const char *name, int generation)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid)
		child(name, generation);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static void finish(long size_bytes)
{
	struct stat stat;

	CHECK(!fsync((int)file));
	CHECK(!ftruncate((int)file, size_bytes));
	CHECK(!fstat((int)file, &stat) && stat.st_size == size_bytes);
	CHECK(!close((int)file));
}

int main(int argc, char **argv)
{
	const char *directory =
		workload_options(argc, argv, "Asynchronous reads and writes.", options);
	long i;

	CHECK(blocks >= 1 && depth >= 1 && depth <= DEPTH_MAX);
	CHECK(!chdir(directory));
	CHECK(!syscall(SYS_io_setup, depth, &context));
	for (i = 0; i < depth; i++)
		CHECK((requests[i].memory = aligned_alloc(BLOCK, BLOCK)));
	open_file("one");
	run(IOCB_CMD_PREAD, 0, 37);
	run(IOCB_CMD_PWRITE, 1, 41);
	tell_child("one", 1);
	run(IOCB_CMD_PREAD, 1, 1);
	finish(blocks * BLOCK / 2);
	open_file("two");
	run(IOCB_CMD_PWRITE, 2, 1);
	tell_child("two", 2);
	finish(blocks * BLOCK);
	CHECK(!syscall(SYS_io_destroy, context));
	printf("aio: %ld blocks, %ld at a time\n", blocks, depth);
	return 0;
}
