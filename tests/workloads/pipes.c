// SPDX-License-Identifier: GPL-2.0-only
/*
 * pipes.c - a workload: splice(2) and sendfile(2) from a file, from the start or the middle of a
 * page, into pipes of several sizes, empty or partly filled.
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "workload.h"

#define PAGE	   4096
#define PIPE_BYTES (16 * PAGE)
#define FILE_BYTES (100 * PAGE + 1000)

static const struct workload_option options[] = { {} };

static char bytes[FILE_BYTES];

static void empty(int end)
{
	while (read(end, bytes, sizeof(bytes)) > 0)
		;
	CHECK(errno == EAGAIN);
}

/* Into a pipe of a given size in which some slots are in use. */
static void splice_into(int fd, off_t offset, size_t length, int pipe_bytes, int taken)
{
	off_t at = offset;
	int ends[2];
	ssize_t moved;

	CHECK(!pipe2(ends, O_NONBLOCK));
	CHECK(fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes) == pipe_bytes);
	if (taken)
		CHECK(write(ends[1], bytes, (size_t)taken * PAGE) == taken * PAGE);
	moved = splice(fd, &at, ends[1], NULL, length, 0);
	printf("%zu bytes from %lld: %s %zd\n", length, (long long)offset, workload_outcome(moved), moved);
	CHECK(at == offset + (moved > 0 ? moved : 0));
	empty(ends[0]);
	CHECK(!close(ends[0]) && !close(ends[1]));
}

static void send_to_null(int fd, off_t offset, size_t length)
{
	int null = open("/dev/null", O_WRONLY);

	CHECK(null >= 0);
	CHECK(sendfile(null, fd, &offset, length) == (ssize_t)length);
	CHECK(!close(null));
}

int main(int argc, char **argv)
{
	int fd;

	CHECK(!chdir(workload_options(argc, argv, "Splice a file into pipes.", options)));
	fd = open("file", O_CREAT | O_EXCL | O_RDWR, 0640);
	CHECK(fd >= 0);
	workload_fill(bytes, sizeof(bytes), 1, 0);
	CHECK(write(fd, bytes, sizeof(bytes)) == sizeof(bytes));
	splice_into(fd, 0, PIPE_BYTES, PIPE_BYTES, 0);
	splice_into(fd, 100, PIPE_BYTES, PIPE_BYTES, 0);
	splice_into(fd, PAGE - 1, 1 << 20, PIPE_BYTES, 0);
	splice_into(fd, 100, 3 * PAGE, PIPE_BYTES, 0);
	splice_into(fd, 100, 3 * PAGE, 4 * PAGE, 1);
	splice_into(fd, 8 * PAGE, PIPE_BYTES, PIPE_BYTES, 15);
	splice_into(fd, 100, 10000, PIPE_BYTES, 8);
	splice_into(fd, 100, 1 << 20, 4 * PIPE_BYTES, 0);
	splice_into(fd, 4 * PAGE, 1 << 20, 4 * PIPE_BYTES, 0);
	splice_into(fd, 99 * PAGE + 1, PIPE_BYTES, PIPE_BYTES, 0);
	splice_into(fd, FILE_BYTES, PIPE_BYTES, PIPE_BYTES, 0);
	send_to_null(fd, 0, 1000);
	send_to_null(fd, 100, 2 * PIPE_BYTES);
	CHECK(!close(fd));
	return 0;
}
