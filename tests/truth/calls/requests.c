// SPDX-License-Identifier: GPL-2.0-only
/*
 * requests.c - asynchronous reads and writes: io_submit and io_uring.
 */
#include <linux/aio_abi.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "calls.h"
#include "workloads/ring.h"

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

static void ask(struct ring *ring, int opcode, int fd, unsigned int flags)
{
	struct io_uring_sqe request = { .opcode = (uint8_t)opcode, .fd = fd, .flags = (uint8_t)flags,
					.addr = (uint64_t)(uintptr_t)buffer, .len = 4096 };

	MUST(ring_do(ring, &request) == 4096);
}

static void ringed(void)
{
	int fd = make_open("uring"), direct = open("uring", O_RDWR | O_DIRECT);
	struct ring ring;

	MUST(!fsync(fd));
	if (!ring_open(&ring)) {
		printf("calls: no io_uring in this kernel: %s\n", strerror(errno));
		return;
	}
	CALL("io_uring, read in the page cache", ask(&ring, IORING_OP_READ, fd, 0));
	CALL("io_uring, read, O_DIRECT", ask(&ring, IORING_OP_READ, direct, 0));
	CALL("io_uring, write, O_DIRECT", ask(&ring, IORING_OP_WRITE, direct, 0));
	CALL("io_uring, read by a worker (IOSQE_ASYNC)", ask(&ring, IORING_OP_READ, fd, IOSQE_ASYNC));
	close(ring.fd);
	close(direct);
	close(fd);
}

void calls_of_requests(void)
{
	submitted();
	ringed();
}
