// SPDX-License-Identifier: GPL-2.0-only
/*
 * rings.c - io_uring writes with O_DIRECT that show which task waits.
 *
 *	rings append DIRECTORY
 *	rings frozen DIRECTORY
 *	rings workers DIRECTORY
 *
 * append: appends twice, one write after the other, each by an io_uring worker, which may wait.
 *
 * frozen: prints "ready" and reads a line, before which the caller freezes the file system; submits a write, which
 * must not wait, and prints "submitted"; reads another line, waits for the write, and prints "written".
 *
 * workers: the same with several writes for io_uring workers. Instead of "submitted", it prints whether
 * more than one worker waits: they do not wait for each other if the file system accepts such writes
 * concurrently.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "workloads/ring.h"
#include "workloads/workload.h"

#define BLOCK 4096

static char block[BLOCK] __attribute__((aligned(BLOCK)));

/* The file is written beforehand, so that later writes change only its data. */
static int open_file(int flags)
{
	int fd = open("file", O_CREAT | O_RDWR, 0600), i;

	CHECK(fd >= 0);
	for (i = 0; i < RING_ENTRIES; i++)
		CHECK(pwrite(fd, block, BLOCK, i * BLOCK) == BLOCK);
	CHECK(!fsync(fd) && !close(fd));
	fd = open("file", O_RDWR | O_DIRECT | flags);
	CHECK(fd >= 0);
	return fd;
}

static void submit(struct ring *ring, int fd, uint64_t offset_bytes, uint8_t flags)
{
	struct io_uring_sqe request = {
		.opcode = IORING_OP_WRITE,
		.flags = flags,
		.fd = fd,
		.off = offset_bytes,
		.addr = (uintptr_t)block,
		.len = BLOCK,
	};

	CHECK(ring_submit(ring, &request));
}

static void append(struct ring *ring, int fd)
{
	int i;

	for (i = 0; i < 2; i++) {
		submit(ring, fd, 0, IOSQE_ASYNC);
		CHECK(ring_wait(ring) == BLOCK);
	}
}

static void say(const char *what)
{
	puts(what);
	CHECK(!fflush(stdout));
}

static void hear(void)
{
	char line[16];

	CHECK(fgets(line, sizeof(line), stdin));
}

static bool is_waiting_worker(const char *task)
{
	char path[300], state = 0;
	bool is_worker;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
	file = fopen(path, "r");
	is_worker = file && fscanf(file, "%*d (iou-wrk-%*d) %c", &state) == 1;
	if (file)
		fclose(file);
	return is_worker && state == 'D';
}

static int waiting_workers(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int n = 0;

	CHECK(tasks);
	while ((task = readdir(tasks)))
		n += is_waiting_worker(task->d_name);
	closedir(tasks);
	return n;
}

/* Allows five seconds, because io_uring creates a second worker when the first one waits. */
static const char *count_workers(void)
{
	int i;

	for (i = 0; i < 500 && waiting_workers() < 2; i++)
		usleep(10000);
	i = waiting_workers();
	return i > 1 ? "several workers" : i ? "one worker" : "no worker";
}

static void write_frozen(struct ring *ring, int fd, bool by_workers)
{
	int n = by_workers ? RING_ENTRIES : 1, i;

	say("ready");
	hear();
	for (i = 0; i < n; i++)
		submit(ring, fd, (uint64_t)i * BLOCK, by_workers ? IOSQE_ASYNC : 0);
	say(by_workers ? count_workers() : "submitted");
	hear();
	while (n--)
		CHECK(ring_wait(ring) == BLOCK);
	say("written");
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";
	bool is_append = !strcmp(what, "append"), is_frozen = !strcmp(what, "frozen");
	struct ring ring;
	int fd;

	if (!is_append && !is_frozen && strcmp(what, "workers")) {
		fprintf(stderr, "usage: rings append|frozen|workers DIRECTORY\n");
		return 2;
	}
	CHECK(!chdir(argv[2]));
	fd = open_file(is_append ? O_APPEND : 0);
	CHECK(ring_open(&ring));
	if (is_append)
		append(&ring, fd);
	else
		write_frozen(&ring, fd, !is_frozen);
	return 0;
}
