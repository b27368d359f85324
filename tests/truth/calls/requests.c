// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests.c - asynchronous reads and writes: io_submit and io_uring.
 */
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "calls.h"

static char buffer[8192] __attribute__((aligned(4096)));

static void aio(aio_context_t context, int fd, int opcode)
{
	struct iocb block = { .aio_lio_opcode = (uint16_t)opcode, .aio_fildes = (uint32_t)fd,
			      .aio_buf = (uint64_t)(uintptr_t)buffer, .aio_nbytes = 4096 };
	struct iocb *blocks[] = { &block };
	struct io_event event;

	if (opcode == IOCB_CMD_FSYNC)
		block.aio_buf = block.aio_nbytes = 0;

	if (syscall(SYS_io_submit, context, 1, blocks) == 1)
		syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
}

static void submitted(void)
{
	int fd = make_open("aio"), direct = open("aio", O_RDWR | O_DIRECT);
	aio_context_t context = 0;

	MUST(!syscall(SYS_io_setup, 8, &context));
	MUST(!fsync(fd));
	CALL("io_submit, read in the page cache", aio(context, fd, IOCB_CMD_PREAD));
	CALL("io_submit, buffered write", aio(context, fd, IOCB_CMD_PWRITE));
	CALL("io_submit, read, O_DIRECT", aio(context, direct, IOCB_CMD_PREAD));
	CALL("io_submit, write, O_DIRECT", aio(context, direct, IOCB_CMD_PWRITE));
	CALL("io_submit, fsync", aio(context, fd, IOCB_CMD_FSYNC));
	syscall(SYS_io_destroy, context);
	close(direct);
	close(fd);
}

/* The rings of an io_uring, with one entry at a time. */
struct ring {
	int fd;
	struct io_uring_params params;
	char *submission, *completion;
	struct io_uring_sqe *entries;
};

static int ring_open(struct ring *ring)
{
	size_t bytes;

	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, 4, &ring->params);
	if (ring->fd < 0)
		return -1;
	bytes = ring->params.sq_off.array + ring->params.sq_entries * sizeof(uint32_t);
	ring->submission = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
				IORING_OFF_SQ_RING);
	bytes = ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe);
	ring->completion = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
				IORING_OFF_CQ_RING);
	bytes = ring->params.sq_entries * sizeof(struct io_uring_sqe);
	ring->entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
	MUST(ring->submission != MAP_FAILED && ring->completion != MAP_FAILED &&
	     (void *)ring->entries != MAP_FAILED);
	return 0;
}

static void ring_do(struct ring *ring, int opcode, int fd, unsigned int flags)
{
	_Atomic uint32_t *tail = (void *)(ring->submission + ring->params.sq_off.tail);
	_Atomic uint32_t *head = (void *)(ring->completion + ring->params.cq_off.head);
	uint32_t *array = (void *)(ring->submission + ring->params.sq_off.array);
	uint32_t slot = atomic_load(tail) % ring->params.sq_entries;

	ring->entries[slot] = (struct io_uring_sqe){
		.opcode = (uint8_t)opcode, .fd = fd, .flags = (uint8_t)flags,
		.addr = (uint64_t)(uintptr_t)buffer, .len = 4096,
	};
	if (opcode == IORING_OP_FSYNC)
		ring->entries[slot].addr = ring->entries[slot].len = 0;
	array[slot] = slot;
	atomic_fetch_add(tail, 1);
	MUST(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	atomic_fetch_add(head, 1);
}

static void ringed(void)
{
	int fd = make_open("uring"), direct = open("uring", O_RDWR | O_DIRECT);
	struct ring ring;

	MUST(!fsync(fd));
	if (ring_open(&ring)) {
		printf("calls: no io_uring in this kernel: %s\n", strerror(errno));
		return;
	}
	CALL("io_uring, read in the page cache", ring_do(&ring, IORING_OP_READ, fd, 0));
	CALL("io_uring, read, O_DIRECT", ring_do(&ring, IORING_OP_READ, direct, 0));
	CALL("io_uring, write, O_DIRECT", ring_do(&ring, IORING_OP_WRITE, direct, 0));
	CALL("io_uring, read by a worker (IOSQE_ASYNC)", ring_do(&ring, IORING_OP_READ, fd, IOSQE_ASYNC));
	close(ring.fd);
	close(direct);
	close(fd);
}

void calls_of_requests(void)
{
	submitted();
	ringed();
}
