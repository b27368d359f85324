// SPDX-License-Identifier: GPL-2.0-only
/*
 * request.c - open and read a file by io_uring workers.
 *
 *	request FILE	write its text to standard output. Exit code 2: io_uring refused it with EACCES
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "workloads/ring.h"

#define CODE_DENIED 2

static int fail(int result)
{
	fprintf(stderr, "request: error %d\n", -result);
	return result == -EACCES ? CODE_DENIED : 1;
}

int main(int argc, char **argv)
{
	char text[4096];
	struct io_uring_sqe open_request = {
		.opcode = IORING_OP_OPENAT,
		.flags = IOSQE_ASYNC,
		.fd = AT_FDCWD,
		.addr = (uintptr_t)argv[1],
		.open_flags = O_RDONLY,
	};
	struct io_uring_sqe read_request = {
		.opcode = IORING_OP_READ,
		.flags = IOSQE_ASYNC,
		.addr = (uintptr_t)text,
		.len = sizeof(text),
	};
	struct ring ring;
	int result;

	if (argc != 2 || !ring_open(&ring))
		return 1;
	result = ring_do(&ring, &open_request);
	if (result < 0)
		return fail(result);
	read_request.fd = result;
	result = ring_do(&ring, &read_request);
	if (result < 0)
		return fail(result);
	return write(1, text, (size_t)result) != result;
}
